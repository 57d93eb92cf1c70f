#include "clipperplus/solve.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "api/arguments.h"
#include "api/joining.h"
#include "clouds/hypotheses.h"
#include "geometry/fitting.h"
#include "geometry/robust_fit.h"
#include "words.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

namespace {

constexpr std::size_t kLeast = 3;                  // matches that determine a motion
constexpr double kApart = 3.0;                     // times ε: motions that lay the points closer than this are the same
constexpr double kSmallPatch = 2.0;                // times ε: turns about an axis that is no farther are not determined
constexpr double kRival = 0.9;                     // share of the agreeing matches that makes an answer ambiguous
constexpr std::size_t kMostStarts = 3000;          // matches from which another clique is grown, and …
constexpr std::uint64_t kMostSteps = 100'000'000;  // … comparisons that this may take, else there are fewer starts

// A power of two in the caller's unit of length, in which the largest coordinate is about 1: squares of what is in the
// caller's may be too small, or too large. No digit changes, and no bound vanishes or gets infinite.
struct Unit {
  int exponent = 0;

  Unit(const api::Matches& matches, const ConsistencyOptions& options) {
    constexpr int kRange = 1000;
    double largest = 0.0, least_bound = options.epsilon, largest_bound = options.epsilon;
    for (const auto* points : {&matches.source, &matches.target}) {
      for (const double value : points->coordinates) largest = std::max(largest, std::abs(value));
    }
    if (!options.epsilons.empty()) {
      const auto [least, most] = std::minmax_element(options.epsilons.begin(), options.epsilons.end());
      std::tie(least_bound, largest_bound) = std::pair(*least, *most);
    }
    const int low = exponent_of(largest_bound) - kRange, high = exponent_of(least_bound) + kRange;
    if (low <= high) exponent = std::clamp(exponent_of(largest), low, high);
  }

  double to_callers(double length) const { return std::ldexp(length, exponent); }
  void scale(double& length) const { length = std::ldexp(length, -exponent); }
  void scale(std::vector<double>& lengths) const {
    for (double& length : lengths) scale(length);
  }

 private:
  static int exponent_of(double value) {
    int exponent = 0;
    std::frexp(value, &exponent);
    return exponent;
  }
};

// The matched points, association by association.
struct Matched {
  std::vector<double> source, target, bounds;  // bounds: of a pair of such associations
  double bound = 0.0;                          // of a typical pair

  Matched(const api::Matches& matches, const ConsistencyOptions& options) : bounds(matches.count, options.epsilon) {
    for (std::size_t k = 0; k < matches.count; ++k) {
      const auto number = [&](std::size_t side) {
        return matches.pairs.empty() ? k : static_cast<std::size_t>(matches.pairs[2 * k + side]);
      };
      const double *from = &matches.source.coordinates[3 * number(0)], *to = &matches.target.coordinates[3 * number(1)];
      source.insert(source.end(), from, from + 3);
      target.insert(target.end(), to, to + 3);
    }
    bound = options.epsilon;
    if (options.epsilons.empty()) return;
    std::transform(options.epsilons.begin(), options.epsilons.end(), bounds.begin(), [](double e) { return 2.0 * e; });
    std::vector<double> sorted = bounds;
    std::sort(sorted.begin(), sorted.end());
    const std::size_t half = sorted.size() / 2;
    bound = sorted.size() % 2 == 1 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
  }
};

// The same of a clique, and its fit.
struct CliqueFit {
  std::vector<double> source, target;
  RigidMotion motion;

  CliqueFit(const Matched& matched, std::span<const Vertex> clique) {
    std::vector<double> weights;
    for (const Vertex v : clique) {
      const auto k = static_cast<std::size_t>(v);
      source.insert(source.end(), &matched.source[3 * k], &matched.source[3 * k] + 3);
      target.insert(target.end(), &matched.target[3 * k], &matched.target[3 * k] + 3);
      weights.push_back(std::pow(matched.bound / matched.bounds[k], 2.0));
    }
    motion = fit_motion(source, target, weights);
  }

  // Axes from which the points are not farther than `least`, root mean square.
  std::vector<Vector3> weak_axes(double least) const {
    const double count = static_cast<double>(source.size() / 3);
    Vector3 mean{};
    for (std::size_t k = 0; k < source.size(); ++k) mean[k % 3] += source[k] / count;
    Matrix<3> squares{}, resistance{};
    for (std::size_t k = 0; k < source.size(); k += 3) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          squares[a][b] += (source[k + a] - mean[a]) * (source[k + b] - mean[b]) / count;
        }
      }
    }
    const double trace = squares[0][0] + squares[1][1] + squares[2][2];
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) resistance[a][b] = (a == b ? trace : 0.0) - squares[a][b];
    }
    const auto [values, vectors] = decompose_symmetric(resistance);
    std::vector<Vector3> weak;
    for (std::size_t k = 0; k < 3; ++k) {
      if (std::sqrt(std::max(values[k], 0.0)) < least) weak.push_back(vectors[k]);
    }
    return weak;
  }
};

