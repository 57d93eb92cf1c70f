// Algorithm 2 of CLIPPER+: maximise u' M_d u over the unit sphere's nonnegative part by projected gradient ascent with
// Armijo steps, with d raised step by step until the support of u is a clique (Fathian and Summers, RA-L 2024).
//
// M = A + I, M̄ = 1 - M, M_d = M - d M̄. Nothing n × n is formed. With y = M̄ u and s = sum(u),
//     M u = s - y        and        M_d u = s - (1 + d) y,
// so a step costs one vector of sums over *non*-neighbours. That is (1 + d)(A u + u) - d s rearranged: near a clique,
// where d reaches 1e9 and y is close to zero, the rearranged form keeps all digits and the other loses nine. (CSR has
// no cheap sums over non-neighbours and does lose them; sizes were the same over many graphs, steps a few more.)
//
// complement_sums.h says how the sums are computed, and what they cost; they have one fixed order, so the result is the
// same on every path.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ascent/ascent.h"
#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus {

struct RelaxationOptions : AscentOptions {
  int max_line_search = 20;  // tries for one step
  double sigma = 0.01;       // Armijo: share of the linear prediction that a step must gain
  double beta = 0.5;         // step size factor after a failed try; grows by 1/√beta after a good one
  double min_alpha = 1e-9;   // step size limits
  double max_alpha = 2.0;
};

struct RelaxationResult : AscentProgress {
  std::vector<double> u;
  std::vector<std::int64_t> support;  // where u exceeds epsilon, largest entries first
  std::size_t evaluations = 0;        // products with M_d
};

// `start` has one finite, nonnegative entry per vertex, not all zero.
RelaxationResult relax(const Graph& graph, std::span<const double> start, const RelaxationOptions& options,
                       const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus
