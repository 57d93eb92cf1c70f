// One point for each occupied cell of a grid: the mean of the points in it.
//
// Sums are taken in the order of the points, means come in the order of the cells (x fastest): the answer depends on
// nothing else. O(n) with a hash table of the cells, then a sort of the cells; 24 + 12 bytes a cell while it runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../control.h"

namespace clipperplus {

struct VoxelMeans {
  std::vector<double> points;        // x y z of each
  std::vector<std::int32_t> counts;  // how many points each is the mean of
};

// Throws std::length_error if the cloud is too large for such small cells. The deadline is not observed, the periodic
// check is.
VoxelMeans voxel_means(std::span<const double> points, double size, Control& control);

}  // namespace clipperplus
