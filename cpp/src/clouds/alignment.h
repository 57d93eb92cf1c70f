// How well a motion lays one cloud on another, and how to improve it: a few steps of point-to-plane ICP.
//
// For each point p of the source, q is the target's point near R p + t (surface_grid.h) and n its normal; pairs count
// if they are close enough and their normals agree. Points are taken in blocks of 64: moved, looked up, and added to
// kPairLanes partial sums, whether they count or not, without a branch that nobody could predict.
//
// For a step of ICP a point takes about 180 operations in double precision, 66 of them for the sums, and reads 72 bytes
// of the target: 8 ns at two operations on four numbers a cycle. With AVX2 it takes 15 ns, two thirds of it arithmetic
// and the loads and stores of the sums between, the rest the look-up, which waits for the second cache.
#pragma once

#include <span>
#include <vector>

#include "clouds/oriented_points.h"
#include "clouds/surface_grid.h"
#include "geometry/motion_model.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// Which pairs count.
struct PairRule {
  double distance;      // at most so far apart
  double least_cosine;  // of the angle between the normals, whatever their sign
};

struct Overlap {
  std::size_t near = 0;      // points with a point of the target within the distance …
  std::size_t agreeing = 0;  // … whose normals agree, too
  double detail = 0.0;       // the sum of the bends of these, …
  double squares = 0.0;      // … and of these times the squared distances along the target's normals
};

Overlap measure_overlap(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                        const PairRule& rule, const simd::Kernels& kernels);

// How many of some points, each with its match in the place of a normal, a motion brings closer together than a
// distance. A match takes 25 operations: 2 ns at two operations on four numbers a cycle, and about as long with AVX2.
std::size_t count_explained(const OrientedPoints& matched, const RigidMotion& motion, double distance,
                            const simd::Kernels& kernels);

// The sums of a least-squares problem: Σ w (n · (R p + t - q) + n · (ω × (R p + t - centre) + v))² over the pairs, for
// a small turn ω and shift v.
struct NormalEquations {
  Vector3 centre{};
  Matrix<6> information{};        // lower triangle; ω first
  std::array<double, 6> slope{};  // half the derivative at (ω, v) = 0, negative
  double weights = 0.0;           // Σ w
  double squares = 0.0;           // Σ w (n · (R p + t - q))²
  double arms = 0.0;              // Σ w ‖R p + t - centre‖²
};

// Weights are the masses of the points; turns about the mean of the moved pairs.
NormalEquations measure_fit(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                            const PairRule& rule, const simd::Kernels& kernels);

// Steps that minimise the sum with weights that fall from the mass of a point to 0 at the distance of the rule
// (Tukey's), up to one that hardly moves anything. Weights of less than six in all end it where it is; a motion that
// the pairs do not determine is held back by a millionth of the others' resistance. A motion of the model stays one.
RigidMotion refine_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps, const simd::Kernels& kernels, const MotionModel& model = {});
// The same with nearest points that are looked up with more care, at several times the price.
RigidMotion polish_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps, const simd::Kernels& kernels, const MotionModel& model = {});

}  // namespace clipperplus::inline v0
