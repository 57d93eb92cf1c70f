#include "voxels.h"

#include <algorithm>
#include <numeric>

#include "cells.h"

namespace clipperplus {

namespace {

// From the key of a cell to its number, by order of appearance.
class CellTable {
 public:
  std::int32_t number_of(std::uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    const std::size_t slot = find(key);
    if (slots_[slot] < 0) {
      slots_[slot] = static_cast<std::int32_t>(keys_.size());
      keys_.push_back(key);
    }
    return slots_[slot];
  }
  const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  std::size_t find(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
    while (slots_[slot] >= 0 && keys_[static_cast<std::size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), -1);
    for (std::size_t k = 0; k < keys_.size(); ++k) slots_[find(keys_[k])] = static_cast<std::int32_t>(k);
  }

  std::vector<std::int32_t> slots_;
  std::vector<std::uint64_t> keys_;
};

}  // namespace

VoxelMeans voxel_means(std::span<const double> points, double size, Control& control) {
  const CellKeys cells(points, size);
  CellTable table;
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
