// From clouds to hypotheses, against plain loops: neighbours, features, matches and cliques; on every instruction set,
// on several threads, and for clouds of hardly any points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "check.h"
#include "clouds/fpfh.h"
#include "clouds/hypotheses.h"
#include "clouds/matching.h"
#include "clouds/neighbours.h"
#include "clouds/normals.h"
#include "clouds/rigid.h"
#include "clouds/voxels.h"
#include "random_clouds.h"

using namespace clipperplus;

namespace {

// Clouds on several threads -------------------------------------------------------------------------------------------

void neighbours_normals_and_features_do_not_depend_on_threads() {
  Random random(5);
  Control control;
  const auto& portable = *simd::available().back();
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{70}, std::size_t{900}}) {
    auto points = random_points(n, random, 1.0);
    for (std::size_t k = 0; k < points.size(); ++k)
      points[k] = k % 9 == 0 ? 0.125 * std::round(8.0 * points[k]) : points[k];
    if (n > 60) std::copy_n(points.begin(), 30, points.begin() + 90);  // ten points twice
    const double radius = 0.25;
    const auto expected = find_neighbours(points, radius, 1, portable, control);
    const auto normals = estimate_normals(points, expected, 0.2, {0.0, 0.0, 9.0}, 1, control);
    const auto features = compute_fpfh(points, normals, expected, 1, portable, control);
    CHECK(expected.offsets.size() == n + 1 && normals.size() == 3 * n && features.size() == kFeatureBins * n);
    for (std::size_t i = 0; i < n; ++i) {
      std::set<std::int32_t> near;
      for (std::size_t j = 0; j < n; ++j) {
        const double x = points[3 * i] - points[3 * j], y = points[3 * i + 1] - points[3 * j + 1],
                     z = points[3 * i + 2] - points[3 * j + 2];
        if (i != j && x * x + y * y + z * z <= radius * radius) near.insert(static_cast<std::int32_t>(j));
      }
      const auto found = expected.of(i);
      CHECK(found.size() == near.size() && std::set<std::int32_t>(found.begin(), found.end()) == near);
    }
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        const auto near = find_neighbours(points, radius, threads, *kernels, control);
        CHECK(near.offsets == expected.offsets && near.indices == expected.indices);
        CHECK(estimate_normals(points, near, 0.2, {0.0, 0.0, 9.0}, threads, control) == normals);
        CHECK(compute_fpfh(points, normals, near, threads, *kernels, control) == features);
      }
    }
  }
  const std::vector<double> wide{0.0, 0.0, 0.0, 1e9, 0.0, 0.0};
  CHECK(!message_of<std::length_error>([&] { find_neighbours(wide, 1e-3, 2, portable, control); }).empty());
  CHECK(!message_of<std::length_error>([&] { voxel_means(wide, 1e-3, control); }).empty());
  CHECK(voxel_means({}, 1.0, control).points.empty());
}

void nearest_features_are_those_of_double_precision() {
  Random random(6);
  Control control;
  for (const auto& [n, m, d, k] : {std::array<std::size_t, 4>{0, 5, 3, 2},
                                   {5, 0, 3, 2},
                                   {1, 1, 1, 1},
                                   {1, 200, 2, 3},
                                   {130, 70, 33, 2},
                                   {65, 64, 5, 70},
                                   {200, 300, 12, 5}}) {
    std::vector<float> source(n * d), target(m * d);
    for (auto* features : {&source, &target}) {
      for (std::size_t e = 0; e < features->size(); ++e) {
        const double x = std::normal_distribution<double>()(random);
        (*features)[e] = static_cast<float>(e / d % 3 == 0 ? std::round(x) : x);  // with ties
      }
    }
    const auto check_way = [&, dimensions = d, wanted = k](const std::vector<float>& from, const std::vector<float>& to,
                                                           const NearestFeatures& found) {
      const std::size_t rows = from.size() / dimensions, columns = to.size() / dimensions;
      CHECK(rows == 0 || found.k == std::min(wanted, columns));
      CHECK(found.indices.size() == rows * found.k && found.squares.size() == rows * found.k);
      for (std::size_t i = 0; i < rows; ++i) {
        std::vector<std::pair<double, std::int32_t>> all;
        for (std::size_t j = 0; j < columns; ++j) {
          double sum = 0.0;
          for (std::size_t e = 0; e < dimensions; ++e) {
            const double delta = static_cast<double>(from[i * dimensions + e]) - to[j * dimensions + e];
            sum += delta * delta;
          }
          all.emplace_back(sum, static_cast<std::int32_t>(j));
        }
        std::sort(all.begin(), all.end());
        for (std::size_t place = 0; place < found.k; ++place) {
          CHECK(found.indices[i * found.k + place] == all[place].second);
          CHECK(found.squares[i * found.k + place] == all[place].first);
        }
      }
    };
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        const auto both = nearest_features(source, target, d, k, threads, *kernels, control);
        check_way(source, target, both.of_source);
        check_way(target, source, both.of_target);
      }
    }
  }
}

