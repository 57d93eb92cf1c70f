// CLIPPER (Lusk, Fathian and How, ICRA 2021), the predecessor of Algorithm 2: maximise u' M_d u over nonnegative unit
// vectors, M_d = M - d M̄, by gradient ascent. M may have weights: M(i, j) in [0, 1] on edges, ones on the diagonal; M̄
// is 1 where two vertices are not joined. Unlike in Algorithm 2 the gradient is not projected on the tangent space,
// every step begins with size 1 and is cut while the objective falls, and d is raised by the mean of (M u)_i / (M̄ u)_i
// over the entries that violate the constraint. The round(F) largest entries of u are the answer.
//
// A try costs one vector M̄ u of sums over non-neighbours (complement_sums.h); with weights also M u, one multiplication
// and addition for each neighbour of the support: 24 bytes an edge. Some passes over n entries besides.
#pragma once

#include <span>
#include <vector>

#include "ascent/ascent.h"
#include "ascent/edge_weights.h"
#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct ClipperOptions {
  double tol_u = 1e-8;  // as those of Algorithm 2 …
  double tol_f = 1e-9;
  int max_inner = 200;
  int max_outer = 1000;
  double epsilon = 1e-9;
  int max_line_search = 99;  // tries for one step, in which F may fall by no more than epsilon
  double beta = 0.25;        // step size factor after a failed try
};

struct ClipperResult : AscentProgress {
  std::vector<double> u;
  double value = 0.0;  // F(u)
};

// `start` has one finite, nonnegative entry per vertex, not all zero. Without `weights` every edge weighs 1.
ClipperResult ascend_clipper(const Graph& graph, const EdgeWeights* weights, std::span<const double> start,
                             const ClipperOptions& options, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
