// Laying one cloud on another, against plain loops: small matrices, motions, look-ups of surfaces and of ranges.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

#include "check.h"
#include "clouds/alignment.h"
#include "clouds/range_image.h"
#include "clouds/rigid.h"
#include "clouds/small_matrix.h"
#include "clouds/surface_grid.h"
#include "random_clouds.h"

using namespace clipperplus;

namespace {

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
}
