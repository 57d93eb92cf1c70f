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

// Points x y z, float or double. The deadline is not observed, the periodic check is. The points may change while they
// are read, as they may in all kernels that take them in either precision: they belong to the caller, who may have
// threads. That gives some answer, nothing worse.
template <class Real>
Bounds bounds_of(std::span<const Real> points, std::size_t threads, Control& control);

}  // namespace clipperplus