// Hypotheses ----------------------------------------------------------------------------------------------------------

// Takes the candidate with the most neighbours among the candidates, the lowest of them, until there is none.
// Neighbours are counted anew when a fifth of the candidates that were counted is gone.
std::vector<Vertex> grown(const Graph& graph, Vertex start) {
  std::vector<Vertex> clique{start}, candidates;
  graph.for_each_neighbour(static_cast<std::size_t>(start), [&](Vertex v) { candidates.push_back(v); });
  std::vector<std::ptrdiff_t> degrees(graph.num_vertices());
  std::size_t counted = 0;
  while (!candidates.empty()) {
    if (counted == 0 || 5 * candidates.size() <= 4 * counted) {
      for (Vertex v : candidates) {
        degrees[static_cast<std::size_t>(v)] = std::count_if(candidates.begin(), candidates.end(), [&](Vertex u) {
          return graph.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
        });
      }
      counted = candidates.size();
    }
    const auto degree = [&](Vertex v) { return degrees[static_cast<std::size_t>(v)]; };
    Vertex best = candidates.front();
    for (Vertex v : candidates) best = degree(v) > degree(best) ? v : best;
    clique.push_back(best);
    std::erase_if(candidates, [&](Vertex v) {
      return v == best || !graph.has_edge(static_cast<std::size_t>(v), static_cast<std::size_t>(best));
    });
  }
  std::sort(clique.begin(), clique.end());
  return clique;
}

void hypotheses_come_from_greedy_cliques() {
  Random random(7);
  Control control;
  for (const auto& [n, density] : {std::pair{std::size_t{3}, 1.0}, {std::size_t{60}, 0.5}, {std::size_t{90}, 0.15}}) {
    const auto edges = random_edges(n, density, static_cast<unsigned>(n));
    const Graph bits = make_graph(n, edges);
    CHECK(bits.has_bits());
    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> neighbours;
    for (std::size_t v = 0; v < n; ++v) {
      bits.for_each_neighbour(v, [&](Vertex u) { neighbours.push_back(u); });
      offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
    }
    const Graph rows = Graph::from_sorted_rows(n, offsets, neighbours);
    CHECK(!rows.has_bits());
    const auto source = random_points(n, random, 1.0), target = random_points(n, random, 1.0);
    for (const Graph* graph : {&bits, &rows}) {
      for (const auto* kernels : simd::available()) {
        for (std::size_t v = 0; v < n; ++v) {
          const auto start = static_cast<Vertex>(v);
          const auto found = find_hypotheses(*graph, source, target, {}, std::span(&start, 1), {}, *kernels, control);
          const auto expected = grown(bits, start);
          if (expected.size() < 3) {
            CHECK(found.empty());
            continue;
          }
          CHECK(found.size() == 1 && found[0].clique == expected);
          for (std::size_t u = 0; u < n; ++u) {  // maximal
            CHECK(std::binary_search(expected.begin(), expected.end(), static_cast<Vertex>(u)) ||
                  !std::all_of(expected.begin(), expected.end(),
                               [&](Vertex w) { return bits.has_edge(u, static_cast<std::size_t>(w)); }));
          }
          std::vector<double> from, to;
          for (Vertex w : expected) {
            from.insert(from.end(), source.begin() + 3 * w, source.begin() + 3 * w + 3);
            to.insert(to.end(), target.begin() + 3 * w, target.begin() + 3 * w + 3);
          }
          const auto fit = fit_motion(from, to);
          for (std::size_t a = 0; a < 3; ++a) {
            CHECK(std::abs(fit.translation[a] - found[0].motion.translation[a]) < 1e-9);
          }
        }
      }
    }
  }
}

