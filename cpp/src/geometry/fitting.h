// The rigid motion between matched points with the least squared error: Arun's problem in Horn's form, the largest
// eigenvector of a 4 × 4 matrix, which is always a rotation.
//
// K. S. Arun, T. S. Huang and S. D. Blostein, "Least-squares fitting of two 3-D point sets", IEEE PAMI 1987;
// B. K. P. Horn, "Closed-form solution of absolute orientation using unit quaternions", JOSA A 1987.
//
// Coordinates are measured from the point of the largest weight in a unit that is a power of two, so that nothing is
// rounded by it and neither huge nor tiny ones are lost in the products. Where the points do not determine the rotation
// (they are at one place, or on a line), it is one of the best, always the same one. O(n), about 60 operations a point.
#pragma once

#include <span>

#include "geometry/motion_model.h"

namespace clipperplus::inline v0 {

// Points are x y z of each, as many of either, at least one. `weights`: how much each squared error counts, nonnegative
// and not all zero; empty: all the same. `model`: the motions to choose from.
RigidMotion fit_motion(std::span<const double> source, std::span<const double> target,
                       std::span<const double> weights = {}, const MotionModel& model = {});

}  // namespace clipperplus::inline v0
