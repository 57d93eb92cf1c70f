// Core numbers where edges have weights: the weighted core number of v is the largest t such that v belongs to a
// subgraph in which every vertex is joined to the others by a total weight of at least t.
//
// A vertex of least remaining weight is removed again and again; among equals the highest index goes first. A
// tournament tree over what remains of each vertex names the next one: a removal costs a look at 32 nodes a level, and
// the loss of an edge climbs only as far as it changes the least of a subtree, which is seldom. O(entries + n log n).
#pragma once

#include <vector>

#include "ascent/edge_weights.h"
#include "clipperplus/control.h"

namespace clipperplus::inline v0 {

struct EdgeWeightedCores {
  std::vector<double> numbers;  // in the order, not increasing
  std::vector<Vertex> order;    // reversed order of removal
};

// The deadline is not observed (there is no partial answer), the periodic check is.
EdgeWeightedCores edge_weighted_cores(const EdgeWeights& weights, Control& control);

}  // namespace clipperplus::inline v0
