// Small matrices, and the motion between matched points: against their definitions, and where they are ill determined.
#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/fitting.h"
#include "geometry/rigid.h"
#include "geometry/small_matrix.h"
#include "random_clouds.h"
#include "testing.h"

using namespace clipperplus;

namespace {

template <std::size_t N>
void check_eigen(const Matrix<N>& a) {
  const auto eigen = decompose_symmetric(a);
  double size = 0.0;
  for (const auto& row : a) {
    for (double x : row) size = std::max(size, std::abs(x));
  }
  for (std::size_t k = 0; k < N; ++k) {
    if (k > 0) REQUIRE_EACH(eigen.values[k - 1] <= eigen.values[k], "k = ", k);
    for (std::size_t i = 0; i < N; ++i) {
      double image = 0.0, product = 0.0;
      for (std::size_t j = 0; j < N; ++j) {
        image += a[std::min(i, j)][std::max(i, j)] * eigen.vectors[k][j];
        product += eigen.vectors[k][j] * eigen.vectors[i][j];
      }
      const double expected = eigen.values[k] * eigen.vectors[k][i];
      REQUIRE_EACH(std::abs(image - expected) <= 1e-13 * size, "k = ", k, ", i = ", i);
      REQUIRE_EACH(std::abs(product - (i == k ? 1.0 : 0.0)) < 1e-13, "k = ", k, ", i = ", i);
    }
  }
}

template <std::size_t N>
void check_eigenvectors() {
  CAPTURE(N);
  Random random(N);
  std::normal_distribution<double> normal;
  for (int repetition = 0; repetition < 400; ++repetition) {
    CAPTURE(repetition);
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
void check_positive_systems() {
  CAPTURE(N);
  Random random(N + 100);
  for (int repetition = 0; repetition < 400; ++repetition) {
    CAPTURE(repetition);
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

double determinant(const Matrix<3>& r) {
  return dot({r[0][0], r[0][1], r[0][2]}, cross({r[1][0], r[1][1], r[1][2]}, {r[2][0], r[2][1], r[2][2]}));
}

void check_proper(const Matrix<3>& r) {
  CHECK(std::abs(determinant(r) - 1.0) < 1e-12);
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      CHECK(std::abs(dot(r[a], r[b]) - (a == b ? 1.0 : 0.0)) < 1e-12);
    }
  }
}

void check_close(const RigidMotion& found, const RigidMotion& expected, double scale, double tolerance) {
  for (std::size_t a = 0; a < 3; ++a) {
    CHECK(std::abs(found.translation[a] - expected.translation[a]) <= tolerance * scale);
    for (std::size_t b = 0; b < 3; ++b) CHECK(std::abs(found.rotation[a][b] - expected.rotation[a][b]) <= tolerance);
  }
}

std::vector<double> moved(const std::vector<double>& points, const RigidMotion& motion) {
  std::vector<double> result;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const auto point = motion.apply(&points[k]);
    result.insert(result.end(), point.begin(), point.end());
  }
  return result;
}

std::vector<double> scaled(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

// Weighted squares of what a motion leaves between the points.
double residual(const std::vector<double>& source, const std::vector<double>& target,
                const std::vector<double>& weights, const RigidMotion& motion) {
  const auto there = moved(source, motion);
  double sum = 0.0;
  for (std::size_t k = 0; k < there.size(); k += 3) {
    const double weight = weights.empty() ? 1.0 : weights[k / 3];
    for (std::size_t a = 0; a < 3; ++a) sum += weight * std::pow(there[k + a] - target[k + a], 2.0);
  }
  return sum;
}

struct Matched {
  std::vector<double> source, target, weights;
};

// Points that were moved, with noise, and how much each counts.
Matched noisy_match(std::size_t n, double noise, Random& random) {
  Matched matched{normal_numbers(3 * n, random), {}, {}};
  matched.target = moved(matched.source, random_motion(random));
  const auto errors = normal_numbers(3 * n, random, noise);
  for (std::size_t k = 0; k < errors.size(); ++k) matched.target[k] += errors[k];
  for (double x : normal_numbers(n, random)) matched.weights.push_back(0.1 + std::abs(x));
  return matched;
}

}  // namespace

TEST_CASE("eigenvalues ascend, and eigenvectors are orthonormal and mapped to their multiples") {
  check_eigenvectors<3>();
  check_eigenvectors<4>();
  check_eigenvectors<6>();
}

TEST_CASE("positive systems are solved, and others are refused") {
  check_positive_systems<3>();
  check_positive_systems<6>();
}

TEST_CASE("a fit finds the motion that the points made, and always a proper rotation") {
  Random random(1);
  for (int repetition = 0; repetition < 500; ++repetition) {
    CAPTURE(repetition);
    const std::size_t n = 3 + static_cast<std::size_t>(repetition) % 20;
    auto motion = random_motion(random);
    if (repetition % 5 == 0) motion.rotation = {{{1.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, -1.0}}};  // half a turn
    if (repetition % 7 == 0) motion.rotation = RigidMotion{}.rotation;
    auto source = normal_numbers(3 * n, random);
    if (repetition % 3 == 0) {
      for (std::size_t k = 2; k < source.size(); k += 3) source[k] = 0.5;  // on a plane
    }
    auto target = moved(source, motion);
    const auto there = moved(source, fit_motion(source, target));
    for (std::size_t k = 0; k < there.size(); ++k) CHECK(std::abs(there[k] - target[k]) < 1e-9);
    for (std::size_t k = 0; k < target.size(); k += 3) target[k] = -target[k];  // a mirror image
    const auto mirrored = fit_motion(source, target);
    check_proper(mirrored.rotation);
    for (double x : mirrored.translation) CHECK(std::isfinite(x));
  }
}

TEST_CASE("no motion near the fitted one leaves less, with weights and without") {
  Random random(21);
  for (int repetition = 0; repetition < 40; ++repetition) {
    CAPTURE(repetition);
    const auto [source, target, given] = noisy_match(3 + static_cast<std::size_t>(repetition) % 9, 0.5, random);
    const auto weights = repetition % 2 == 0 ? given : std::vector<double>{};
    const auto fit = fit_motion(source, target, weights);
    const double least = residual(source, target, weights, fit);
    for (int trial = 0; trial < 50; ++trial) {
      const auto q = normal_numbers(3, random, 0.01);
      RigidMotion small, other;
      small.rotation = rotation_of({std::sqrt(1.0 - q[0] * q[0] - q[1] * q[1] - q[2] * q[2]), q[0], q[1], q[2]});
      for (double& x : small.translation) x = normal_numbers(1, random, 0.01)[0];
      for (std::size_t b = 0; b < 3; ++b) {
        const Vector3 column{fit.rotation[0][b], fit.rotation[1][b], fit.rotation[2][b]};
        const auto turned = small.turn(column.data());
        for (std::size_t a = 0; a < 3; ++a) other.rotation[a][b] = turned[a];
      }
      other.translation = small.apply(fit.translation.data());
      CHECK(residual(source, target, weights, other) >= least);
    }
  }
}

TEST_CASE("a fit keeps to its model, and no motion of the model near it leaves less") {
  Random random(24);
  using Turns = MotionModel::Turns;
  for (int repetition = 0; repetition < 60; ++repetition) {
    CAPTURE(repetition);
    const auto [source, target, weights] = noisy_match(2 + static_cast<std::size_t>(repetition) % 9, 0.5, random);
    MotionModel model{.turns = repetition % 3 == 0 ? Turns::kNone : Turns::kAboutUp, .level = repetition % 2 == 0};
    const auto axis = normal_numbers(3, random);
    const double length = std::sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    for (std::size_t a = 0; a < 3; ++a) model.up[a] = axis[a] / length;
    const auto fit = fit_motion(source, target, weights, model);
    check_proper(fit.rotation);
    const auto kept = fit.turn(model.up.data());
    for (std::size_t a = 0; a < 3; ++a) CHECK(kept[a] == doctest::Approx(model.up[a]));
    if (model.turns == Turns::kNone) CHECK(fit.rotation == RigidMotion{}.rotation);
    if (model.level) CHECK(std::abs(dot(model.up, fit.translation)) < 1e-12);
    const double least = residual(source, target, weights, fit);
    for (int trial = 0; trial < 30; ++trial) {
      std::array<double, 6> step{};
      const auto angle = normal_numbers(1, random, 0.01)[0];
      const auto shift = normal_numbers(3, random, 0.01);
      const double lift = model.level ? dot(model.up, {shift[0], shift[1], shift[2]}) : 0.0;
      for (std::size_t a = 0; a < 3; ++a) {
        step[a] = model.turns == Turns::kAboutUp ? angle * model.up[a] : 0.0;
        step[3 + a] = shift[a] - lift * model.up[a];
      }
      CHECK(residual(source, target, weights, moved(fit, step, {0.0, 0.0, 0.0})) >= least - 1e-12);
    }
  }
}

TEST_CASE("a restricted problem has the solution that is best within the model") {
  Random random(25);
  for (int repetition = 0; repetition < 40; ++repetition) {
    MotionModel model{.turns = MotionModel::Turns::kAboutUp, .up = {0.0, 0.6, 0.8}, .level = repetition % 2 == 0};
    Matrix<6> h{};
    const auto rows = normal_numbers(6 * 12, random);
    for (std::size_t k = 0; k < rows.size(); k += 6) {
      for (std::size_t i = 0; i < 6; ++i) {
        for (std::size_t j = 0; j <= i; ++j) h[i][j] += rows[k + i] * rows[k + j];
      }
    }
    const auto numbers = normal_numbers(6, random);
    std::array<double, 6> slope{}, step{};
    for (std::size_t i = 0; i < 6; ++i) step[i] = slope[i] = numbers[i];
    Matrix<6> restricted = h;
    model.restrict(restricted, step);
    REQUIRE(solve_positive(restricted, step));
    // Half the gradient, h ξ - slope, has no part along any free direction, and ξ none along another.
    std::vector<std::array<double, 6>> free{
        {0.0, 0.6, 0.8, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 1.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0, 0.8, -0.6}};
    std::vector<std::array<double, 6>> held{{1.0, 0.0, 0.0, 0.0, 0.0, 0.0}, {0.0, 0.8, -0.6, 0.0, 0.0, 0.0}};
    (model.level ? held : free).push_back({0.0, 0.0, 0.0, 0.0, 0.6, 0.8});
    for (const auto& direction : free) {
      double along = 0.0;
      for (std::size_t i = 0; i < 6; ++i) {
        double gradient = -slope[i];
        for (std::size_t j = 0; j < 6; ++j) gradient += h[std::max(i, j)][std::min(i, j)] * step[j];
        along += direction[i] * gradient;
      }
      CHECK(std::abs(along) < 1e-9);
    }
    for (const auto& direction : held) {
      double along = 0.0;
      for (std::size_t i = 0; i < 6; ++i) along += direction[i] * step[i];
      CHECK(std::abs(along) < 1e-12);
    }
  }
}

TEST_CASE("a weight of zero leaves a point out, one of two counts it twice, and equal ones do nothing") {
  Random random(22);
  for (int repetition = 0; repetition < 60; ++repetition) {
    CAPTURE(repetition);
    const std::size_t n = 6 + static_cast<std::size_t>(repetition) % 9;
    auto [source, target, weights] = noisy_match(n, 0.1, random);
    Matched kept, twice;
    for (std::size_t i = 0; i < n; ++i) {
      // The first point is left out now and then, and is very far away: nothing may be measured from it.
      if (i % 3 == static_cast<std::size_t>(repetition) % 3) {
        weights[i] = 0.0;
        for (std::size_t a = 0; a < 3; ++a) target[3 * i + a] *= i == 0 ? 1e12 : 30.0;
        continue;
      }
      kept.source.insert(kept.source.end(), &source[3 * i], &source[3 * i] + 3);
      kept.target.insert(kept.target.end(), &target[3 * i], &target[3 * i] + 3);
      kept.weights.push_back(weights[i]);
    }
    const auto expected = fit_motion(kept.source, kept.target, kept.weights);
    check_close(fit_motion(source, target, weights), expected, 10.0, 1e-11);
    // The unit of weights does not matter, as far as it can be told.
    check_close(fit_motion(source, target, scaled(weights, 3e307)), expected, 10.0, 1e-11);
    check_close(fit_motion(source, target, scaled(weights, 1e-300)), expected, 10.0, 1e-11);

    const std::vector<double> sevens(kept.weights.size(), 7.0);
    check_close(fit_motion(kept.source, kept.target, sevens), fit_motion(kept.source, kept.target), 10.0, 1e-11);

    twice = kept;
    twice.source.insert(twice.source.end(), kept.source.begin(), kept.source.begin() + 3);
    twice.target.insert(twice.target.end(), kept.target.begin(), kept.target.begin() + 3);
    std::vector<double> first_twice(kept.weights.size(), 1.0);
    first_twice[0] = 2.0;
    check_close(fit_motion(kept.source, kept.target, first_twice), fit_motion(twice.source, twice.target), 10.0, 1e-11);
  }
}

TEST_CASE("neither huge nor tiny coordinates are lost") {
  Random random(23);
  for (int repetition = 0; repetition < 20; ++repetition) {
    const auto [source, target, weights] = noisy_match(8, 0.1, random);
    for (const double scale : {1e150, 1e-150, 1e300, 1e-290}) {
      CAPTURE(scale);
      auto expected = fit_motion(source, target, weights);
      for (double& x : expected.translation) x *= scale;
      check_close(fit_motion(scaled(source, scale), scaled(target, scale), weights), expected, 10.0 * scale, 1e-11);
    }
  }
}

TEST_CASE("points at one place are shifted and not turned") {
  Random random(24);
  const auto identity = RigidMotion{}.rotation;
  for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100}}) {
    CAPTURE(n);
    std::vector<double> here, there;
    for (std::size_t i = 0; i < n; ++i) {
      here.insert(here.end(), {0.1, -0.7, 1e6 / 3.0});
      there.insert(there.end(), {4.3, 1e-9, -0.3});
    }
    const auto spread = normal_numbers(3 * n, random);
    const auto shift = fit_motion(here, there);
    CHECK(shift.rotation == identity);
    for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(shift.apply(here.data())[a] - there[a]) <= 1e-9);
    CHECK(fit_motion(here, spread).rotation == identity);
    CHECK(fit_motion(spread, there).rotation == identity);
  }
}

