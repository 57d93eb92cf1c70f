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
  static constexpr double kFarthest = 1e15;               // cells from the origin: their numbers are exact

  CellKeys(std::span<const double> points, double size) : size_(size) {
    for (std::size_t axis = 0; axis < 3 && !points.empty(); ++axis) {
      double low = points[axis], high = low;
      for (std::size_t k = axis; k < points.size(); k += 3) {
        low = std::min(low, points[k]);
        high = std::max(high, points[k]);
      }
      low = std::floor(low / size);
      high = std::floor(high / size);
      if (!(high - low < kMostCells && std::abs(low) < kFarthest))
        throw std::length_error("cells too small to be told");
      low_[axis] = static_cast<std::int64_t>(low) - 1;  // so that the cell before the first has an address
    }
  }

  std::uint64_t of(const double* point) const {
    std::uint64_t key = 0;
    for (int axis = 2; axis >= 0; --axis) {
      const auto a = static_cast<std::size_t>(axis);
      const double place = point[a] / size_;
      auto cell = static_cast<std::int64_t>(place);
      cell -= static_cast<double>(cell) > place ? 1 : 0;  // rounded down: a call of std::floor takes longer
      key = key << kBits | static_cast<std::uint64_t>(cell - low_[a]);
    }
    return key;
  }

  // The key of the cell that is so many cells away along y and z; the first of three neighbours along x is one below.
  static std::uint64_t moved(std::uint64_t key, int y, int z) {
    return key + (static_cast<std::uint64_t>(y) << kBits) + (static_cast<std::uint64_t>(z) << (2 * kBits));
  }

 private:
  double size_;
  std::array<std::int64_t, 3> low_{};
};

}  // namespace clipperplus
