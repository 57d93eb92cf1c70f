// All maximal cliques of more than a given size, each once.
//
// One subproblem a vertex v, as in search.h: its later neighbours are candidates, its earlier ones excluded, and
// simd/listing.inc.h lists what is left. Cliques come in the order of the search, on one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// Calls take(clique) for every maximal clique of more than `size` vertices; it may refuse further ones. If the caller
// knows that no clique has more than size + 1 vertices, `maximum` saves looking whether one can grow. Returns whether
// these were all: the deadline has not passed, and none was refused.
bool list_cliques(const Graph& ordered, std::size_t size, bool maximum,
                  const std::function<bool(std::span<const Vertex>)>& take, const simd::Kernels& kernels,
                  Control& control);

}  // namespace clipperplus::inline v0
