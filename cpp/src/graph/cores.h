// Core numbers and a degeneracy (smallest-last) order.
//
// The core number of v is the largest k such that v belongs to a subgraph whose degrees are all at least k. A vertex
// of a clique of size c has a core number of at least c - 1, so the largest core number plus one bounds the clique
// number. Both come from removing a vertex of least remaining degree again and again. Ties:
//   bits  (to 32 768 vertices) the vertex of least original degree, then of highest index, goes first. The smallest
//         key is searched in the pass that updates the degrees: n²/16 vector subtractions with the row as the mask,
//         faster than walking the edges from a density of about two per cent on. Careful ties pay: cliques grown
//         greedily in the reverse of this order reach 98.9 % of the maximum on the 60 real graphs of the benchmarks,
//         91 % where ties only follow the index.
//   csr   bucket order (Batagelj and Zaversnik, "An O(m) Algorithm for Cores Decomposition of Networks", 2003).
#pragma once

#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct Cores {
  std::vector<Vertex> numbers;     // by vertex
  std::vector<Vertex> degeneracy;  // order of removal: each vertex has at most `numbers` neighbours after it
};

// O(n²) bit operations for bits, O(n + m) for CSR. The deadline is not observed (there is no partial answer), the
// periodic check is.
Cores core_numbers(const Graph& graph, const simd::Kernels& kernels, Control& control);

// A graph relabelled along the reversed degeneracy order, so that core numbers do not increase with the index.
struct OrderedGraph {
  Graph graph;
  std::vector<Vertex> cores;  // by new index
  std::vector<Vertex> order;  // new index → old
};

OrderedGraph order_by_core(const Graph& graph, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