// For points a u and b v on lines through their centres, the least that a rotation leaves is known: u goes to v or -v.
TEST_CASE("points on a line get a proper rotation that leaves as little as one can") {
  Random random(25);
  for (int repetition = 0; repetition < 100; ++repetition) {
    CAPTURE(repetition);
    const std::size_t n = 2 + static_cast<std::size_t>(repetition) % 8;
    const auto lines = random_directions(2, random);
    auto a = normal_numbers(n, random);
    auto b = repetition % 2 == 0 ? a : normal_numbers(n, random);
    if (repetition % 4 == 2) b = scaled(b, -1.0);
    const auto centres = normal_numbers(6, random, 3.0);
    std::vector<double> source, target;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        source.push_back(centres[axis] + a[i] * lines[axis]);
        target.push_back(centres[3 + axis] + b[i] * lines[3 + axis]);
      }
    }
    double mean_a = 0.0, mean_b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      mean_a += a[i] / static_cast<double>(n);
      mean_b += b[i] / static_cast<double>(n);
    }
    for (std::size_t i = 0; i < n; ++i) {
      aa += (a[i] - mean_a) * (a[i] - mean_a);
      bb += (b[i] - mean_b) * (b[i] - mean_b);
      ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    const auto fit = fit_motion(source, target);
    check_proper(fit.rotation);
    CHECK(std::abs(residual(source, target, {}, fit) - (aa + bb - 2.0 * std::abs(ab))) < 1e-11 * (aa + bb + 1.0));
  }
}
