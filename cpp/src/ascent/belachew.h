// Symmetric rank-one nonnegative approximation (Belachew and Gillis, 2017): minimise ‖M_d - w w'‖² over w ≥ 0, where
// M_d = A + I - d (11' - I - A), one coordinate after the other, with d raised step by step up to n. From d = n on,
// local minima are the indicators of maximal cliques.
//
// In one coordinate the objective is w⁴/4 + p w²/2 + q w up to constants, with
//     p = Σ_{i≠k} w_i² - 1        and        q = -Σ_{i≠k} M_d(k, i) w_i = (1 + d) y_k + w_k - sum(w),
// so its minimum is zero or the largest root of w³ + p w + q. y = M̄ w, the sums over non-neighbours, is kept up to
// date: a coordinate that changes costs one addition to each of its non-neighbours (bits: n / 8 masked additions with
// AVX-512; CSR: one to each neighbour), a coordinate that stays zero costs nothing. A root takes 3 to 6 Newton steps.
// So a sweep costs at most n · (n / 8 + 100) cycles, and n once w is sparse.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct BelachewOptions {
  double first_d = 0.01;    // the first d after zero …
  double growth = 1.5;      // … and the factor from one d to the next, until n
  int max_sweeps = 20;      // passes over all coordinates for one d
  double tolerance = 1e-6;  // a d ends when every coordinate changes by less
  double epsilon = 1e-9;    // what counts as zero in w and y
};

struct BelachewResult {
  std::vector<double> w;
  std::size_t sweeps = 0;
  double d = 0.0;
  bool finished = false;  // the support of w is a clique, or d has reached n; false after a limit on time
};

// The nonnegative w that minimises w⁴/4 + p w²/2 + q w.
double minimise_quartic(double p, double q);

// `start` has one finite, nonnegative entry per vertex, not all zero.
BelachewResult approximate_by_rank_one(const Graph& graph, std::span<const double> start,
                                       const BelachewOptions& options, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
