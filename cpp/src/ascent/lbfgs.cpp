#include "ascent/lbfgs.h"

#include <algorithm>
#include <cmath>

namespace clipperplus::inline v0 {

namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr std::size_t kSums = 4;  // at once: one alone would wait for every addition
  double sums[kSums] = {};
  std::size_t i = 0;
  for (; i + kSums <= a.size(); i += kSums) {
    for (std::size_t k = 0; k < kSums; ++k) sums[k] += a[i + k] * b[i + k];
  }
  for (; i < a.size(); ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add(std::vector<double>& a, double factor, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += factor * b[i];
}

}  // namespace

void Lbfgs::learn(const AscentPoint& from, const AscentPoint& to) {
  Step& step = steps_[learned_++ % kMemory];
  const std::size_t n = direction_.size();
  step.s.resize(n);
  step.m.resize(n);
  step.y.resize(n);
  const bool weighted = !to.m.empty();
  for (std::size_t i = 0; i < n; ++i) {
    step.s[i] = to.u[i] - from.u[i];
    step.y[i] = to.y[i] - from.y[i];
    step.m[i] = weighted ? to.m[i] - from.m[i] : (to.sum - from.sum) - step.y[i];
  }
}

// False for a step on the free entries of which F does not bend down.
bool Lbfgs::restrict_to_free(Step& step, double value, double d) const {
  constexpr double kLeastCurvature = 1e-10;
  step.free_s.resize(free_.size());
  step.free_z.resize(free_.size());
  for (std::size_t k = 0; k < free_.size(); ++k) {
    const std::size_t i = free_[k];
    step.free_s[k] = step.s[i];
    step.free_z[k] = value * step.s[i] - (step.m[i] - d * step.y[i]);
  }
  step.curvature = dot(step.free_s, step.free_z);
  return step.curvature > kLeastCurvature * std::sqrt(dot(step.free_s, step.free_s) * dot(step.free_z, step.free_z));
}

double Lbfgs::look_at(const AscentPoint& point) {
  free_.clear();
  q_.clear();
  for (std::size_t i = 0; i < direction_.size(); ++i) {
    if (point.u[i] == 0.0 && !(point.gradient[i] > 0.0)) continue;
    free_.push_back(i);
    q_.push_back(point.gradient[i]);
  }
  return std::sqrt(dot(q_, q_));
}

bool Lbfgs::make_direction(const AscentPoint& point, double d) {
  constexpr double kLeastCosine = 1e-3;  // between direction and gradient
  std::array<Step*, kMemory> used{};     // newest first
  std::size_t count = 0;
  const double squared_gradient = dot(q_, q_);
  for (std::size_t k = 0; k < std::min(learned_, kMemory); ++k) {
    Step& step = steps_[(learned_ - 1 - k) % kMemory];
    if (!restrict_to_free(step, point.value, d)) continue;
    used[count++] = &step;
    step.share = dot(step.free_s, q_) / step.curvature;
    add(q_, -step.share, step.free_z);
  }
  if (count == 0) return false;
  const double scale = used[0]->curvature / dot(used[0]->free_z, used[0]->free_z);
  for (double& x : q_) x *= scale;
  while (count-- > 0) {
    const Step& step = *used[count];
    add(q_, step.share - dot(step.free_z, q_) / step.curvature, step.free_s);
  }

  double along = 0.0, slope = 0.0;
  for (std::size_t k = 0; k < free_.size(); ++k) along += q_[k] * point.u[free_[k]];
  std::fill(direction_.begin(), direction_.end(), 0.0);
  for (std::size_t k = 0; k < free_.size(); ++k) {
    q_[k] -= along * point.u[free_[k]];
    direction_[free_[k]] = q_[k];
    slope += q_[k] * point.gradient[free_[k]];
  }
  const double least = kLeastCosine * std::sqrt(dot(q_, q_) * squared_gradient);
  return std::isfinite(slope) && slope > least;
}

}  // namespace clipperplus::inline v0
