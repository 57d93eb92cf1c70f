// The part of a graph in which a larger clique lies, ordered by decreasing core number.
#pragma once

#include <vector>

#include "clique/core_order.h"

namespace clipperplus::inline v0 {

struct Kernel {
  Graph graph;
  std::vector<Vertex> vertices;  // of the input graph, by index in the kernel
};

// The part that core numbers leave for cliques of more than `size` vertices.
Kernel take_kernel(CoreOrder& ordered, std::size_t size);

// Drops what cannot belong to a clique of more than `size` vertices.
Kernel reduce_kernel(Kernel kernel, std::size_t size, const SearchState& state);

}  // namespace clipperplus::inline v0
