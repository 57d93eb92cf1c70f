// Algorithm 2 of CLIPPER+: maximise u' M_d u over the unit sphere's nonnegative part by ascent with Armijo steps, with
// d raised step by step until the support of u is a clique (Fathian and Summers, RA-L 2024). objective.h has the
// products and what they cost. The steps follow the projected gradient, as in the paper, or directions that lbfgs.h
// makes of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ascent/ascent.h"
#include "ascent/edge_weights.h"
#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "clipperplus/relaxation_options.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct RelaxationResult : AscentProgress {
  std::vector<double> u;
  std::vector<std::int64_t> support;  // where u exceeds epsilon, largest entries first
  std::size_t evaluations = 0;        // products with M_d
};

// `start` has one finite, nonnegative entry per vertex, not all zero; that of the options is for callers who make this
// one of it. Without `weights` every edge weighs 1.
RelaxationResult relax(const Graph& graph, const EdgeWeights* weights, std::span<const double> start,
                       const RelaxationOptions& options, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
