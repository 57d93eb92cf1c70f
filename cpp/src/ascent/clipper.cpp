#include "ascent/clipper.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ascent/complement_sums.h"

namespace clipperplus::inline v0 {

namespace {

// A point of the ascent with everything that is known there.
struct Point {
  explicit Point(std::size_t padded) : u(padded, 0.0), m(padded, 0.0), y(padded, 0.0), gradient(padded, 0.0) {}
  AlignedVector<double> u, m, y, gradient;  // m = M u, y = M̄ u, gradient = m - d y
  double value = 0.0;                       // F(u) = u · gradient
};

class Ascent {
 public:
  Ascent(const Graph& graph, const EdgeWeights* weights, const ClipperOptions& options, const simd::Kernels& kernels,
         Control& control)
      : weights_(weights),
        options_(options),
        kernels_(kernels),
        control_(control),
        n_(graph.num_vertices()),
        padded_(round_up(n_, simd::kBlock)),
        sums_(graph, kernels, control),
        current_(padded_),
        trial_(padded_) {}

  ClipperResult run(std::span<const double> start) {
    power_step(start);
    raise_penalty(options_.max_outer, control_, result_, [this] { climb(); }, [this] { return mean_ratio(); });
    result_.u.assign(current_.u.begin(), current_.u.begin() + static_cast<std::ptrdiff_t>(n_));
    result_.value = current_.value;
    return std::move(result_);
  }

 private:
  // u ← M u0, normalised.
  void power_step(std::span<const double> start) {
    const double largest = *std::max_element(start.begin(), start.end());
    std::transform(start.begin(), start.end(), trial_.u.begin(), [=](double x) { return x / largest; });
    multiply(trial_, 1.0);
    std::copy_n(trial_.m.begin(), n_, current_.u.begin());
    double squares = 0.0;
    for (std::size_t i = 0; i < n_; ++i) squares += current_.u[i] * current_.u[i];
    multiply(current_, 1.0 / std::sqrt(squares));
  }

  // Scales u; computes m and y.
  void multiply(Point& point, double factor) {
    const auto [sum, nonzeros] = kernels_.scale(point.u.data(), factor, padded_);
    sums_.compute(point.u.data(), sum, nonzeros, point.y.data());
    nonzeros_ = nonzeros;
    if (weights_ == nullptr) {
      for (std::size_t i = 0; i < n_; ++i) point.m[i] = sum - point.y[i];
      return;
    }
    weights_->multiply(point.u.data(), point.m.data(), control_);
  }

  void evaluate(Point& point) const {
    point.value = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      point.gradient[i] = point.m[i] - result_.d * point.y[i];
      point.value += point.u[i] * point.gradient[i];
    }
  }

  // The mean (M u)_i / (M̄ u)_i where both u_i and (M̄ u)_i are positive. Absent once there is no such entry.
  std::optional<double> mean_ratio() const {
    double total = 0.0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      if (current_.u[i] <= options_.epsilon || current_.y[i] <= options_.epsilon) continue;
      total += std::abs(current_.m[i] / current_.y[i]);
      ++count;
    }
    return count == 0 ? std::nullopt : std::optional(total / static_cast<double>(count));
  }

  // Sets trial_ to the first step from current_ that does not lower F; false if there is none.
  bool step() {
    double alpha = 1.0;
    for (int attempt = 0; attempt < options_.max_line_search && !control_.expired();
         ++attempt, alpha *= options_.beta) {
      const double squared_norm =
          kernels_.step(current_.u.data(), current_.gradient.data(), alpha, padded_, trial_.u.data());
      if (squared_norm == 0.0) continue;
      multiply(trial_, 1.0 / std::sqrt(squared_norm));
      evaluate(trial_);
      if (trial_.value - current_.value >= -options_.epsilon) return true;
    }
    return false;
  }

  void climb() {
    evaluate(current_);
    for (int inner = 0; inner < options_.max_inner; ++inner) {
      if (!step()) return;
      std::swap(current_, trial_);
      sums_.settle(current_.u.data(), nonzeros_);
      ++result_.inner_steps;
      double squared_delta = 0.0;
      for (std::size_t i = 0; i < n_; ++i) {
        const double delta = current_.u[i] - trial_.u[i];
        squared_delta += delta * delta;
      }
      if (std::sqrt(squared_delta) < options_.tol_u || std::abs(current_.value - trial_.value) < options_.tol_f) return;
    }
  }

  const EdgeWeights* weights_;
  const ClipperOptions& options_;
  const simd::Kernels& kernels_;
  Control& control_;
  std::size_t n_, padded_;
  ComplementSums sums_;
  std::size_t nonzeros_ = 0;  // of the point that was multiplied last
  Point current_, trial_;
  ClipperResult result_;
};

}  // namespace

ClipperResult ascend_clipper(const Graph& graph, const EdgeWeights* weights, std::span<const double> start,
                             const ClipperOptions& options, const simd::Kernels& kernels, Control& control) {
  return Ascent(graph, weights, options, kernels, control).run(start);
}

}  // namespace clipperplus::inline v0
