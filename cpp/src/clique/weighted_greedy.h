// Algorithm 1 of CLIPPER+ with weights: from every vertex whose weighted core number allows a heavier clique, one is
// grown by taking the common neighbour of the highest number again and again; the first heaviest is returned.
//
// The graph comes relabelled so that weighted core numbers do not increase with the index. A start stops as soon as its
// candidates together cannot beat the best so far, which never changes the answer.
//
// Complexity: a start costs |clique| · (n/64 + candidates) on bit rows, O(|clique| · degree) on CSR.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

struct WeightedGreedyResult {
  std::vector<Vertex> clique;
  std::size_t starts = 0;  // vertices from which a clique was grown
};

WeightedGreedyResult weighted_greedy_clique(const Graph& ordered, std::span<const Weight> weights,
                                            std::span<const Weight> cores, Control& control);

}  // namespace clipperplus::inline v0
