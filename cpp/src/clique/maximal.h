// The last step of every method: whatever it claims is made a maximal clique of the graph.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

struct MaximalClique {
  std::vector<Vertex> vertices;  // sorted
  std::size_t removed = 0;       // named, but not adjacent to all named before (or named twice)
  std::size_t added = 0;         // not named, but adjacent to all the others
};

// Takes the vertices of `claim` in their order while they form a clique, then grows it, lowest index first. The first
// `named` of them are what the method says is a clique, the others in which order to grow it. The deadline is not
// observed (the answer must be valid), the periodic check is. O(|clique| · n/64) words on bits, sum of degrees on CSR.
MaximalClique make_maximal(const Graph& graph, std::span<const std::int64_t> claim, std::size_t named,
                           Control& control);

}  // namespace clipperplus::inline v0
