// y = M̄ u, the sums of u over non-neighbours, at the cost of the support of u only. See relaxation.h.
#pragma once

#include <vector>

#include "control.h"
#include "graph.h"
#include "simd/kernels.h"

namespace clipperplus {

class ComplementSums {
 public:
  ComplementSums(const Graph& graph, const simd::Kernels& kernels, Control& control);

  // u and y have one entry per vertex, padded to simd::kBlock with zeros in u. `sum` and `nonzeros` are those of u.
  void compute(const double* u, double sum, std::size_t nonzeros, double* y);

  // Tells that u is here to stay: columns that it does not use may be dropped.
  void settle(const double* u, std::size_t nonzeros);

 private:
  void compute_bits(const double* u, std::size_t nonzeros, double* y);
  void compute_csr(const double* u, double sum, double* y) const;
  void pack();

  const Graph& graph_;
  const simd::Kernels& kernels_;
  Control& control_;  // for its periodic check: sums over a large CSR graph take a while
  std::size_t padded_;
  std::vector<Vertex> columns_;   // packed vertices, increasing; they include the support of every u seen
  AlignedVector<Word> blocks_;    // [row block][column block][row]: bit j is M̄(row, columns_[64 · block + j])
  AlignedVector<double> tables_;  // [8 columns][low or high four][16 subsets of them]: sums of u
};

}  // namespace clipperplus
