// From clouds to hypotheses, against plain loops: neighbours, features, matches and cliques; on every instruction set,
// on several threads, and for clouds of hardly any points.
#include <algorithm>
#include <cmath>

#include "clouds/fpfh.h"
#include "clouds/hypotheses.h"
#include "clouds/matching.h"
#include "clouds/neighbours.h"
#include "clouds/normals.h"
#include "clouds/viewpoints.h"
#include "geometry/fitting.h"
#include "random_clouds.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

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

}  // namespace

TEST_CASE("neighbours, normals and features do not depend on threads") {
  Random random(5);
  Control control;
  const auto& portable = *simd::available().back();
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{70}, std::size_t{900}}) {
    CAPTURE(n);
    auto points = random_points(n, random, 1.0);
    for (std::size_t k = 0; k < points.size(); ++k)
      points[k] = k % 9 == 0 ? 0.125 * std::round(8.0 * points[k]) : points[k];
    if (n > 60) std::copy_n(points.begin(), 30, points.begin() + 90);  // ten points twice
    const double radius = 0.25;
    const auto expected = find_neighbours(points, radius, 1, portable, control);
    const auto normals = estimate_normals(points, expected, 0.2, {0.0, 0.0, 9.0}, 1, portable, control);
    const auto features = compute_fpfh(points, normals.directions, expected, 1, portable, control);
    const auto inwards = turn_inwards(points, normals.directions, expected, 1, control);
    REQUIRE(expected.offsets.size() == n + 1);
    REQUIRE(normals.directions.size() == 3 * n);
    REQUIRE(normals.bends.size() == n);
    REQUIRE(inwards.size() == 3 * n);
    for (const double bend : normals.bends) REQUIRE_EACH((bend >= 0.0 && bend <= 1.0 / 3.0 + 1e-12), bend);
    REQUIRE(features.size() == kFeatureBins * n);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::int32_t> near;
      for (std::size_t j = 0; j < n; ++j) {
        const double x = points[3 * i] - points[3 * j], y = points[3 * i + 1] - points[3 * j + 1],
                     z = points[3 * i + 2] - points[3 * j + 2];
        if (i != j && x * x + y * y + z * z <= radius * radius) near.push_back(static_cast<std::int32_t>(j));
      }
      const auto found = expected.of(i);
      std::vector<std::int32_t> sorted(found.begin(), found.end());
      std::sort(sorted.begin(), sorted.end());
      REQUIRE_EACH(sorted == near, "i = ", i);
    }
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
        const auto near = find_neighbours(points, radius, threads, *kernels, control);
        CHECK(difference(near.offsets, expected.offsets) == "");
        CHECK(difference(near.indices, expected.indices) == "");
        const auto normals_here = estimate_normals(points, near, 0.2, {0.0, 0.0, 9.0}, threads, *kernels, control);
        CHECK(difference(normals_here.directions, normals.directions) == "");
        CHECK(difference(normals_here.bends, normals.bends) == "");
        CHECK(difference(turn_inwards(points, normals.directions, near, threads, control), inwards) == "");
        CHECK(difference(compute_fpfh(points, normals.directions, near, threads, *kernels, control), features) == "");
      }
    }
  }
  const std::vector<double> wide{0.0, 0.0, 0.0, 1e9, 0.0, 0.0};
  CHECK_THROWS_AS(find_neighbours(wide, 1e-3, 2, portable, control), std::length_error);
}

