// Weighted core numbers, and the order that they come from.
//
// The weighted core number of v is the largest k such that v belongs to a subgraph in which every vertex weighs at
// least k together with its neighbours. A clique of weight k is such a subgraph, so no clique of a vertex weighs more
// than its number. With a weight of 1 each it is the core number plus one.
//
// A vertex that weighs least with its neighbours is removed again and again, of several the one of the highest index:
// O((n + m) log n), and 32 bytes a vertex.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// A graph relabelled so that weighted core numbers do not increase with the index.
struct WeightedOrder {
  Graph graph;
  std::vector<Weight> cores;  // by new index
  std::vector<Vertex> order;  // new index → old
};

// `weights` are at least 0. The deadline is not observed, the periodic check is.
WeightedOrder order_by_weighted_core(const Graph& graph, std::span<const Weight> weights, const simd::Kernels& kernels,
                                     Control& control);

}  // namespace clipperplus::inline v0
