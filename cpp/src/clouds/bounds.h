// What has to be known of a raw cloud before anything else: whether its coordinates are finite, and where it lies.
//
// One pass on all threads, 24 bytes a point (12 in single precision): the memory is what it takes time for.
#pragma once

#include <cstddef>
#include <span>

#include "clipperplus/control.h"
#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

struct Bounds {
  std::size_t finite = 0;  // points whose coordinates are all finite; the others do not count
  Vector3 low{}, high{};   // of the finite ones; zero where there are none
  bool whole = true;       // no finite point lies outside; if one does, whoever is given these bounds leaves it out
};

inline bool is_in_box(const Vector3& point, const Vector3& low, const Vector3& high) {
  return point[0] >= low[0] && point[0] <= high[0] && point[1] >= low[1] && point[1] <= high[1] && point[2] >= low[2] &&
         point[2] <= high[2];
}

// Points x y z, float or double. Only a check that throws ends the work early, here and in all kernels that take points
// in either precision; the Control must have no deadline. Nor are the points copied: they belong to the caller, and may
// change while they are read. That gives some answer, nothing worse.
template <class Real>
Bounds bounds_of(std::span<const Real> points, std::size_t threads, Control& control);

// The same of the points that lie in a box, borders included: what is left of a cloud without its strays.
template <class Real>
Bounds bounds_within(std::span<const Real> points, const Vector3& low, const Vector3& high, std::size_t threads,
                     Control& control);

}  // namespace clipperplus::inline v0
