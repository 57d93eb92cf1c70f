#include "voxels.h"

#include <algorithm>
#include <numeric>

#include "cells.h"
#include "key_table.h"

namespace clipperplus {

VoxelMeans voxel_means(std::span<const double> points, double size, Control& control) {
  const CellKeys cells(points, size);
  KeyTable table;
  std::vector<double> sums;
  std::vector<std::int32_t> counts;
  std::uint64_t last = 0;
  std::size_t cell = 0;
  constexpr std::size_t kPolled = 3 << 14;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    if (k % kPolled == 0) control.expired();
    const std::uint64_t key = cells.of(&points[k]);
    if (k == 0 || key != last) cell = static_cast<std::size_t>(table.number_of(key));  // scans run along surfaces
    last = key;
    if (cell == counts.size()) {
      counts.push_back(0);
      sums.insert(sums.end(), 3, 0.0);
    }
    ++counts[cell];
    for (std::size_t axis = 0; axis < 3; ++axis) sums[3 * cell + axis] += points[k + axis];
  }
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return table.keys()[a] < table.keys()[b]; });

  VoxelMeans result;
  result.points.reserve(sums.size());
  result.counts.reserve(counts.size());
  for (const std::size_t place : order) {
    result.counts.push_back(counts[place]);
    for (std::size_t axis = 0; axis < 3; ++axis) result.points.push_back(sums[3 * place + axis] / counts[place]);
  }
  return result;
}

}  // namespace clipperplus
