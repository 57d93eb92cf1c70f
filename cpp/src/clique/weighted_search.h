// The heaviest clique, proven: branch and bound over one subproblem a vertex.
//
// The graph comes ordered by decreasing weighted core number. Its weights are covered once by independent sets
// (simd/weighted_search.inc.h): what is paid for by sets that weigh no more than the best clique needs no subproblem.
// The other vertices are taken from the last that was paid for to the first: a subproblem is the graph on the
// neighbours of v that come later in this order, so that the upper bound falls while the search goes on. In a graph
// that is too large for bits, core numbers stand for the cover: a vertex is searched with its neighbours of lower
// index, which are few, and no clique of these weighs more than its number.
//
// Threads take subproblems in turn. The weight of the answer cannot depend on that. Its vertices do not either: they
// are the first clique of that weight in the first subproblem that has one, found by a search of that alone.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct WeightedSearchOptions {
  std::uint64_t node_limit = ~std::uint64_t{0};  // a limit is for answers that can be repeated, so it means one thread
  std::size_t threads = 1;
};

struct WeightedSearchResult {
  std::vector<Vertex> clique;  // heavier than must_beat, or empty: there is none (or none was found in time)
  Weight upper_bound = 0;      // no clique is heavier than the larger of this and must_beat
  std::uint64_t nodes = 0;
  bool complete = false;
};

// Told, on the calling thread, of a heavier clique or a lower upper bound.
using OnWeight = std::function<void(Weight weight, Weight upper_bound)>;

// `cores` are the weighted core numbers of the ordered graph.
WeightedSearchResult search_weighted_clique(const Graph& ordered, std::span<const Weight> weights,
                                            std::span<const Weight> cores, Weight must_beat,
                                            const WeightedSearchOptions& options, const OnWeight& on_progress,
                                            const simd::Kernels& kernels, Control& control);

// For every vertex, what all sets weigh that were made until it was paid for: a clique of vertices for which this is at
// most t weighs at most t. Bit rows only. Nothing if time is up before.
std::vector<Weight> weighted_cover(const Graph& graph, std::span<const Weight> weights, const simd::Kernels& kernels,
                                   Control& control);

}  // namespace clipperplus::inline v0
