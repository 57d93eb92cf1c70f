// How far a sensor saw in every direction: what lies nearer than that was not there.
//
// A cube around the viewpoint, 6 faces of 64 × 64 directions, about 1.4° apart: no angle is computed. Each direction
// keeps the least range of the points in it and in the eight around it, so that edges and noise are on the safe side; a
// direction in which nothing was seen says nothing. A look-up is 50 operations, a division
// and a root among them, four points at a time with AVX2, and a read of 96 KiB: 6 ns; the operations alone would be 3.
// Made in one pass over the points on all threads, a division each; every 2¹⁸ points have an image of squared ranges of
// their own, and the least range is the same in whatever order these are put together.
#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "clipperplus/control.h"
#include "clouds/oriented_points.h"
#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

class RangeImage {
 public:
  // Points x y z, float or double, finite, as the sensor saw them from the viewpoint. See bounds.h for the Control, and
  // for points that change.
  template <class Real>
  RangeImage(std::span<const Real> points, const Vector3& viewpoint, std::size_t threads, Control& control);

  // What it consists of, and one of that again; throws std::invalid_argument if it cannot be.
  const Vector3& viewpoint() const { return viewpoint_; }
  const std::vector<float>& free() const { return free_; }
  RangeImage(const Vector3& viewpoint, std::vector<float> free);

  // Whether a place is where the sensor looked through, nearer than what it saw in that direction by more than
  // `margin`; and how many of the points come to lie in such places after the motion.
  bool is_in_front(const Vector3& place, double margin) const;
  std::size_t count_in_front(const OrientedPoints& points, const RigidMotion& motion, double margin,
                             const simd::Kernels& kernels) const;
  // Whether the sensor saw something in front of a place, nearer by more than `margin`.
  bool is_hidden(const Vector3& place, double margin) const;

 private:
  static constexpr int kSide = 64;

  // How far a place is, and up to where nothing was in the way in its direction; 0: nothing seen.
  std::pair<double, double> ranges_of(const Vector3& place) const;
  // The squared distance of a place from the viewpoint, and the direction to it.
  double square_of(const double* point, Vector3& direction) const;

  Vector3 viewpoint_;
  std::vector<float> free_;  // up to here nothing was in the way, in the directions around neither; 0: nothing seen
};

}  // namespace clipperplus::inline v0
