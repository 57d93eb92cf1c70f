// A heavier clique by tabu search: Wu, Hao and Glover, "Multi-neighborhood tabu search for the maximum weight clique
// problem", 2012.
//
// A step is the one that gains the most, or loses the least, of three kinds: to add a vertex that is adjacent to the
// whole clique, to swap in one that misses a single vertex, to drop one. What leaves may not return for a few steps; a
// run that finds nothing heavier for a while starts anew elsewhere. Random choices, among steps that gain the same,
// come from the seed, so the result depends on the arguments alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct WeightedLocalSearchResult {
  std::vector<Vertex> clique;  // the heaviest clique seen, at least the start
  std::size_t steps = 0;
};

struct WeightedLocalSearchOptions {
  std::size_t patience = 0;  // the search ends after so many steps without a heavier clique …
  Weight target = 0;         // … or with a clique of this weight
  std::uint64_t seed = 0;
};

// Bit rows only, at most 32 767 vertices. `start` is a clique.
WeightedLocalSearchResult weighted_local_search(const Graph& graph, std::span<const Weight> weights,
                                                std::span<const std::int64_t> start,
                                                const WeightedLocalSearchOptions& options, const simd::Kernels& kernels,
                                                Control& control);

}  // namespace clipperplus::inline v0
