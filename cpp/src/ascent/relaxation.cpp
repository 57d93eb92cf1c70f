#include "ascent/relaxation.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ascent/lbfgs.h"
#include "ascent/objective.h"

namespace clipperplus::inline v0 {

namespace {

class Ascent {
 public:
  Ascent(const Graph& graph, const EdgeWeights* weights, const RelaxationOptions& options, const simd::Kernels& kernels,
         Control& control)
      : options_(options),
        control_(control),
        n_(graph.num_vertices()),
        objective_(graph, weights, kernels, control),
        current_(objective_.point()),
        trial_(objective_.point()) {
    if (options.optimiser == Optimiser::lbfgs) lbfgs_.emplace(objective_.padded());
  }

  RelaxationResult run(std::span<const double> start) {
    objective_.begin(start, trial_, current_);
    raise_penalty(
        options_.max_outer, control_, result_, [this] { climb(); },
        [this] { return objective_.smallest_ratio(current_, options_.epsilon); });
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
  // Ascent for one d. The step size alpha_ of the gradient carries over from one d to the next.
  void climb() {
    objective_.evaluate(current_, result_.d);
    objective_.project(current_, current_);
    for (int inner = 0; inner < options_.max_inner; ++inner) {
      if (!(lbfgs_ ? quasi_newton_step() : gradient_step() || std::isfinite(trial_.value))) return;
      if (control_.stopped()) return;
      if (lbfgs_) lbfgs_->learn(current_, trial_);
      std::swap(current_, trial_);
      objective_.settle(current_);
      ++result_.inner_steps;
      if (std::sqrt(travel_.squared_delta) < options_.tol_u || std::abs(gain_) < options_.tol_f) return;
    }
  }

  // Sets trial_ to a step along the gradient that gains enough. False if there is none: trial_ is then the last one
  // that was tried, with which the paper goes on.
  bool gradient_step() {
    bool enough = false;
    for (int attempt = 0; attempt < options_.max_line_search && !enough && !control_.expired(); ++attempt) {
      enough = gains_enough(current_.gradient, alpha_);
      if (!std::isfinite(trial_.value)) return false;
      alpha_ = enough ? alpha_ / std::sqrt(options_.beta) : alpha_ * options_.beta;
    }
    alpha_ = std::clamp(alpha_, options_.min_alpha, options_.max_alpha);
    return enough;
  }

  // The same along a direction with curvature, whose natural step size is 1: if that and a shorter one fail, along the
  // gradient. False at a point that cannot be left.
  bool quasi_newton_step() {
    constexpr int kTries = 2;
    if (lbfgs_->look_at(current_) <= options_.tol_u) return false;
    if (lbfgs_->make_direction(current_, result_.d)) {
      double alpha = 1.0;
      for (int attempt = 0; attempt < std::min(kTries, options_.max_line_search) && !control_.expired(); ++attempt) {
        if (gains_enough(lbfgs_->direction(), alpha) && gain_ >= 0.0) return true;
        alpha *= options_.beta;
      }
    }
    return gradient_step() && gain_ >= 0.0;
  }

  // Tries a step: the Armijo condition.
  bool gains_enough(const AlignedVector<double>& direction, double alpha) {
    objective_.move(current_, direction, alpha, trial_);
    objective_.evaluate(trial_, result_.d);
    travel_ = objective_.project(trial_, current_);
    ++result_.evaluations;
    gain_ = trial_.value - current_.value;
    return gain_ >= options_.sigma * travel_.slope;
  }

  const RelaxationOptions& options_;
  Control& control_;
  std::size_t n_;
  Objective objective_;
  AscentPoint current_, trial_;
  std::optional<Lbfgs> lbfgs_;
  double alpha_ = 1.0;
  double gain_ = 0.0;            // of the last try …
  simd::AscentResult travel_{};  // … and how far it went
  RelaxationResult result_;
};

}  // namespace

RelaxationResult relax(const Graph& graph, const EdgeWeights* weights, std::span<const double> start,
                       const RelaxationOptions& options, const simd::Kernels& kernels, Control& control) {
  return Ascent(graph, weights, options, kernels, control).run(start);
}

}  // namespace clipperplus::inline v0
