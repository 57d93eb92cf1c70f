// Points by the cubic cell that they lie in: the address of a cell as one number.
//
// Cells are those of the grid floor(x / size), counted from the lowest one that holds a point. Three times 21 bits, x
// lowest: cells that are neighbours along x follow each other in the order of the keys.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "clouds/bounds.h"

namespace clipperplus::inline v0 {

class CellKeys {
 public:
  static constexpr int kBits = 21;
  static constexpr double kMostCells = (1 << kBits) - 4;  // along an axis, with room for neighbours
  static constexpr double kFarthest = 1e15;               // cells from the origin: their numbers are exact
  static constexpr double kBeyond = 4.0 * kFarthest;      // farther than any cell

  CellKeys(const Bounds& bounds, double size) : size_(size) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double low = std::floor(bounds.low[axis] / size), high = std::floor(bounds.high[axis] / size);
      if (!(high - low < kMostCells && std::abs(low) < kFarthest))
        throw std::length_error("cells too small to be told");
      low_[axis] = static_cast<std::int64_t>(low) - 1;  // so that the cell before the first has an address
      count_[axis] = static_cast<std::size_t>(high - low) + 1;
    }
  }

  // Cells along an axis, from the first that holds a point to the last.
  std::size_t count(std::size_t axis) const { return count_[axis]; }

  // The number of the cell along an axis, 1 for the first that holds a point.
  std::int64_t along(std::size_t axis, double coordinate) const {
    double place = coordinate / size_;
    place = place < kBeyond ? place : kBeyond;  // also what is no number, where it has changed since it was measured
    place = place > -kBeyond ? place : -kBeyond;
    auto cell = static_cast<std::int64_t>(place);
    cell -= static_cast<double>(cell) > place ? 1 : 0;  // rounded down: a call of std::floor takes longer
    return cell - low_[axis];
  }

  std::uint64_t of(const double* point) const {
    std::uint64_t key = 0;
    for (std::size_t axis = 3; axis-- > 0;) key = key << kBits | static_cast<std::uint64_t>(along(axis, point[axis]));
    return key;
  }

  // The key of the cell that is so many cells away along y and z; the first of three neighbours along x is one below.
  static std::uint64_t moved(std::uint64_t key, int y, int z) {
    return key + (static_cast<std::uint64_t>(y) << kBits) + (static_cast<std::uint64_t>(z) << (2 * kBits));
  }

 private:
  double size_;
  std::array<std::int64_t, 3> low_{};
  std::array<std::size_t, 3> count_{};
};

}  // namespace clipperplus::inline v0
