// The kernels for clouds against plain loops: small matrices, motions, look-ups of surfaces and ranges, neighbours,
// features, matches and hypotheses; on every instruction set, on several threads, and for clouds of hardly any points.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "check.h"
#include "clouds/alignment.h"
#include "clouds/fpfh.h"
#include "clouds/hypotheses.h"
#include "clouds/matching.h"
#include "clouds/neighbours.h"
#include "clouds/normals.h"
#include "clouds/range_image.h"
#include "clouds/rigid.h"
#include "clouds/small_matrix.h"
#include "clouds/surface_grid.h"
#include "clouds/voxels.h"

using namespace clipperplus;

namespace {

using Random = std::mt19937_64;

std::vector<double> normal_numbers(std::size_t count, Random& random, double scale = 1.0) {
  std::normal_distribution<double> normal(0.0, scale);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

RigidMotion random_motion(Random& random) {
  std::array<double, 4> q;
  double length = 0.0;
  std::normal_distribution<double> normal;
  for (double& x : q) x = normal(random), length += x * x;
  for (double& x : q) x /= std::sqrt(length);
  RigidMotion motion;
  motion.rotation = rotation_of(q);
  for (double& x : motion.translation) x = 5.0 * normal(random);
  return motion;
}

// Small matrices ------------------------------------------------------------------------------------------------------

template <std::size_t N>
void check_eigen(const Matrix<N>& a) {
  const auto eigen = symmetric_eigen(a);
  double size = 0.0;
  for (const auto& row : a) {
    for (double x : row) size = std::max(size, std::abs(x));
  }
  for (std::size_t k = 0; k < N; ++k) {
    CHECK(k == 0 || eigen.values[k - 1] <= eigen.values[k]);
    for (std::size_t i = 0; i < N; ++i) {
      double image = 0.0, product = 0.0;
      for (std::size_t j = 0; j < N; ++j) {
        image += a[std::min(i, j)][std::max(i, j)] * eigen.vectors[k][j];
        product += eigen.vectors[k][j] * eigen.vectors[i][j];
      }
      CHECK(std::abs(image - eigen.values[k] * eigen.vectors[k][i]) <= 1e-13 * size);
      CHECK(std::abs(product - (i == k ? 1.0 : 0.0)) < 1e-13);
    }
  }
}

template <std::size_t N>
void eigenvectors_are_what_they_should_be() {
  Random random(N);
  std::normal_distribution<double> normal;
  for (int repetition = 0; repetition < 400; ++repetition) {
    Matrix<N> a{};
    const double scale = std::pow(10.0, repetition % 5 == 0 ? 60.0 * normal(random) / 3.0 : 0.0);
    if (repetition % 2 == 0) {
      for (std::size_t i = 0; i < N; ++i) {
        for (std::size_t j = i; j < N; ++j) a[i][j] = scale * normal(random);
      }
    } else {  // few distinct eigenvalues: sums of a few outer products, plus a multiple of one
      for (std::size_t rank = 0; rank < N / 2; ++rank) {
        const auto v = normal_numbers(N, random);
        for (std::size_t i = 0; i < N; ++i) {
          for (std::size_t j = i; j < N; ++j) a[i][j] += scale * v[i] * v[j] * (rank % 2 == 0 ? 1.0 : 1e-9);
        }
      }
      if (repetition % 4 == 1) {
        for (std::size_t i = 0; i < N; ++i) a[i][i] -= scale;
      }
    }
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < i; ++j) a[i][j] = 0.0;  // the lower triangle is not read
    }
    check_eigen(a);
  }
  check_eigen(Matrix<N>{});
  Matrix<N> same{};
  for (auto& row : same) row.fill(1.0);
  check_eigen(same);
  Matrix<N> diagonal{};
  for (std::size_t i = 0; i < N; ++i) diagonal[i][i] = static_cast<double>((i * 7) % 3);
  check_eigen(diagonal);
}

