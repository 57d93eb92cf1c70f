#include "geometry/camera.h"

#include <cmath>

namespace clipperplus::inline v0 {

namespace {

constexpr double kLargest = 3.0;    // times epsilon: misses from here on count for nothing
constexpr double kSettled = 1e-10;  // a step, in radians and in parts of the distance

}  // namespace

SeenPoints::SeenPoints(std::span<const double> points, std::span<const double> places, PixelScale scale,
                       std::span<const std::uint32_t> order)
    : scale_(scale) {
  for (auto* values : {&x_, &y_, &z_, &u_, &v_}) values->reserve(order.size());
  for (const std::size_t i : order) {
    x_.push_back(points[3 * i]);
    y_.push_back(points[3 * i + 1]);
    z_.push_back(points[3 * i + 2]);
    u_.push_back(places[2 * i]);
    v_.push_back(places[2 * i + 1]);
  }
}

Vector3 SeenPoints::direction(std::size_t i) const {
  const double length = std::sqrt(u_[i] * u_[i] + v_[i] * v_[i] + 1.0);
  return {u_[i] / length, v_[i] / length, 1.0 / length};
}

// Calls visit(i, whether match i agrees), without a division.
template <class Visit>
void SeenPoints::visit(const RigidMotion& pose, double epsilon, std::size_t first, std::size_t last,
                       Visit visit) const {
  const auto& r = pose.rotation;
  const auto& t = pose.translation;
  const double limit = epsilon * epsilon, fx = scale_.fx, skew = scale_.skew, fy = scale_.fy;
  for (std::size_t i = first; i < last; ++i) {
    const double x = x_[i], y = y_[i], z = z_[i];
    const double depth = r[2][0] * x + r[2][1] * y + r[2][2] * z + t[2];
    const double a = r[0][0] * x + r[0][1] * y + r[0][2] * z + t[0] - depth * u_[i];
    const double b = r[1][0] * x + r[1][1] * y + r[1][2] * z + t[1] - depth * v_[i];
    const double across = fx * a + skew * b, down = fy * b;
    visit(i, (across * across + down * down < limit * (depth * depth)) & (depth > 0.0));
  }
}

std::size_t SeenPoints::count(const RigidMotion& pose, double epsilon, std::size_t first, std::size_t last) const {
  std::int64_t agreeing = 0;
  visit(pose, epsilon, first, last, [&](std::size_t, bool agrees) { agreeing += agrees ? 1 : 0; });
  return static_cast<std::size_t>(agreeing);
}

std::size_t SeenPoints::mark(const RigidMotion& pose, double epsilon, Word* bits) const {
  std::size_t agreeing = 0;
  visit(pose, epsilon, 0, size(), [&](std::size_t i, bool agrees) {
    if (agrees) set_bit(bits, i), ++agreeing;
  });
  return agreeing;
}

FittedCamera fit_camera(const SeenPoints& seen, const RigidMotion& start, double epsilon, Loss loss, int steps) {
  const double inverse = 1.0 / (epsilon * epsilon);
  const auto weight = [&](double squared_miss) {
    const double squares = squared_miss * inverse;
    if (loss == Loss::kTruncated) return squares < 1.0 ? 1.0 : 0.0;
    return squares < kLargest * kLargest ? 1.0 / ((1.0 + squares) * (1.0 + squares)) : 0.0;
  };
  FittedCamera fit{start, {}};
  for (int step = 0;; ++step) {
    fit.information = {};
    std::array<double, 6> gradient{};
    for (std::size_t i = 0; i < seen.size(); ++i) {
      seen.add_equations(fit.pose, i, weight, fit.information, gradient);
    }
    if (step == steps || !solve_positive(fit.information, gradient)) break;
    double distance = 0.0, turn = 0.0, shift = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      turn += gradient[k] * gradient[k];
      shift += gradient[3 + k] * gradient[3 + k];
      distance += fit.pose.translation[k] * fit.pose.translation[k];
    }
    if (!std::isfinite(turn + shift)) break;
    for (double& x : gradient) x = -x;
    fit.pose = moved(fit.pose, gradient, {});
    if (turn < kSettled * kSettled && shift < kSettled * kSettled * distance) steps = step + 1;
  }
  return fit;
}

}  // namespace clipperplus::inline v0
