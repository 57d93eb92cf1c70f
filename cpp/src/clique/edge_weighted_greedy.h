// Algorithm 1 of CLIPPER+ for the weighted objective: the value of a clique is one and the mean, over its vertices, of
// what joins them to the others.
//
// Starts come in order of decreasing weighted core number. From each a clique is grown by the common neighbour that is
// joined to it best, ties to the lowest index, until there is none; the first of best value is returned. Not every
// start matters:
//   - Of the clique of best value C, value f, no vertex is joined to the others by less than (f - 1) / 2: without one
//     that is, the mean would not be lower. So neither is one in the subgraph C, and every vertex of C has a weighted
//     core number of at least (f - 1) / 2. The starts end with the first that falls below, for the best f so far.
//   - As no weight exceeds 1, a clique of k vertices has a value of at most k: a start gives up as soon as clique and
//     candidates together have no more vertices than the best value.
//   - A vertex of a clique that was grown before is no start: it would mostly lead to the same one. After eight
//     starts without a better clique there are no more: exchange and relaxation do the rest.
//
// A vertex that is taken costs its degree and, on CSR, the logarithm of a degree for each candidate.
#pragma once

#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "clique/edge_weighted_cores.h"

namespace clipperplus::inline v0 {

struct EdgeWeightedClique {
  std::vector<std::int64_t> vertices;  // sorted
  std::size_t steps = 0;               // starts, or moves
};

// What a weighted core number must reach for its vertex to matter, if cliques of this value are known; with a margin
// for the rounding errors of the core numbers.
double least_core(double value);

// `cores` has the weighted core number of every vertex; they do not increase with the index.
EdgeWeightedClique edge_weighted_greedy(const Graph& ordered, const EdgeWeights& weights, std::span<const double> cores,
                                        Control& control);

}  // namespace clipperplus::inline v0
