#include "ascent/relaxation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ascent/complement_sums.h"

namespace clipperplus {

namespace {

// A point of the ascent with everything that is known there.
struct Point {
  explicit Point(std::size_t padded) : u(padded, 0.0), y(padded, 0.0), gradient(padded, 0.0) {}
  AlignedVector<double> u, y, gradient;  // y = M̄ u; gradient = M_d u, projected on the tangent space at u
  double sum = 0.0;                      // of u
  double value = 0.0;                    // F(u) = u' M_d u
  std::size_t nonzeros = 0;
};

class Ascent {
 public:
  Ascent(const Graph& graph, const RelaxationOptions& options, const simd::Kernels& kernels, Control& control)
      : options_(options),
        kernels_(kernels),
        control_(control),
        n_(graph.num_vertices()),
        padded_(round_up(n_, simd::kBlock)),
        sums_(graph, kernels, control),
        current_(padded_),
        trial_(padded_) {}

  RelaxationResult run(std::span<const double> start) {
    power_step(start);
    raise_penalty(options_, control_, result_, [this] { climb(); }, [this] { return smallest_ratio(); });
    result_.u.assign(current_.u.begin(), current_.u.begin() + static_cast<std::ptrdiff_t>(n_));
    for (std::size_t i = 0; i < n_; ++i) {
      if (result_.u[i] > options_.epsilon) result_.support.push_back(static_cast<std::int64_t>(i));
    }
    std::stable_sort(result_.support.begin(), result_.support.end(), [this](std::int64_t a, std::int64_t b) {
      return result_.u[static_cast<std::size_t>(a)] > result_.u[static_cast<std::size_t>(b)];
    });
    return std::move(result_);
  }

 private:
  // u ← M u0, normalised.
  void power_step(std::span<const double> start) {
    const double largest = *std::max_element(start.begin(), start.end());
    std::transform(start.begin(), start.end(), trial_.u.begin(), [=](double x) { return x / largest; });
    rescale(trial_, 1.0);
    std::fill(trial_.u.begin(), trial_.u.end(), 0.0);
    for (std::size_t i = 0; i < n_; ++i) trial_.gradient[i] = trial_.sum - trial_.y[i];
    std::fill(trial_.gradient.begin() + static_cast<std::ptrdiff_t>(n_), trial_.gradient.end(), 0.0);
    move(trial_, 1.0, current_);
  }

  // target.u = (origin.u + alpha · origin.gradient), clipped at zero and normalised; with its sums y.
  void move(const Point& origin, double alpha, Point& target) {
    const double squared_norm = kernels_.step(origin.u.data(), origin.gradient.data(), alpha, padded_, target.u.data());
    rescale(target, 1.0 / std::sqrt(squared_norm));
  }

  void rescale(Point& point, double factor) {
    const auto scaled = kernels_.scale(point.u.data(), factor, padded_);
    point.sum = scaled.sum;
    point.nonzeros = scaled.nonzeros;
    sums_.compute(point.u.data(), point.sum, point.nonzeros, point.y.data());
  }

  // The smallest (M u)_i / (M̄ u)_i where both u_i and (M̄ u)_i are positive: raising d by it makes the smallest entry
  // that violates the clique constraint vanish. Absent once no entry does.
  std::optional<double> smallest_ratio() const {
    std::optional<double> smallest;
    for (std::size_t i = 0; i < n_; ++i) {
      const double y = current_.y[i];
      if (current_.u[i] > options_.epsilon && y > options_.epsilon) {
        const double ratio = std::abs((current_.sum - y) / y);
        if (!smallest || ratio < *smallest) smallest = ratio;
      }
    }
    return smallest;
  }

  // Gradient ascent for one d. The step size alpha_ carries over from one d to the next.
  void climb() {
    const double d = result_.d;
    current_.value =
        kernels_.gradient(current_.y.data(), current_.u.data(), current_.sum, d, padded_, current_.gradient.data());
    kernels_.project(current_.gradient.data(), current_.value, current_.u.data(), current_.u.data(), current_.u.data(),
                     padded_);
    for (int inner = 0; inner < options_.max_inner; ++inner) {
      double delta_value = 0.0;
      simd::AscentResult ascent{};
      for (int attempt = 0; attempt < options_.max_line_search && !control_.expired(); ++attempt) {
        move(current_, alpha_, trial_);
        trial_.value =
            kernels_.gradient(trial_.y.data(), trial_.u.data(), trial_.sum, d, padded_, trial_.gradient.data());
        ascent = kernels_.project(trial_.gradient.data(), trial_.value, trial_.u.data(), current_.u.data(),
                                  current_.gradient.data(), padded_);
        ++result_.evaluations;
        if (!std::isfinite(trial_.value)) return;
        delta_value = trial_.value - current_.value;
        if (delta_value >= options_.sigma * ascent.slope) {
          alpha_ /= std::sqrt(options_.beta);
          break;
        }
        alpha_ *= options_.beta;
      }
      alpha_ = std::clamp(alpha_, options_.min_alpha, options_.max_alpha);
      if (control_.stopped()) return;
      std::swap(current_, trial_);
      sums_.settle(current_.u.data(), current_.nonzeros);
      ++result_.inner_steps;
      if (std::sqrt(ascent.squared_delta) < options_.tol_u || std::abs(delta_value) < options_.tol_f) return;
    }
  }

  const RelaxationOptions& options_;
  const simd::Kernels& kernels_;
  Control& control_;
  std::size_t n_, padded_;
  ComplementSums sums_;
  Point current_, trial_;
  double alpha_ = 1.0;
  RelaxationResult result_;
};

}  // namespace

RelaxationResult relax(const Graph& graph, std::span<const double> start, const RelaxationOptions& options,
                       const simd::Kernels& kernels, Control& control) {
  return Ascent(graph, options, kernels, control).run(start);
}

}  // namespace clipperplus
