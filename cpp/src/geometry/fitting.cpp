#include "geometry/fitting.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace clipperplus::inline v0 {

namespace {

// A power of two near the largest value.
double unit_of(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  int exponent = 0;
  std::frexp(largest, &exponent);
  return std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
}

// The centre of points, and where they are around it in a unit of their own.
struct Centred {
  Vector3 centre;
  std::vector<double> around;

  Centred(std::span<const double> points, std::span<const double> shares) : around(points.begin(), points.end()) {
    const double unit = unit_of(points);
    const auto heaviest = static_cast<std::size_t>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    Vector3 origin, offset{};
    for (std::size_t a = 0; a < 3; ++a) origin[a] = points[3 * heaviest + a] / unit;
    for (std::size_t k = 0; k < around.size(); ++k) {
      around[k] = around[k] / unit - origin[k % 3];  // exactly zero for points at one place
      offset[k % 3] += shares[k / 3] * around[k];
    }
    for (std::size_t k = 0; k < around.size(); ++k) around[k] -= offset[k % 3];
    for (std::size_t a = 0; a < 3; ++a) centre[a] = (origin[a] + offset[a]) * unit;
    const double spread = unit_of(around);
    for (double& value : around) value /= spread;
  }
};

std::vector<double> shares_of(std::span<const double> weights, std::size_t count) {
  std::vector<double> shares(count, 1.0);
  if (!weights.empty()) {
    const double unit = unit_of(weights);
    std::transform(weights.begin(), weights.end(), shares.begin(), [unit](double weight) { return weight / unit; });
  }
  double sum = 0.0;
  for (const double share : shares) sum += share;
  for (double& share : shares) share /= sum;
  return shares;
}

// The best turn of all, by the sums of products of coordinates.
Matrix<3> best_turn(const Matrix<3>& s) {
  const Matrix<4> n{{{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                     {0.0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                     {0.0, 0.0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                     {0.0, 0.0, 0.0, s[2][2] - s[0][0] - s[1][1]}}};
  const auto [values, vectors] = decompose_symmetric(n);
  return values[3] > 0.0 ? rotation_of(vectors[3])  // else all points of a cloud are at one place
                         : RigidMotion{}.rotation;
}

// The best one about an axis: of what is across it, the sums of products and of cross products are cosine and sine.
Matrix<3> best_turn_about(const Vector3& axis, const Matrix<3>& s) {
  const Vector3 crossed{s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]};
  double along = 0.0;
  for (std::size_t a = 0; a < 3; ++a) along += axis[a] * dot(s[a], axis);
  const double angle = std::atan2(dot(axis, crossed), s[0][0] + s[1][1] + s[2][2] - along);
  const double c = std::cos(angle), d = std::sin(angle);
  const auto [x, y, z] = axis;
  Matrix<3> turn{{{c, -d * z, d * y}, {d * z, c, -d * x}, {-d * y, d * x, c}}};
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) turn[a][b] += (1.0 - c) * axis[a] * axis[b];
  }
  return turn;
}

}  // namespace

RigidMotion fit_motion(std::span<const double> source, std::span<const double> target, std::span<const double> weights,
                       const MotionModel& model) {
  const std::vector<double> shares = shares_of(weights, source.size() / 3);
  const Centred from(source, shares), to(target, shares);
  Matrix<3> s{};
  for (std::size_t k = 0; k < source.size(); k += 3) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) s[a][b] += shares[k / 3] * from.around[k + a] * to.around[k + b];
    }
  }
  RigidMotion motion;
  if (model.turns == MotionModel::Turns::kAny) motion.rotation = best_turn(s);
  if (model.turns == MotionModel::Turns::kAboutUp) motion.rotation = best_turn_about(model.up, s);
  const Vector3 turned = motion.turn(from.centre.data());
  for (std::size_t a = 0; a < 3; ++a) motion.translation[a] = to.centre[a] - turned[a];
  if (model.level) {
    const double height = dot(model.up, motion.translation);
    for (std::size_t a = 0; a < 3; ++a) motion.translation[a] -= height * model.up[a];
  }
  return motion;
}

}  // namespace clipperplus::inline v0