template <std::size_t N>
void positive_systems_are_solved_and_others_refused() {
  Random random(N + 100);
  for (int repetition = 0; repetition < 400; ++repetition) {
    const auto numbers = normal_numbers(N * N + N, random);
    Matrix<N> a{};
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) {
        for (std::size_t k = 0; k < N; ++k) a[i][j] += numbers[i * N + k] * numbers[j * N + k];
      }
      a[i][i] += 0.01;
    }
    std::array<double, N> b;
    std::copy_n(numbers.end() - N, N, b.begin());
    auto x = b;
    Matrix<N> lower = a;
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = i + 1; j < N; ++j) lower[i][j] = std::numeric_limits<double>::quiet_NaN();
    }
    CHECK(solve_positive(lower, x));
    for (std::size_t i = 0; i < N; ++i) {
      double image = 0.0, size = 0.0;
      for (std::size_t j = 0; j < N; ++j) image += a[i][j] * x[j], size += std::abs(a[i][j] * x[j]);
      CHECK(std::abs(image - b[i]) <= 1e-10 * (size + 1.0));
    }
    Matrix<N> bad = a;
    bad[N - 1][N - 1] = -bad[N - 1][N - 1];
    x = b;
    CHECK(!solve_positive(bad, x));
    Matrix<N> flat{};  // of rank 1
    for (std::size_t i = 0; i < N; ++i) {
      for (std::size_t j = 0; j < N; ++j) flat[i][j] = numbers[i] * numbers[j];
    }
    x = b;
    CHECK(!solve_positive(flat, x));
  }
  std::array<double, N> x{};
  CHECK(!solve_positive(Matrix<N>{}, x));
}

// Motions -------------------------------------------------------------------------------------------------------------

double determinant(const Matrix<3>& r) {
  return dot({r[0][0], r[0][1], r[0][2]}, cross({r[1][0], r[1][1], r[1][2]}, {r[2][0], r[2][1], r[2][2]}));
}

void fits_recover_motions() {
  Random random(1);
  for (int repetition = 0; repetition < 500; ++repetition) {
    const std::size_t n = 3 + static_cast<std::size_t>(repetition) % 20;
    auto motion = random_motion(random);
    if (repetition % 5 == 0) motion.rotation = {{{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}}};  // half a turn
    if (repetition % 7 == 0) motion.rotation = RigidMotion{}.rotation;
    auto source = normal_numbers(3 * n, random);
    if (repetition % 3 == 0) {
      for (std::size_t k = 2; k < source.size(); k += 3) source[k] = 0.5;  // on a plane
    }
    std::vector<double> target;
    for (std::size_t k = 0; k < source.size(); k += 3) {
      const auto moved = motion.apply(&source[k]);
      target.insert(target.end(), moved.begin(), moved.end());
    }
    const auto fit = fit_motion(source, target);
    for (std::size_t k = 0; k < source.size(); k += 3) {
      const auto moved = fit.apply(&source[k]);
      for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(moved[a] - target[k + a]) < 1e-9);
    }
    for (std::size_t k = 0; k < target.size(); k += 3) target[k] = -target[k];  // a mirror image
    const auto mirrored = fit_motion(source, target);
    CHECK(std::abs(determinant(mirrored.rotation) - 1.0) < 1e-12);
    for (std::size_t a = 0; a < 3; ++a) CHECK(std::isfinite(mirrored.translation[a]));
  }
  const std::vector<double> one{1.0, 2.0, 3.0}, there{4.0, 4.0, 4.0};
  const auto shift = fit_motion(one, there);
  const auto moved = shift.apply(one.data());
  for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(moved[a] - 4.0) < 1e-12);
}

// Surfaces ------------------------------------------------------------------------------------------------------------

