// What has to be known of a raw cloud before anything else: whether its coordinates are finite, and where it lies.
//
// One pass on all threads, 24 bytes a point (12 in single precision): the memory is what it takes time for.
#pragma once

#include <cstddef>
#include <span>

#include "clipperplus/control.h"
#include "geometry/rigid.h"

namespace clipperplus {

struct Bounds {
  std::size_t finite = 0;  // points whose coordinates are all finite; the others do not count
  Vector3 low{}, high{};   // of the finite ones; zero where there are none
};

// Points x y z, float or double. Only a check that throws ends the work early, here and in all kernels that take points
// in either precision; the Control must have no deadline. Nor are the points copied: they belong to the caller, and may
// change while they are read. That gives some answer, nothing worse.
template <class Real>
Bounds bounds_of(std::span<const Real> points, std::size_t threads, Control& control);

}  // namespace clipperplus
