// A motion to all matches that it explains, not only to those that it comes from.
//
// Weights of Geman and McClure, 1 / (1 + r²)² where r is the residual by ε, iterated from a first motion; see Zhang,
// "Parameter estimation techniques", IVC 1997. The same as refit() in Python's registration/robust_fit.py, which says
// why. O(n) a step, ten steps at most.
#pragma once

#include <span>
#include <vector>

#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

// Points are x y z of each, as many of either; `epsilon` has the bound of each. Returns `start` where it explains more.
RigidMotion refit_motion(std::span<const double> source, std::span<const double> target,
                         std::span<const double> epsilon, const RigidMotion& start);

// How far a motion moves points from their matches.
std::vector<double> residuals_of(const RigidMotion& motion, std::span<const double> source,
                                 std::span<const double> target);

}  // namespace clipperplus::inline v0
