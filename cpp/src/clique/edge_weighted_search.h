// A clique of better value by exchange, where edges have weights: tabu search after Wu, Hao and Glover,
// "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
//
// A step adds the common neighbour that is joined to the clique best; if there is none it swaps in one that misses a
// single vertex, for the largest gain in weight; if there is none it drops the vertex that is joined least. What leaves
// may not return for some steps. Ties go to the lowest index; nothing is random. Only maximal cliques are compared: by
// one and the mean, over the vertices, of what joins them to the others.
//
// For every vertex its neighbours in the clique are counted, their indices added up (which names the one that is
// missed), and their weights: a step costs a degree and a pass over n counts.
#pragma once

#include <span>

#include "clique/edge_weighted_greedy.h"

namespace clipperplus::inline v0 {

// The best clique seen, at least as good as what the claim grows to: its vertices are taken in their order while they
// form a clique. Ends after `patience` steps without a better one.
EdgeWeightedClique edge_weighted_search(const Graph& graph, const EdgeWeights& weights,
                                        std::span<const std::int64_t> claim, std::size_t patience, Control& control);

}  // namespace clipperplus::inline v0