double distance(const double* a, const double* b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

std::vector<double> random_points(std::size_t n, Random& random, double size, double offset = 0.0) {
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> points(3 * n);
  for (double& x : points) x = offset + uniform(random);
  return points;
}

std::vector<double> random_directions(std::size_t n, Random& random) {
  auto vectors = normal_numbers(3 * n, random);
  for (std::size_t k = 0; k < vectors.size(); k += 3) {
    const double length = std::hypot(vectors[k], vectors[k + 1], vectors[k + 2]);
    for (std::size_t a = 0; a < 3; ++a) vectors[k + a] /= length;
  }
  return vectors;
}

void a_surface_knows_a_point_that_is_nearly_the_nearest() {
  Random random(2);
  Control control;
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{300}}) {
    for (const auto& [cell, reach, offset] : {std::tuple{0.1, 2, 0.0}, {0.3, 1, 100.0}, {0.05, 3, -1e4}}) {
      auto points = random_points(n, random, 1.0, offset);
      for (std::size_t k = 0; k + 5 < points.size(); k += 6) points[k] = cell * std::round(points[k] / cell);
      const auto normals = random_directions(n, random);
      const SurfaceGrid grid(points, normals, cell, reach, control);
      std::size_t hits = 0;
      for (int query = 0; query < 2000; ++query) {
        std::vector<double> place = random_points(1, random, 1.5, offset);
        if (query % 2 == 0 && n > 0) {  // beside a point
          const std::size_t near = random() % n;
          const auto step = normal_numbers(3, random, cell * reach * 0.5);
          for (std::size_t a = 0; a < 3; ++a) place[a] = points[3 * near + a] + step[a];
        }
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < points.size(); k += 3) nearest = std::min(nearest, distance(&points[k], &place[0]));
        const auto found = grid.near({place[0], place[1], place[2]});
        if (found < 0) {
          CHECK(nearest >= (reach - 0.5 * std::sqrt(3.0)) * cell * (1.0 - 1e-6));  // seen from the cell's centre
          continue;
        }
        ++hits;
        CHECK(static_cast<std::size_t>(found) < n);
        CHECK(distance(grid.point(found), &place[0]) <= nearest + std::sqrt(3.0) * cell * (1.0 + 1e-6));
        for (std::size_t a = 0; a < 3; ++a) {
          CHECK(grid.point(found)[a] == points[3 * static_cast<std::size_t>(found) + a]);
          CHECK(grid.normal(found)[a] == normals[3 * static_cast<std::size_t>(found) + a]);
        }
      }
      CHECK(n == 0 ? hits == 0 : hits > 300);
      for (double wild : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300}) {
        CHECK(grid.near({wild, offset, offset}) == -1);
        CHECK(grid.near({offset, offset, wild}) == -1);
      }
    }
  }
  const std::vector<double> wide{0.0, 0.0, 0.0, 1e9, 0.0, 0.0}, up{0.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  CHECK(!message_of<std::length_error>([&] { SurfaceGrid(wide, up, 0.1, 2, control); }).empty());
}

void overlap_and_refinement_agree_with_plain_loops() {
  Random random(3);
  Control control;
  std::vector<double> points, normals;  // a bent sheet
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 40; ++j) {
      const double x = 0.1 * i, y = 0.1 * j;
      points.insert(points.end(), {x, y, std::sin(x) * std::cos(1.3 * y)});
      const double nx = -std::cos(x) * std::cos(1.3 * y), ny = 1.3 * std::sin(x) * std::sin(1.3 * y);
      const double length = std::sqrt(nx * nx + ny * ny + 1.0);
      normals.insert(normals.end(), {nx / length, ny / length, 1.0 / length});
    }
  }
  const SurfaceGrid grid(points, normals, 0.1, 2, control);
  const OrientedPoints cloud{points, normals};
  for (int repetition = 0; repetition < 30; ++repetition) {
    RigidMotion motion;  // a small one
    const auto q = normal_numbers(3, random, 0.01);
    const double w = std::sqrt(1.0 - q[0] * q[0] - q[1] * q[1] - q[2] * q[2]);
    motion.rotation = rotation_of({w, q[0], q[1], q[2]});
    for (double& x : motion.translation) x = normal_numbers(1, random, 0.02)[0];
    std::size_t near = 0, agreeing = 0;
    for (std::size_t k = 0; k < points.size(); k += 3) {
      const auto moved = motion.apply(&points[k]), turned = motion.turn(&normals[k]);
      const auto found = grid.near(moved);
      if (found < 0 || distance(grid.point(found), moved.data()) > 0.1) continue;
      ++near;
      const double* n = grid.normal(found);
      agreeing += turned[0] * n[0] + turned[1] * n[1] + turned[2] * n[2] > 0.8 ? 1 : 0;
    }
    const auto overlap = measure_overlap(grid, cloud, motion, {0.1, 0.8});
    CHECK(overlap.near == near && overlap.agreeing == agreeing && near > 100);
    const auto refined = refine_motion(grid, cloud, motion, {0.25, 0.5}, 15);
    double worst = 0.0;
    for (std::size_t k = 0; k < points.size(); k += 3) {
      worst = std::max(worst, distance(refined.apply(&points[k]).data(), &points[k]));
    }
    CHECK(worst < 0.02);  // of a tenth: some points take a neighbour for their own
  }
  // Nothing near, or too little: it stays where it is.
  RigidMotion away;
  away.translation = {1e3, 0.0, 0.0};
  CHECK(refine_motion(grid, cloud, away, {0.25, 0.5}, 5).translation == away.translation);
  const OrientedPoints few{std::span(points).first(12), std::span(normals).first(12)};
  RigidMotion shifted;
  shifted.translation = {0.01, 0.02, 0.03};
  CHECK(refine_motion(grid, few, shifted, {0.25, 0.5}, 5).translation == shifted.translation);
  CHECK(measure_overlap(grid, OrientedPoints{}, shifted, {0.1, 0.8}).near == 0);
}

