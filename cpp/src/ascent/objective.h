// What Algorithm 2 climbs, whatever the steps: F(u) = u' M_d u over the unit sphere's nonnegative part, M_d = M - d M̄.
//
// M has 1 for joined pairs, or the weights of the edges, and 1 on the diagonal; M̄ is 1 where two vertices are not
// joined. Nothing n × n is formed. Without weights, with y = M̄ u and s = sum(u),
//     M u = s - y        and        M_d u = s - (1 + d) y,
// so a point costs one vector of sums over *non*-neighbours. That is (1 + d)(A u + u) - d s rearranged: near a clique,
// where d reaches 1e9 and y is close to zero, the rearranged form keeps all digits and the other loses nine. (CSR has
// no cheap sums over non-neighbours and does lose them; sizes were the same over many graphs, steps a few more.)
// With weights M u is a product of its own, one multiplication and addition for each neighbour of the support; where
// more than an eighth of a small M is not zero, it is kept as a dense matrix, which is read in order.
//
// complement_sums.h says how the sums are computed, and what they cost; they have one fixed order, so the result is the
// same on every path.
#pragma once

#include <optional>
#include <span>

#include "ascent/complement_sums.h"
#include "ascent/edge_weights.h"
#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// A point of the ascent with everything that is known there. Vectors are padded to simd::kBlock.
struct AscentPoint {
  AlignedVector<double> u, y, m, gradient;  // y = M̄ u; m = M u, with weights only; gradient: see evaluate, project
  double sum = 0.0;                         // of u
  double value = 0.0;                       // F(u)
  std::size_t nonzeros = 0;
};

class Objective {
 public:
  // `weights` may be null.
  Objective(const Graph& graph, const EdgeWeights* weights, const simd::Kernels& kernels, Control& control);

  std::size_t padded() const { return padded_; }
  AscentPoint point() const;  // at zero

  // point.u ← M start, normalised; `scratch` is another point.
  void begin(std::span<const double> start, AscentPoint& scratch, AscentPoint& point);

  // target.u = (origin.u + alpha · direction), clipped at zero and normalised; with its products.
  void move(const AscentPoint& origin, const AlignedVector<double>& direction, double alpha, AscentPoint& target);

  // F and its gradient M_d u, up to the factor 2.
  void evaluate(AscentPoint& point, double d) const;
  // Projects the gradient on the tangent space; tells how far the step from `origin` went along its gradient.
  simd::AscentResult project(AscentPoint& point, const AscentPoint& origin) const;

  // Tells that u is here to stay.
  void settle(const AscentPoint& point) { sums_.settle(point.u.data(), point.nonzeros); }

  // The smallest (M u)_i / (M̄ u)_i where both u_i and (M̄ u)_i exceed epsilon: raising d by it makes the smallest entry
  // that violates the clique constraint vanish. Absent once no entry does.
  std::optional<double> smallest_ratio(const AscentPoint& point, double epsilon) const;

 private:
  void rescale(AscentPoint& point, double factor);
  void make_dense();

  const EdgeWeights* weights_;
  const simd::Kernels& kernels_;
  Control& control_;
  std::size_t n_, padded_;
  ComplementSums sums_;
  AlignedVector<double> dense_;  // M, columns padded; empty where the weights are used as they are
};

}  // namespace clipperplus::inline v0
