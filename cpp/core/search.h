// The maximum clique, proven: branch and bound over one subproblem a vertex.
//
// The graph comes ordered by decreasing core number. It is coloured once; a vertex whose colour is at most the size of
// the best clique needs no subproblem. The others are taken by decreasing colour: a subproblem is the graph on the
// neighbours of v that are not done yet, reordered by its own core numbers, pruned by them, and searched by
// simd/search.inc.h. What is left after a subproblem has one colour less once its colour is done, so the upper bound
// falls from the number of colours to the size of the clique while the search goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "control.h"
#include "graph.h"
#include "simd/kernels.h"

namespace clipperplus {

struct SearchResult {
  std::vector<Vertex> clique;   // larger than must_beat, or empty: there is none (or none was found in time)
  std::size_t upper_bound = 0;  // no clique is larger than the larger of this and must_beat
  std::uint64_t nodes = 0;
  bool complete = false;
};

SearchResult search_clique(const Graph& ordered, std::size_t must_beat, std::uint64_t node_limit,
                           const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus
