// The maximum clique, proven: branch and bound over one subproblem a vertex.
//
// The graph comes ordered by decreasing core number. It is coloured once; a vertex whose colour is at most the size of
// the best clique needs no subproblem. The others are taken by decreasing colour: a subproblem is the graph on the
// neighbours of v that come later in this order, reordered by its own core numbers, pruned by them, and searched by
// simd/search.inc.h. Once all vertices of a colour are done, what is left has one colour less: the upper bound falls
// from the number of colours to the size of the clique while the search goes on.
//
// Threads take subproblems in turn; a thread that finds none left is given nodes by those that still work. The size of
// the answer cannot depend on that. Its vertices do not either: they are the first clique of that size in the first
// subproblem that has one, found by a search of that subproblem alone where the threads have not done just that.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct BranchOptions {
  std::uint64_t node_limit = ~std::uint64_t{0};  // a limit is for answers that can be repeated, so it means one thread
  std::size_t threads = 1;
  bool recolour = true, propagate = true;  // what the bound does besides colouring
};

struct SearchResult {
  std::vector<Vertex> clique;   // larger than must_beat, or empty: there is none (or none was found in time)
  std::size_t upper_bound = 0;  // no clique is larger than the larger of this and must_beat
  std::uint64_t nodes = 0;
  bool complete = false;
};

// Told, on the calling thread, of a larger clique (its size) or a lower upper bound.
using OnProgress = std::function<void(std::size_t size, std::size_t upper_bound)>;

SearchResult search_clique(const Graph& ordered, std::size_t must_beat, const BranchOptions& options,
                           const OnProgress& on_progress, const simd::Kernels& kernels, Control& control);

// The smallest t from `low` to `high` for which the bound of a single node proves that no clique has more than t
// vertices, or close to it; `high` is known to be one.
std::size_t bound_at_root(const Graph& graph, std::size_t low, std::size_t high, const BranchOptions& options,
                          const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