TEST_CASE("a sphere that is seen from within is seen from one side") {
  Random random(8);
  Control control;
  std::vector<double> points = normal_numbers(3 * 600, random, 1.0), normals;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const double length = std::hypot(points[k], points[k + 1], points[k + 2]);
    for (std::size_t a = 0; a < 3; ++a) points[k + a] /= length;
  }
  normals = points;
  for (std::size_t k = 0; k < normals.size(); k += 6) {  // whatever their signs
    for (std::size_t a = 0; a < 3; ++a) normals[k + a] = -normals[k + a];
  }
  const std::vector<std::int32_t> counts(points.size() / 3, 1);
  const auto near = find_neighbours(points, 0.3, 1, *simd::available().back(), control);
  const ViewedSurface surface(points, normals, counts, near, 0.3, 0.05, 1000);
  const simd::Kernels& kernels = *simd::available().back();
  const View within = surface.from({0.1, 0.0, -0.1}, true, kernels);
  const View outside = surface.from({3.0, 0.0, 0.0}, true, kernels);
  CHECK(within.torn == 0.0);
  CHECK(within.hidden == 0.0);
  CHECK(within.grazing == 0.0);
  CHECK(outside.torn > 0.02);   // at the rim
  CHECK(outside.hidden > 0.1);  // the far side
  CHECK(outside.grazing > 0.02);
  CHECK(surface.from({3.0, 0.0, 0.0}, false, kernels).hidden == 0.0);
  CHECK(ViewedSurface({}, {}, {}, Neighbours{{0}, {}}, 0.3, 0.05, 1000).from({0.0, 0.0, 0.0}, true, kernels).torn ==
        0.0);
}

TEST_CASE("the nearest features are those of double precision") {
  Random random(6);
  Control control;
  for (const auto& [n, m, d, k] : {std::array<std::size_t, 4>{0, 5, 3, 2},
                                   {5, 0, 3, 2},
                                   {1, 1, 1, 1},
                                   {1, 200, 2, 3},
                                   {130, 70, 33, 2},
                                   {65, 64, 5, 70},
                                   {200, 300, 12, 5},
                                   {256, 257, 24, 1},  // from here on with bounds of distances
                                   {321, 400, 33, 3},
                                   {300, 260, 40, 80}}) {
    std::vector<float> source(n * d), target(m * d);
    for (auto* features : {&source, &target}) {
      for (std::size_t e = 0; e < features->size(); ++e) {
        const double x = std::normal_distribution<double>()(random);
        (*features)[e] = static_cast<float>(e / d % 3 == 0 ? std::round(x) : x);  // with ties
        if (d % 2 == 1 && e % d >= 4) {                                           // most of it along a few axes
          (*features)[e] = (*features)[e - 4] + (e / d % 2 == 0 ? 0.0F : 0.125F * (*features)[e]);
        }
      }
    }
    const auto check_way = [&, dimensions = d, wanted = k](const std::vector<float>& from, const std::vector<float>& to,
                                                           const NearestFeatures& found) {
      const std::size_t rows = from.size() / dimensions, columns = to.size() / dimensions;
      if (rows > 0) REQUIRE(found.k == std::min(wanted, columns));
      REQUIRE(found.indices.size() == rows * found.k);
      REQUIRE(found.squares.size() == rows * found.k);
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
          REQUIRE_EACH(found.indices[i * found.k + place] == all[place].second, "i = ", i, ", place ", place);
          REQUIRE_EACH(found.squares[i * found.k + place] == all[place].first, "i = ", i, ", place ", place);
        }
      }
    };
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}}) {
        INFO(source.size(), " and ", target.size(), " numbers, on ", simd::name_of(*kernels), " with ", threads,
             " threads");
        const auto both = nearest_features(source, target, d, k, threads, *kernels, control);
        check_way(source, target, both.of_source);
        check_way(target, source, both.of_target);
      }
    }
  }
}

