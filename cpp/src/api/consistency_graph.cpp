#include "clipperplus/consistency_graph.h"

#include <algorithm>

#include "api/arguments.h"
#include "api/joining.h"
#include "consistency/consistency.h"
#include "machine.h"
#include "words.h"

namespace clipperplus::inline v0 {

namespace {

// Associations whose graph, of at most 512 MiB, any machine has room for.
constexpr std::size_t kSurelyFits = std::size_t{1} << 16;

// Refuses associations whose graph the machine has no room for, in either form. How many edges those lose that agree
// with too few others is not known before; rows get shorter by that, bits do not.
void check_graph_fits(const DistanceProblem& problem, const simd::Kernels& kernels) {
  constexpr double kAsBits = 1.0 / 64.0;  // from this share of the edges on, graphs are bits
  const double density = sampled_density(problem, kernels);
  if (problem.clique_size > 1 && density < kAsBits) return;
  const double pairs = static_cast<double>(problem.count) * static_cast<double>(problem.count);
  const double bytes = pairs * std::min(1.0 / 8.0, 4.0 * density);
  check_fits(words_of("associations: the graph of ", problem.count, " of them takes"), static_cast<std::size_t>(bytes));
}

}  // namespace

Graph api::join(const Matches& matches, const ConsistencyOptions& options) {
  check_number("min_distance", options.min_distance, false);
  check_epsilon(options.epsilon, options.epsilons, matches.count);
  check_integer("threads", options.threads, 1, 1024);
  check_integer("min_clique_size", options.min_clique_size, 0, std::int64_t{1} << 31);
  const DistanceProblem problem{
      .dimension = matches.source.dimension,
      .source = matches.source.coordinates,
      .target = matches.target.coordinates,
      .associations = matches.pairs,
      .count = matches.count,
      .epsilon = options.epsilon,
      .epsilons = options.epsilons,
      .min_distance = options.min_distance,
      .one_to_one = options.one_to_one,
      .offsets = {},
      .clique_size = options.min_clique_size,
  };
  const simd::Kernels& kernels = *simd::available().front();
  if (problem.count > kSurelyFits) check_graph_fits(problem, kernels);
  Control control;
  return join_by_distance(problem, {.threads = options.threads}, kernels, control);
}

}  // namespace clipperplus::inline v0

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

namespace {

Graph join(const PointsView& source, const PointsView& target, const Associations* associations,
           const ConsistencyOptions& options) {
  return api::join(api::read_matches(source, target, associations, true), options);
}

}  // namespace

Graph consistency_graph(const PointsView& source, const PointsView& target, const ConsistencyOptions& options) {
  return join(source, target, nullptr, options);
}

Graph consistency_graph(const PointsView& source, const PointsView& target, const Associations& associations,
                        const ConsistencyOptions& options) {
  return join(source, target, &associations, options);
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