void hypotheses_do_not_depend_on_threads_and_are_apart() {
  Random random(8);
  Control control;
  const std::size_t n = 700;
  const Graph graph = make_graph(n, random_edges(n, 0.1, 8));
  const auto source = random_points(n, random, 1.0), target = random_points(n, random, 1.0);
  std::vector<Vertex> starts(n);
  for (std::size_t v = 0; v < n; ++v) starts[v] = static_cast<Vertex>(v);
  for (double apart : {0.0, 0.5, 1e9}) {
    HypothesisOptions options{.most = 40, .least_size = 3, .apart = apart, .threads = 1};
    const auto expected =
        find_hypotheses(graph, source, target, {}, starts, options, *simd::available().back(), control);
    CHECK(!expected.empty() && expected.size() <= 40 && (apart < 1e8 || expected.size() == 1));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CHECK(i == 0 || expected[i - 1].clique.size() >= expected[i].clique.size());
      for (std::size_t j = 0; j < i; ++j) {
        double sum = 0.0;
        for (std::size_t k = 0; k < source.size(); k += 3) {
          const auto a = expected[i].motion.apply(&source[k]), b = expected[j].motion.apply(&source[k]);
          sum += std::pow(distance(a.data(), b.data()), 2.0);
        }
        CHECK(std::sqrt(sum / static_cast<double>(n)) >= apart * (1.0 - 1e-9));
      }
    }
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        options.threads = threads;
        const auto found = find_hypotheses(graph, source, target, {}, starts, options, *kernels, control);
        CHECK(found.size() == expected.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          CHECK(found[k].clique == expected[k].clique);
          CHECK(found[k].motion.rotation == expected[k].motion.rotation);
          CHECK(found[k].motion.translation == expected[k].motion.translation);
        }
      }
    }
  }
  CHECK(find_hypotheses(Graph(), {}, {}, {}, {}, {}, *simd::available().front(), control).empty());
}

// Kernels on every instruction set ------------------------------------------------------------------------------------

void features_are_compared_alike(const simd::Kernels& kernels) {
  Random random(9);
  for (std::size_t dimensions : {std::size_t{1}, std::size_t{3}, std::size_t{35}, std::size_t{202}}) {
    AlignedVector<float> rows(64 * dimensions), columns(64 * dimensions), row_limits(64), column_limits(64);
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    for (auto* values : {&rows, &columns, &row_limits, &column_limits}) {
      for (float& value : *values) value = uniform(random);
    }
    row_limits[5] = column_limits[9] = std::numeric_limits<float>::infinity();
    for (float& limit : column_limits) limit = limit > 0.5F ? limit : -std::numeric_limits<float>::infinity();
    AlignedVector<float> products(64 * 64);
    AlignedVector<Word> hits(64);
    const simd::FeatureBlock block{dimensions, rows.data(), columns.data(), row_limits.data(), column_limits.data()};
    kernels.compare_features(block, products.data(), hits.data());
    for (std::size_t i = 0; i < 64; ++i) {
      for (std::size_t j = 0; j < 64; ++j) {
        double sum = 0.0, size = 0.0;
        for (std::size_t e = 0; e < dimensions; ++e) {
          const double term = static_cast<double>(rows[i * dimensions + e]) * columns[e * 64 + j];
          sum += term, size += std::abs(term);
        }
        const float product = products[64 * i + j];
        CHECK(std::abs(product - sum) <= 6e-8 * static_cast<double>(dimensions + 1) * size);
        CHECK((hits[i] >> j & 1U) == (product < row_limits[i] || product < column_limits[j]));
      }
    }
  }
}

void near_points_are_selected_alike(const simd::Kernels& kernels) {
  Random random(10);
  for (std::size_t count = 0; count < 70; ++count) {
    auto points = random_points(count, random, 1.0);
    for (double& x : points) x = std::round(8.0 * x) / 8.0;
    std::vector<double> x, y, z;
    std::vector<std::int32_t> indices, near(count + 8), expected;
    for (std::size_t k = 0; k < count; ++k) {
      x.push_back(points[3 * k]), y.push_back(points[3 * k + 1]), z.push_back(points[3 * k + 2]);
      indices.push_back(static_cast<std::int32_t>(1000 - 3 * k));
    }
    const double centre[3] = {0.125, 0.0, -0.25};
    const std::int32_t self = count > 3 ? indices[count / 2] : 7;
    for (std::size_t k = 0; k < count; ++k) {
      const double dx = x[k] - centre[0], dy = y[k] - centre[1], dz = z[k] - centre[2];
      if ((dx * dx + dy * dy) + dz * dz <= 0.75 && indices[k] != self) expected.push_back(indices[k]);
    }
    const simd::NearCandidates candidates{x.data(), y.data(), z.data(), indices.data(), count};
    near.resize(kernels.select_near(candidates, centre, self, 0.75, near.data()));
    CHECK(near == expected);
  }
}