TEST_CASE("hypotheses come from greedy cliques") {
  Random random(7);
  Control control;
  for (const auto& [n, density] : {std::pair{std::size_t{3}, 1.0}, {std::size_t{60}, 0.5}, {std::size_t{90}, 0.15}}) {
    const Graph bits = random_graph(n, density, static_cast<unsigned>(n));
    REQUIRE(bits.has_bits());
    std::vector<std::int64_t> offsets{0};
    std::vector<Vertex> neighbours;
    for (std::size_t v = 0; v < n; ++v) {
      bits.for_each_neighbour(v, [&](Vertex u) { neighbours.push_back(u); });
      offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
    }
    const Graph rows = Graph::from_sorted_rows(n, offsets, neighbours);
    REQUIRE(!rows.has_bits());
    const auto source = random_points(n, random, 1.0), target = random_points(n, random, 1.0);
    for (const Graph* graph : {&bits, &rows}) {
      for (const auto* kernels : simd::available()) {
        for (std::size_t v = 0; v < bits.num_vertices(); ++v) {
          INFO("from ", v, " of ", bits.num_vertices(), ", on ", simd::name_of(*kernels));
          const auto start = static_cast<Vertex>(v);
          const auto found = find_hypotheses(*graph, source, target, {}, std::span(&start, 1), {}, *kernels, control);
          const auto expected = grown(bits, start);
          if (expected.size() < 3) {
            CHECK(found.empty());
            continue;
          }
          REQUIRE(found.size() == 1);
          CHECK(found[0].clique == expected);
          for (std::size_t u = 0; u < bits.num_vertices(); ++u) {
            const bool inside = std::binary_search(expected.begin(), expected.end(), static_cast<Vertex>(u));
            const bool fits = std::all_of(expected.begin(), expected.end(),
                                          [&](Vertex w) { return bits.has_edge(u, static_cast<std::size_t>(w)); });
            const bool maximal = inside || !fits;
            REQUIRE_EACH(maximal, "u = ", u);
          }
          std::vector<double> from, to;
          for (Vertex w : expected) {
            from.insert(from.end(), source.begin() + 3 * w, source.begin() + 3 * w + 3);
            to.insert(to.end(), target.begin() + 3 * w, target.begin() + 3 * w + 3);
          }
          const auto fit = fit_motion(from, to);
          for (std::size_t a = 0; a < 3; ++a) {
            CHECK(std::abs(fit.translation[a] - found[0].motion.translation[a]) < 1e-9);
            for (std::size_t b = 0; b < 3; ++b) {
              CHECK(std::abs(fit.rotation[a][b] - found[0].motion.rotation[a][b]) < 1e-9);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("hypotheses do not depend on threads, and are apart") {
  Random random(8);
  Control control;
  const std::size_t n = 700;
  const Graph graph = random_graph(n, 0.1, 8);
  const auto source = random_points(n, random, 1.0), target = random_points(n, random, 1.0);
  std::vector<Vertex> starts(n);
  for (std::size_t v = 0; v < n; ++v) starts[v] = static_cast<Vertex>(v);
  for (double apart : {0.0, 0.5, 1e9}) {
    CAPTURE(apart);
    HypothesisOptions options{.most = 40, .least_size = 3, .apart = apart, .threads = 1};
    const auto expected =
        find_hypotheses(graph, source, target, {}, starts, options, *simd::available().back(), control);
    CHECK(expected.size() >= 1);
    CHECK(expected.size() <= (apart < 1e8 ? 40 : 1));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (i > 0) CHECK(expected[i - 1].clique.size() >= expected[i].clique.size());
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
        INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
        options.threads = threads;
        const auto found = find_hypotheses(graph, source, target, {}, starts, options, *kernels, control);
        REQUIRE(found.size() == expected.size());
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

TEST_CASE("cliques grow as in plain loops on every instruction set") {
  for (std::size_t n : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{130}, std::size_t{600}}) {
    for (double density : {0.05, 0.5, 0.95}) {
      const Graph graph = random_graph(n, density, static_cast<unsigned>(n));
      REQUIRE(graph.has_bits());
      for (std::size_t v = 0; v < n; v += n / 5 + 1) {
        std::vector<Vertex> members;
        graph.for_each_neighbour(v, [&](Vertex u) { members.push_back(u); });
        if (members.size() > 200) continue;  // the plain loops are slow
        const auto expected = grown(graph, static_cast<Vertex>(v));
        for (const auto* kernels : simd::available()) {
          INFO("from ", v, " of ", n, " at ", density, ", on ", simd::name_of(*kernels));
          AlignedVector<Word> candidates(graph.row(v), graph.row(v) + graph.stride());
          std::vector<Vertex> clique(members.size() + 1), left = members;
          std::vector<std::uint32_t> shared(members.size());
          clique.resize(kernels->grow_clique(graph.row(0), graph.stride(), candidates.data(), left.data(), left.size(),
                                             shared.data(), clique.data()));
          clique.push_back(static_cast<Vertex>(v));
          std::sort(clique.begin(), clique.end());
          CHECK(clique == expected);
        }
      }
    }
  }
}