// Ranges --------------------------------------------------------------------------------------------------------------

// What a sensor saw in directions that may, or must, be those of a pixel and the eight around it: pixels are between
// 0.0104 (in a corner of the cube) and 0.0313 rad wide.
void range_images_agree_with_plain_loops() {
  Random random(4);
  constexpr double kSurelyWithin = 0.0104, kPerhapsWithin = 2.0 * 0.0313 * std::numbers::sqrt2;
  const Vector3 viewpoint{1.0, -2.0, 0.5};
  std::uniform_real_distribution<double> range_of(1.0, 10.0);
  auto seen = random_directions(1200, random);
  std::vector<double> ranges(1200), points(seen.size());
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    ranges[k] = range_of(random);
    for (std::size_t a = 0; a < 3; ++a) points[3 * k + a] = viewpoint[a] + ranges[k] * seen[3 * k + a];
  }
  const RangeImage image(points, viewpoint);
  const double margin = 0.2;
  std::size_t in_front = 0, not_in_front = 0, decided = 0;
  const auto motion = random_motion(random);
  RigidMotion back;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) back.rotation[a][b] = motion.rotation[b][a];
  }
  const auto turned = back.turn(motion.translation.data());
  for (std::size_t a = 0; a < 3; ++a) back.translation[a] = -turned[a];
  for (int query = 0; query < 2000; ++query) {
    const std::size_t along = random() % ranges.size();
    const double range = 0.1 * range_of(random) * ranges[along];
    Vector3 place;
    for (std::size_t a = 0; a < 3; ++a) place[a] = viewpoint[a] + range * seen[3 * along + a];
    double surely = std::numeric_limits<double>::infinity(), perhaps = surely;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const Vector3 here{seen[3 * along], seen[3 * along + 1], seen[3 * along + 2]};
      const Vector3 other{seen[3 * k], seen[3 * k + 1], seen[3 * k + 2]};
      const double cosine = dot(here, other), sine = std::sqrt(dot(cross(here, other), cross(here, other)));
      const double angle = std::atan2(sine, cosine);
      if (angle < kSurelyWithin) surely = std::min(surely, ranges[k]);
      if (angle < kPerhapsWithin) perhaps = std::min(perhaps, ranges[k]);
    }
    const auto before = back.apply(place.data());
    const std::size_t count = image.count_in_front(before, motion, margin);
    CHECK(count <= 1);
    if (range > surely - margin + 1e-5) CHECK(count == 0);
    if (range < perhaps - margin - 1e-5) CHECK(count == 1);
    decided += range > surely - margin + 1e-5 || range < perhaps - margin - 1e-5 ? 1 : 0;
    (count == 1 ? in_front : not_in_front) += 1;
  }
  CHECK(in_front > 200 && not_in_front > 200 && decided > 500);

  const RangeImage nothing({}, viewpoint);
  CHECK(nothing.count_in_front(points, RigidMotion{}, 0.0) == 0);
  CHECK(nothing.count_in_front({}, RigidMotion{}, 0.0) == 0);
  const std::vector<double> at_the_sensor{viewpoint[0], viewpoint[1], viewpoint[2]};
  const RangeImage odd(at_the_sensor, viewpoint);
  CHECK(odd.count_in_front(at_the_sensor, RigidMotion{}, 0.1) == 0);
  CHECK(image.count_in_front(at_the_sensor, RigidMotion{}, 0.1) <= 1);
  const std::vector<double> far{1e300, -1e300, 1e300};
  CHECK(image.count_in_front(far, RigidMotion{}, 0.1) == 0);
}

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
  eigenvectors_are_what_they_should_be<3>();
  eigenvectors_are_what_they_should_be<4>();
  eigenvectors_are_what_they_should_be<6>();
  positive_systems_are_solved_and_others_refused<3>();
  positive_systems_are_solved_and_others_refused<6>();
  fits_recover_motions();
  a_surface_knows_a_point_that_is_nearly_the_nearest();
  overlap_and_refinement_agree_with_plain_loops();
  range_images_agree_with_plain_loops();
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
