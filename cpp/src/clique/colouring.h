// Greedy colouring: neighbours get different colours, so the number of colours bounds the clique number.
//
// Colour classes are built one after another, each from the uncoloured vertices in index order: the same colouring as
// first-fit in that order. With vertices ordered by decreasing core number it uses at most degeneracy + 1 colours.
// Every vertex is taken once, at n/512 vector operations on bit rows or its degree on CSR: O(n²/512) and O(n + m).
#pragma once

#include <optional>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// The colour of every vertex, counted from 0; absent if the deadline passed before every vertex had its colour.
std::optional<std::vector<Vertex>> colour_vertices(const Graph& graph, const simd::Kernels& kernels, Control& control);

// The number of colours, likewise.
std::optional<std::size_t> greedy_colours(const Graph& graph, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
