// How each point of a cloud fares where a motion takes it: on the other surface, across it, where the other's sensor
// looked through, behind what it saw, or where nothing is known.
//
// A check is a look-up in the grid (surface_grid.h) and, for a point that does not lie on the surface, one in the range
// image: about 30 ns, most of it memory.
#pragma once

#include <cstdint>
#include <span>

#include "clouds/alignment.h"
#include "clouds/range_image.h"

namespace clipperplus::inline v0 {

enum class PointCheck : std::uint8_t {
  unknown = 0,
  agrees = 1,         // near a point of the target, the normals alike
  across = 2,         // near one, at an angle
  in_free_space = 3,  // in front of what the target's sensor saw
  hidden = 4          // behind that
};

// Writes a check for each point, given with its normal. Without a range image nothing is known off the surface.
void check_points(const SurfaceGrid& target, const RangeImage* sight, std::span<const double> points,
                  std::span<const double> normals, const RigidMotion& motion, const PairRule& rule, double margin,
                  std::span<std::uint8_t> checks);

}  // namespace clipperplus::inline v0
