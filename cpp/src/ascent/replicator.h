// Replicator dynamics on the Motzkin–Straus programme and its generalisation: maximise x' (A + ρ I) x where x is
// nonnegative and the β-th powers of its entries sum to one, by
//     x_i ← (x_i (A x + ρ x)_i / x' (A x + ρ x))^{1/β}.
// β = 1 is Pelillo's (1995), β > 1 Ding's (2008). The objective never falls.
//
// A step is one vector of sums, A x = sum(x) - x - M̄ x (complement_sums.h: n · |support| / 21 cycles with AVX-512), and
// a few passes over n entries; with β ≠ 1 the powers, some 20 ns an entry, are most of the time. Entries of which
// nothing is left become zero, so that a step costs less as x settles. Measured at n = 1000: see
// benchmarks/results/methods.md.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct ReplicatorOptions {
  double beta = 1.0;
  double regularisation = 0.0;  // ρ
  double tolerance = 1e-7;      // ends when every entry changes by less than this share of the largest one
  int max_steps = 3000;
  double epsilon = 1e-20;  // entries below this share of the largest one become zero
};

struct ReplicatorResult {
  std::vector<double> x;
  std::size_t steps = 0;
  bool finished = false;  // x has settled; false after a limit on steps or time
};

// `start` has one finite, nonnegative entry per vertex, not all zero.
ReplicatorResult replicate(const Graph& graph, std::span<const double> start, const ReplicatorOptions& options,
                           const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
