// Which associations of points agree: a vertex for each, an edge for each pair that keeps its distance.
//
//   std::vector<std::array<double, 3>> source, target;  // point k of one is matched with point k of the other
//   const Graph graph = consistency_graph(source, target, {.epsilon = 0.05});
//   const Graph other = consistency_graph(source, target, {{0, 3}, {1, 2}, {2, 2}}, {.epsilon = 0.05});
//
// i and j agree where | |a_i - a_j| - |b_i - b_j| | < epsilon. The graph is exactly that of double precision, pairs on
// the threshold included, on whatever processor and number of threads. n^2 / 2 pairs, about a cycle each with AVX-512:
// seconds for 100 000 associations, minutes for 1 000 000. More are refused, and so is a graph that the machine has no
// room for.
#pragma once

#include <cstddef>
#include <vector>

#include "clipperplus/export.h"
#include "clipperplus/graph.h"
#include "clipperplus/views.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

struct ConsistencyOptions {
  double epsilon = 0.05;              // by how much the distances of a pair may differ, in the unit of the points, or
  std::vector<double> epsilons = {};  // one noise bound per association, of which a pair has the sum
  double min_distance = 0.0;          // pairs that are closer in one of the sets prove nothing, and are not joined
  bool one_to_one = true;             // whether associations that share a point contradict each other
  std::size_t min_clique_size = 0;    // associations that agree with too few others for such a clique lose their edges
  std::size_t threads = 1;            // the graph does not depend on it
};

// Point k of the source is associated with point k of the target. Points may be in the plane or in space. Wrong input
// throws std::invalid_argument.
CLIPPERPLUS_API Graph consistency_graph(const PointsView& source, const PointsView& target,
                                        const ConsistencyOptions& options = {});

// The same for pairs of a source and a target point.
CLIPPERPLUS_API Graph consistency_graph(const PointsView& source, const PointsView& target,
                                        const Associations& associations, const ConsistencyOptions& options = {});

// For {}, which could be associations, too.
inline Graph consistency_graph(const PointsView& source, const PointsView& target, detail::Nothing) {
  return consistency_graph(source, target, ConsistencyOptions());
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
