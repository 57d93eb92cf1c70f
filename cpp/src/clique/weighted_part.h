// Where vertices have weights: the part of the graph in which a heavier clique lies, in order of decreasing weighted
// core number, and the bounds and the clique that come from that order.
#pragma once

#include <memory>
#include <vector>

#include "clique/search_state.h"

namespace clipperplus::inline v0 {

struct WeightedPart {
  std::shared_ptr<const Graph> graph;  // a part that keeps all vertices keeps the graph
  std::vector<Weight> cores, weights;  // weighted core numbers, which do not increase, and what the vertices weigh
  std::vector<Vertex> vertices;        // of the input graph, by index in the part

  std::size_t size() const { return vertices.size(); }
  // The part in which a clique heavier than this lies: a prefix, which keeps its labels.
  WeightedPart prune(Weight weight, const SearchState& state) const;
};

// All of the searched graph in that order.
WeightedPart order_by_weighted_core(SearchState& state);

// No clique is heavier than the first weighted core number.
void bound_by_cores(SearchState& state, const WeightedPart& ordered);

// Algorithm 1 with weighted core numbers.
void grow_greedily(SearchState& state, const WeightedPart& ordered);

// Covers the part of the graph in which a heavier clique would lie by independent sets.
void bound_by_cover(SearchState& state, const WeightedPart& ordered);

}  // namespace clipperplus::inline v0
