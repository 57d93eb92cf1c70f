// Points by the cubic cell that they lie in: the address of a cell as one number.
//
// Cells are those of the grid floor(x / size), counted from the lowest one that holds a point. Three times 21 bits, x
// lowest: cells that are neighbours along x follow each other in the order of the keys.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace clipperplus {

class CellKeys {
 public:
  static constexpr int kBits = 21;
  static constexpr double kMostCells = (1 << kBits) - 4;  // along an axis, with room for neighbours

  CellKeys(std::span<const double> points, double size) : size_(size) {
    std::array<double, 3> high{};
    for (std::size_t k = 0; k < points.size(); ++k) {
      const double cell = std::floor(points[k] / size);
      const std::size_t axis = k % 3;
      if (k < 3 || cell < low_[axis]) low_[axis] = cell;
      if (k < 3 || cell > high[axis]) high[axis] = cell;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!(high[axis] - low_[axis] < kMostCells)) throw std::length_error("more cells along an axis than can be told");
      low_[axis] -= 1.0;  // so that the cell before the first has an address
    }
  }

  std::uint64_t of(const double* point) const {
    std::uint64_t key = 0;
    for (int axis = 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      key = key << kBits | static_cast<std::uint64_t>(std::floor(point[a] / size_) - low_[a]);
    }
    return key;
  }

  // The key of the cell that is so many cells away along y and z; the first of three neighbours along x is one below.
  static std::uint64_t moved(std::uint64_t key, int y, int z) {
    return key + (static_cast<std::uint64_t>(y) << kBits) + (static_cast<std::uint64_t>(z) << (2 * kBits));
  }

 private:
  double size_;
  std::array<double, 3> low_{};
};

}  // namespace clipperplus
