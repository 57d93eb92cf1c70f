// The poses of a camera that sees three points in three given directions: up to four.
//
// With d the depths along the directions, every two points give a cone, dᵀ M d = squared distance. Two differences of
// these do not know the scale: conics D₁, D₂ that meet at the depths, up to scale. A degenerate conic of their pencil,
// by a root of a cubic, is a pair of lines, each of which meets the others in at most two places. Depths are polished
// by Newton's method on the three distances. As in M. Persson and K. Nordberg, "Lambda Twist: an accurate fast robust
// perspective three point (P3P) solver", ECCV 2018, but with the best conditioned of the real roots, and lines in a
// basis of their own, so that no direction is special. About 0.5 µs.
#pragma once

#include <array>
#include <cstddef>

#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

struct CameraPoses {
  std::array<RigidMotion, 4> motions;  // from the frame of the points to that of the camera
  std::size_t count = 0;
};

// Directions are of length 1. Nothing comes of points on a line or of directions that are the same, nor of what is not
// finite.
CameraPoses solve_p3p(const std::array<Vector3, 3>& points, const std::array<Vector3, 3>& directions);

}  // namespace clipperplus::inline v0
