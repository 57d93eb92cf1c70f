// What cannot belong to a clique larger than a given one is taken out of the graph.
//
// An edge of a clique of more than s vertices has at least s - 1 common neighbours of its ends, and a vertex at least s
// neighbours. Weak edges and vertices are dropped in rounds, until a round drops less than a hundredth of the edges;
// each round looks only at edges next to a change.
//
// A round goes from the last vertex to the first: with the graph ordered by core number, few neighbours are left by
// the time a vertex comes up, and it falls as soon as fewer than s of them hold. That takes (core number - s) tests a
// vertex where looking at all edges takes (degree / 2); a test reads n/512 vectors at most.
// Graphs in CSR lose whole vertices only, until what is left is small enough for bit rows.
#pragma once

#include <vector>

#include "control.h"
#include "graph.h"
#include "simd/kernels.h"

namespace clipperplus {

struct Reduction {
  Graph graph;                   // on the kept vertices, relabelled
  std::vector<Vertex> vertices;  // kept ones, increasing: new index → old
};

// The deadline ends the rounds early: the graph is then larger than it need be, never too small.
Reduction reduce(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus
