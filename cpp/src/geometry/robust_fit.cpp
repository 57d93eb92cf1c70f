#include "geometry/robust_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "geometry/fitting.h"

namespace clipperplus::inline v0 {

namespace {

constexpr double kLargest = 3.0;    // times ε: residuals from here on count for nothing
constexpr double kLookedAt = 10.0;  // times ε: what the first motion misses by more is not looked at
constexpr int kIterations = 10;
constexpr double kSettled = 1e-4;  // change of a weight: below it, the motion moves no more
constexpr std::size_t kLeast = 3;  // matches that determine a motion

std::vector<double> relative_residuals(const RigidMotion& motion, std::span<const double> source,
                                       std::span<const double> target, std::span<const double> epsilon) {
  std::vector<double> relative = residuals_of(motion, source, target);
  for (std::size_t k = 0; k < relative.size(); ++k) relative[k] /= epsilon[k];
  return relative;
}

double robust_weight(double relative) {
  if (!(relative < kLargest)) return 0.0;
  const double root = 1.0 + relative * relative;
  return 1.0 / (root * root);
}

// How many matches residuals explain: half of one that is left at ε.
double explained(std::span<const double> relative) {
  double sum = 0.0;
  for (const double r : relative) sum += r < kLargest ? 1.0 / (1.0 + r * r) : 0.0;
  return sum;
}

}  // namespace

std::vector<double> residuals_of(const RigidMotion& motion, std::span<const double> source,
                                 std::span<const double> target) {
  std::vector<double> lengths(source.size() / 3);
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    const Vector3 moved = motion.apply(&source[3 * k]);
    const Vector3 gap{moved[0] - target[3 * k], moved[1] - target[3 * k + 1], moved[2] - target[3 * k + 2]};
    lengths[k] = std::sqrt(dot(gap, gap));
  }
  return lengths;
}

RigidMotion refit_motion(std::span<const double> source, std::span<const double> target,
                         std::span<const double> epsilon, const RigidMotion& start) {
  const std::vector<double> at_first = relative_residuals(start, source, target, epsilon);
  std::vector<double> from, to, bounds;
  double tightest = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < at_first.size(); ++k) {
    if (!(at_first[k] < kLookedAt)) continue;
    from.insert(from.end(), &source[3 * k], &source[3 * k] + 3);
    to.insert(to.end(), &target[3 * k], &target[3 * k] + 3);
    bounds.push_back(epsilon[k]);
    tightest = std::min(tightest, epsilon[k]);
  }
  RigidMotion motion = start;
  std::vector<double> last(bounds.size(), 0.0), shares(bounds.size());
  for (int step = 0; step < kIterations; ++step) {
    std::vector<double> weights = relative_residuals(motion, from, to, bounds);
    std::transform(weights.begin(), weights.end(), weights.begin(), robust_weight);
    double change = 0.0;
    for (std::size_t k = 0; k < weights.size(); ++k) change = std::max(change, std::abs(weights[k] - last[k]));
    if (change < kSettled) break;
    const auto counting = std::count_if(weights.begin(), weights.end(), [](double weight) { return weight > 0.0; });
    if (static_cast<std::size_t>(counting) < kLeast) return start;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double share = tightest / bounds[k];
      shares[k] = share * share * weights[k];
    }
    motion = fit_motion(from, to, shares);
    last = std::move(weights);
  }
  const bool better = explained(relative_residuals(motion, source, target, epsilon)) >= explained(at_first);
  return better ? motion : start;
}

}  // namespace clipperplus::inline v0