void pairs_are_sorted_alike(const simd::Kernels& kernels, const simd::Kernels& reference) {
  Random random(11);
  for (int repetition = 0; repetition < 200; ++repetition) {
    const std::size_t count = 1 + random() % simd::kBlock;
    auto normals = random_directions(simd::kBlock + 1, random);
    auto points = random_points(simd::kBlock + 1, random, 1.0);
    if (repetition % 3 == 0) {  // on a lattice, along its axes
      for (double& x : points) x = std::round(2.0 * x) / 2.0;
      for (std::size_t k = 0; k < normals.size(); k += 3) {
        const std::size_t axis = random() % 3;
        for (std::size_t a = 0; a < 3; ++a) normals[k + a] = a == axis ? (random() % 2 == 0 ? 1.0 : -1.0) : 0.0;
      }
    }
    simd::PairBatch batch{}, expected{};
    for (auto* b : {&batch, &expected}) {
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t j = 3 * (k + 1);
        b->x[k] = points[j], b->y[k] = points[j + 1], b->z[k] = points[j + 2];
        b->nx[k] = normals[j], b->ny[k] = normals[j + 1], b->nz[k] = normals[j + 2];
      }
    }
    kernels.sort_pairs(points.data(), normals.data(), batch, count);
    reference.sort_pairs(points.data(), normals.data(), expected, count);
    for (std::size_t k = 0; k < count; ++k) {
      CHECK(batch.valid[k] == expected.valid[k]);
      const double d[3] = {batch.x[k] - points[0], batch.y[k] - points[1], batch.z[k] - points[2]};
      if (d[0] == 0.0 && d[1] == 0.0 && d[2] == 0.0) CHECK(batch.valid[k] == 0);
      for (auto& bins : batch.bins) CHECK(bins[k] >= 0 && bins[k] < 11);
      for (std::size_t angle = 0; angle < 3; ++angle) {
        CHECK(batch.valid[k] == 0 || batch.bins[angle][k] == expected.bins[angle][k]);
      }
    }
  }
}

void cliques_grow_alike(const simd::Kernels& kernels) {
  for (std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{130}, std::size_t{600}}) {
    for (double density : {0.05, 0.5, 0.95}) {
      const Graph graph = make_graph(n, random_edges(n, density, static_cast<unsigned>(n)));
      CHECK(graph.has_bits());
      for (std::size_t v = 0; v < n; v += n / 5 + 1) {
        AlignedVector<Word> candidates(graph.row(v), graph.row(v) + graph.stride());
        std::vector<Vertex> members;
        graph.for_each_neighbour(v, [&](Vertex u) { members.push_back(u); });
        if (members.size() > 200) continue;  // the plain loops are slow
        std::vector<Vertex> clique(members.size() + 1);
        std::vector<std::uint32_t> shared(members.size());
        clique.resize(kernels.grow_clique(graph.row(0), graph.stride(), candidates.data(), members.data(),
                                          members.size(), shared.data(), clique.data()));
        clique.push_back(static_cast<Vertex>(v));
        std::sort(clique.begin(), clique.end());
        CHECK(clique == grown(graph, static_cast<Vertex>(v)));
      }
    }
  }
}

}  // namespace

int main() {
  neighbours_normals_and_features_do_not_depend_on_threads();
  nearest_features_are_those_of_double_precision();
  hypotheses_come_from_greedy_cliques();
  hypotheses_do_not_depend_on_threads_and_are_apart();
  for (const auto* kernels : simd::available()) {
    features_are_compared_alike(*kernels);
    near_points_are_selected_alike(*kernels);
    pairs_are_sorted_alike(*kernels, *simd::available().back());
    cliques_grow_alike(*kernels);
  }
}