RigidTransform as_transform(const RigidMotion& motion, const Unit& unit) {
  RigidTransform result;
  for (std::size_t a = 0; a < 3; ++a) {
    std::copy(motion.rotation[a].begin(), motion.rotation[a].end(), &result.matrix[4 * a]);
    result.matrix[4 * a + 3] = unit.to_callers(motion.translation[a]);
  }
  const auto finite = [](double value) { return std::isfinite(value); };
  if (!std::all_of(result.matrix.begin(), result.matrix.end(), finite)) {
    refuse("source, target: the points are too far from the origin for a translation between them");
  }
  return result;
}

// Associations from which other cliques are grown: what grows from a member of the clique would most likely be the
// same.
std::vector<Vertex> starts_outside(const Graph& graph, std::span<const Vertex> clique, const simd::Kernels& kernels) {
  const std::vector<Vertex> degrees = graph.degrees(kernels);
  std::vector<Vertex> outside;
  std::uint64_t steps = 0;
  for (std::size_t v = 0; v < degrees.size(); ++v) {
    if (std::binary_search(clique.begin(), clique.end(), static_cast<Vertex>(v))) continue;
    outside.push_back(static_cast<Vertex>(v));
    steps += static_cast<std::uint64_t>(degrees[v]) * static_cast<std::uint64_t>(degrees[v]);
  }
  const auto ceil_of = [](std::uint64_t a, std::uint64_t b) { return static_cast<std::size_t>((a + b - 1) / b); };
  const std::size_t every =
      std::max({ceil_of(outside.size(), kMostStarts), ceil_of(steps, kMostSteps), std::size_t{1}});
  std::vector<Vertex> starts;
  for (std::size_t k = 0; k < outside.size(); k += every) starts.push_back(outside[k]);
  return starts;
}

std::vector<Alternative> find_alternatives(const Solution& found, const Matched& matched, const Unit& unit,
                                           const SolveOptions& options) {
  const simd::Kernels& kernels = *simd::available().front();
  Control control;
  const HypothesisOptions wanted{.most = std::max<std::size_t>(1, options.max_alternatives) + 1,
                                 .least_size = kLeast,
                                 .apart = kApart * matched.bound,
                                 .threads = options.clique.threads,
                                 .model = {}};
  const auto starts = starts_outside(found.graph, found.inliers, kernels);
  const auto guesses =
      find_hypotheses(found.graph, matched.source, matched.target, found.inliers, starts, wanted, kernels, control);
  std::vector<Alternative> others;
  for (std::size_t k = 1; k < guesses.size(); ++k) {  // the first is the answer
    const double score = static_cast<double>(guesses[k].clique.size()) / static_cast<double>(found.inliers.size());
    others.push_back({as_transform(guesses[k].motion, unit), guesses[k].clique, score});
  }
  return others;
}

Solution solve_matches(api::Matches matches, const SolveOptions& options) {
  api::check_integer("max_alternatives", options.max_alternatives, 0, 1000);
  api::check_integer("threads", options.clique.threads, 1, 1024);
  if (!options.clique.vertex_weights.empty()) refuse("vertex_weights: solve counts matches, and takes no weights");
  Solution found;
  ConsistencyOptions joined;
  joined.epsilon = options.epsilon;
  joined.epsilons = options.epsilons;
  joined.threads = options.clique.threads;
  api::check_epsilon(joined.epsilon, joined.epsilons, matches.count);
  const Unit unit(matches, joined);
  for (auto* points : {&matches.source, &matches.target}) unit.scale(points->coordinates);
  unit.scale(joined.epsilon);
  unit.scale(joined.epsilons);
  found.graph = api::join(matches, joined);
  found.clique = find_clique(found.graph, options.clique);
  if (found.clique.size() < kLeast) return found;

  found.inliers = found.clique.vertices;
  const Matched matched(matches, joined);
  const CliqueFit fit(matched, found.inliers);
  const std::vector<Vector3> weak = fit.weak_axes(kSmallPatch * matched.bound);
  // Where the clique leaves something open, others would settle it by chance.
  const RigidMotion motion =
      weak.empty() ? refit_motion(matched.source, matched.target, matched.bounds, fit.motion) : fit.motion;
  found.T_target_source = as_transform(motion, unit);
  found.residuals = residuals_of(motion, matched.source, matched.target);
  for (double& residual : found.residuals) residual = unit.to_callers(residual);
  for (const Vector3& axis : weak) found.degenerate_axes.push_back(motion.turn(axis.data()));
  found.alternatives = find_alternatives(found, matched, unit, options);
  const bool has_rival = !found.alternatives.empty() && found.alternatives.front().score >= kRival;
  found.status = !weak.empty() ? Status::Degenerate : has_rival ? Status::Ambiguous : Status::Found;
  found.alternatives.resize(std::min(found.alternatives.size(), options.max_alternatives));
  return found;
}

}  // namespace

Solution solve(const PointsView& source, const PointsView& target, const SolveOptions& options) {
  return solve_matches(api::read_matches(source, target, nullptr, false), options);
}

Solution solve(const PointsView& source, const PointsView& target, const Associations& associations,
               const SolveOptions& options) {
  return solve_matches(api::read_matches(source, target, &associations, false), options);
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
