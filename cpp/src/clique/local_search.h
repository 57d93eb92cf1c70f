// A larger clique by tabu search: Wu, Hao and Glover, "Multi-neighborhood tabu search for the maximum weight clique
// problem", 2012, without weights.
//
// A step adds a vertex that is adjacent to the whole clique; if there is none it swaps in one that misses a single
// vertex; if there is none it drops one. What leaves may not return for a few steps; a run that finds nothing larger
// for a while starts anew elsewhere. For every vertex the number of clique vertices that it misses is kept up to date:
// a step costs n/32 vector operations. Random choices come from the seed, so the result depends on the arguments alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct LocalSearchResult {
  std::vector<Vertex> clique;  // the largest clique seen, at least the start
  std::size_t steps = 0;
};

struct LocalSearchOptions {
  std::size_t patience = 0;  // the search ends after so many steps without a larger clique …
  std::size_t target = 0;    // … or with a clique of this size
  std::uint64_t seed = 0;
};

// Bit rows only, at most 32 767 vertices. `start` is a clique.
LocalSearchResult local_search(const Graph& graph, std::span<const std::int64_t> start,
                               const LocalSearchOptions& options, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
