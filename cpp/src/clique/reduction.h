// What cannot belong to a clique larger than a given one is taken out of the graph.
//
// A vertex of a clique of more than s vertices sees at least s colours of any colouring (colour_degrees.h): that takes
// away most, for a few cycles an edge. The graph that is left may need fewer colours; it is tried again while it pays.
// Then edges: one of such a clique has at least s - 1 common neighbours of its ends, and a vertex at least s edges.
// Weak edges and vertices are dropped in rounds, until a round drops less than a hundredth of the edges; each round
// looks only at edges next to a change.
//
// Edges are tested in blocks: those between 512 vertices and all lower ones, from the last block to the first, so that
// with the graph ordered by core number weak vertices fall first. The rows of a block stay in the second-level cache
// while each other row is read once; tests of a block run on all threads and what they find is applied afterwards, so
// the result does not depend on their number. Cost: n/512 vector operations a test, see simd/weak_edges.inc.h.
// Edges are not tested in CSR: what is left after the colours is that large only where a search is out of reach.
#pragma once

#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct Reduction {
  Graph graph;                   // on the kept vertices, relabelled
  std::vector<Vertex> vertices;  // kept ones, increasing: new index → old
};

// The deadline ends the rounds early: the graph is then larger than it need be, never too small.
Reduction reduce(Graph graph, std::size_t size, std::size_t threads, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
