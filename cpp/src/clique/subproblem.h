// The subproblem of a vertex, and memory to work on it: what search.cpp and listing.cpp share.
//
// A clique with v is v and a clique of its neighbours. The graph on these is reordered by its own core numbers and cut
// to those that a clique of the size in demand needs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct Subproblem {
  Graph graph;                   // on the candidates
  std::vector<Vertex> vertices;  // local index → vertex of the whole graph
  std::size_t largest = 0;       // no clique of it is larger
};

// The graph on `candidates` (increasing), without those that cannot belong to a clique of more than `must_beat` of
// them. It may be empty, and it may be CSR.
Subproblem make_subproblem(const Graph& graph, std::span<const Vertex> candidates, std::size_t must_beat,
                           const simd::Kernels& kernels, Control& control);

// Scratch space of one thread; kept from task to task.
class TaskMemory {
 public:
  // A task on a graph of bit rows that starts with `size` vertices given and cliques of at most `largest`; the sets of
  // its first level are zero.
  simd::CliqueTask prepare(const Graph& graph, std::size_t size, std::size_t largest, std::size_t sets_a_level);

 private:
  std::vector<Vertex> clique_;
  AlignedVector<Word> levels_, classes_, pool_;
  std::unique_ptr<bool[]> used_;
  std::size_t used_size_ = 0;
  std::vector<std::size_t> unused_;
  std::vector<simd::Forced> forced_;
};

}  // namespace clipperplus::inline v0
