#include "clipperplus/consistency_graph.h"

#include "api/arguments.h"
#include "api/joining.h"
#include "consistency/consistency.h"

namespace clipperplus::inline v0 {

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
  Control control;
  return join_by_distance(problem, {.threads = options.threads}, *simd::available().front(), control);
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
