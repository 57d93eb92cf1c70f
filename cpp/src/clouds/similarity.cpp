#include "clouds/similarity.h"

#include <algorithm>
#include <cmath>

namespace clipperplus::inline v0 {

namespace {

constexpr double kSmallGrowth = 1e-4;  // a step that changes the scale by less is the last

struct Sums {
  Matrix<7> information{};        // lower triangle; turn, shift, scale
  std::array<double, 7> slope{};  // half the derivative, negative
  double weights = 0.0, squares = 0.0;
};

Vector3 centre_of(std::span<const double> points, const RigidMotion& motion) {
  Vector3 mean{};
  for (std::size_t k = 0; k < points.size(); ++k) mean[k % 3] += points[k];
  for (double& m : mean) m /= std::max(1.0, static_cast<double>(points.size() / 3));
  return motion.apply(mean.data());
}

// The motion's rotation comes with the scale in it.
Sums accumulate(const SurfaceGrid& target, std::span<const double> points, std::span<const double> normals,
                const RigidMotion& motion, double scale, const PairRule& rule, const Vector3& centre) {
  Sums sums;
  const double reach = rule.distance * rule.distance;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const Vector3 place = motion.apply(&points[k]);
    const std::int32_t found = target.near(place);
    if (found < 0) continue;
    const double *q = target.point(found), *normal = target.normal(found);
    const Vector3 d{place[0] - q[0], place[1] - q[1], place[2] - q[2]}, n{normal[0], normal[1], normal[2]};
    const double square = dot(d, d);
    if (square > reach || std::abs(dot(motion.turn(&normals[k]), n)) < rule.least_cosine * scale) continue;
    const double rest = 1.0 - square / reach, weight = rest * rest, residual = dot(n, d);
    const Vector3 arm{place[0] - centre[0], place[1] - centre[1], place[2] - centre[2]}, turn = cross(arm, n);
    const std::array<double, 7> row{turn[0], turn[1], turn[2], n[0], n[1], n[2], dot(n, arm)};
    sums.weights += weight;
    sums.squares += weight * residual * residual;
    for (std::size_t i = 0; i < 7; ++i) {
      const double weighted = weight * row[i];
      sums.slope[i] -= residual * weighted;
      for (std::size_t j = 0; j <= i; ++j) sums.information[i][j] += weighted * row[j];
    }
  }
  for (std::size_t i = 0; i < 7; ++i) sums.information[i][i] *= 1.0 + 1e-6;
  return sums;
}

// What is left of the last diagonal element once all else is eliminated.
double left_of_scale(const Matrix<7>& information) {
  std::array<double, 7> unit{};
  unit[6] = 1.0;
  return solve_positive(information, unit) && unit[6] > 0.0 ? 1.0 / unit[6] : 0.0;
}

}  // namespace

SimilarityFit fit_similarity(const SurfaceGrid& target, std::span<const double> points, std::span<const double> normals,
                             const RigidMotion& motion, const PairRule& rule, int steps) {
  SimilarityFit fit;
  RigidMotion scaled = motion;
  for (int step = 0; step <= steps; ++step) {
    const Vector3 centre = centre_of(points, scaled);
    Sums sums = accumulate(target, points, normals, scaled, fit.scale, rule, centre);
    if (sums.weights < 7.0) break;
    fit.weights = sums.weights;
    fit.variance = sums.squares / sums.weights;
    fit.information = left_of_scale(sums.information);
    if (step == steps || !solve_positive(sums.information, sums.slope)) break;
    scaled = moved(scaled, {sums.slope[0], sums.slope[1], sums.slope[2], sums.slope[3], sums.slope[4], sums.slope[5]},
                   centre);
    const double growth = std::clamp(1.0 + sums.slope[6], 0.9, 1.1);  // no leaps
    for (auto& row : scaled.rotation) {
      for (double& value : row) value *= growth;
    }
    for (std::size_t a = 0; a < 3; ++a)
      scaled.translation[a] = centre[a] + growth * (scaled.translation[a] - centre[a]);
    fit.scale *= growth;
    if (std::abs(growth - 1.0) < kSmallGrowth) step = std::max(step, steps - 1);  // only to be measured once more
  }
  return fit;
}

}  // namespace clipperplus::inline v0
