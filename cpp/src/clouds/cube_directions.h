// Directions in space, told apart without an angle: the faces of a cube around a place, side × side pixels on each.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

// The number of the pixel that a direction of any length points to, below 6 side².
inline std::size_t cube_pixel(const Vector3& direction, int side) {
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a) {
    if (std::abs(direction[a]) > std::abs(direction[axis])) axis = a;
  }
  const double scale = 0.5 * side / std::abs(direction[axis]);
  const auto step = [&](double x) {  // in this order of comparisons, what is no number is 0
    const double place = x * scale + 0.5 * side;
    const double nearest = place > 0.0 ? (place < side - 1.0 ? place : side - 1.0) : 0.0;
    return static_cast<std::size_t>(static_cast<std::int32_t>(nearest));  // signed first: one instruction, not seven
  };
  const std::size_t face = 2 * axis + (direction[axis] < 0.0 ? 1 : 0);
  const auto width = static_cast<std::size_t>(side);
  return (face * width + step(direction[(axis + 2) % 3])) * width + step(direction[(axis + 1) % 3]);
}

}  // namespace clipperplus::inline v0
