// y = M̄ u, the sums of u over non-neighbours, at the cost of the support of u only: what every ascent spends its time
// on.
//
//   bits  Only columns in the support of u cost anything. They are packed into 64 × 64 blocks of M̄, and packed anew
//         whenever the support has lost a quarter. Eight columns of a block are a byte, whose two halves are looked up
//         in tables of the 16 sums that four entries of u can have (simd/kernels.h: table_sums). Cost n · |support| /
//         21 cycles with AVX-512, n · |support| / 8 on the portable path.
//   csr   y = s - u - A u with additions along the neighbours of the support: sum of their degrees.
// Sums have one fixed order (blocks left to right, bytes, halves of a byte, columns), independent of the instruction
// set; the packing depends on u alone.
#pragma once

#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

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

}  // namespace clipperplus::inline v0
