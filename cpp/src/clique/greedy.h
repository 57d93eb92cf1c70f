// Algorithm 1 of CLIPPER+: the degeneracy-ordered greedy maximal clique (after Rossi et al., 2015).
//
// The graph comes relabelled so that core numbers do not increase with the index. From every vertex v whose core
// number allows a larger clique, a clique is grown by taking the lowest common neighbour again and again; the first
// largest one is returned. (The paper's listing starts the clique without v; its implementation, and this one, with.)
//
// A start stops as soon as its candidates cannot beat the best so far, which never changes the answer. Starts are
// independent but for that bound, so threads share them out; ties go to the lowest start, whatever the thread count.
//
// Complexity: a start costs |clique| · n/512 vector operations on bit rows (half of that on average, since words
// before the last vertex taken are empty), O(|clique| · degree) on CSR.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct GreedyResult {
  std::vector<Vertex> clique;
  std::size_t starts = 0;  // vertices from which a clique was grown
};

GreedyResult greedy_clique(const Graph& ordered, std::span<const Vertex> cores, std::size_t threads,
                           const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
