// The nearest point of a surface, looked up instead of searched.
//
// Space around the points is cut into cells; each knows the point in it that is nearest to its centre, or else the
// nearest one around it within reach. Cells exist only in blocks of 4 × 4 × 4 that a point reaches; a directory of all
// blocks of the box around the cloud says where, or a hash table where that box has very many. The point that a query
// gets may be a little farther than the nearest one, by at most the diagonal of a cell; distances are then measured to
// that point. Where precision counts, the eight cells around a place are asked.
// Built once in n (2 reach / cell + 1)³ steps; a query is two reads of 4 bytes, one depending on the other, and one
// line of 64 bytes for the point with its normal. At 5000 points these are 0.7 MB.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "clipperplus/control.h"
#include "clouds/key_table.h"
#include "geometry/rigid.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

class SurfaceGrid {
 public:
  // Points and unit normals, x y z of each, finite. At most 2²² cells along an axis, else std::length_error. The
  // deadline is not observed, the periodic check is.
  SurfaceGrid(std::span<const double> points, std::span<const double> normals, double cell, int reach,
              Control& control);

  // The number of a point near a place, or -1.
  std::int32_t near(const Vector3& place) const { return number_of(find(cell_of(place, 0.0))); }
  // The same with more care: the nearest of those that the eight cells around the place know.
  std::int32_t nearest(const Vector3& place) const {
    return number_of(find_nearest(cell_of(place, 0.5), place[0], place[1], place[2]));
  }
  const double* point(std::int32_t i) const { return &oriented_[simd::kOriented * static_cast<std::size_t>(i)]; }
  const double* normal(std::int32_t i) const { return point(i) + 3; }

  // The same for a block of places and their cells, as simd::Kernels::move_points gives them with the frame. What finds
  // nothing gets the number of a point that is infinitely far away, the last one of `oriented`.
  simd::GridFrame frame(bool precise) const;
  void find(bool precise, const double* places, const std::int32_t* cells, std::size_t count,
            std::int32_t* found) const;
  const double* oriented() const { return oriented_.data(); }
  // Memory, but for a few numbers.
  std::size_t num_bytes() const {
    return oriented_.size() * sizeof(double) + (directory_.size() + cells_.size()) * sizeof(std::int32_t);
  }

 private:
  using Cell = std::array<std::uint32_t, 3>;
  static constexpr double kMostCells = 1 << 22;  // along an axis: blocks have 20 bits
  static constexpr std::uint32_t kSide = 4;
  static constexpr std::size_t kBlockCells = kSide * kSide * kSide;
  static constexpr double kLargestDirectory = 1 << 18;  // blocks: a megabyte

  static std::size_t inside(const Cell& cell) {
    return (cell[2] % kSide * kSide + cell[1] % kSide) * kSide + cell[0] % kSide;
  }
  static std::uint64_t key_of(const Cell& cell) {
    return static_cast<std::uint64_t>(cell[2] / kSide) << 40 | static_cast<std::uint64_t>(cell[1] / kSide) << 20 |
           cell[0] / kSide;
  }
  std::size_t place_of(const Cell& cell) const {  // in the directory
    return (static_cast<std::size_t>(cell[2] / kSide) * blocks_along_[1] + cell[1] / kSide) * blocks_along_[0] +
           cell[0] / kSide;
  }
  // Where the cells of the block of a cell begin; the first block is one that nothing reaches.
  std::size_t block_of(const Cell& cell) const {
    const std::int32_t block = directory_.empty() ? blocks_.find(key_of(cell)) + 1 : directory_[place_of(cell)];
    return static_cast<std::size_t>(block) * kBlockCells;
  }
  std::size_t make_block(const Cell& cell);

  Cell cell_of(const Vector3& place, double shift) const;
  std::int32_t find(const Cell& cell) const { return cells_[block_of(cell) + inside(cell)]; }
  std::int32_t find_nearest(const Cell& first, double x, double y, double z) const;
  std::int32_t number_of(std::int32_t found) const { return found < nothing_ ? found : -1; }

  AlignedVector<double> oriented_;  // points with their normals, and what is found where there is nothing
  std::int32_t nothing_;            // its number
  double per_cell_;
  Vector3 low_{};
  std::array<std::uint32_t, 3> count_{2, 2, 2};  // cells along an axis; the last two are empty
  std::array<std::uint32_t, 3> blocks_along_{1, 1, 1};
  std::vector<std::int32_t> directory_{0};
  KeyTable blocks_;  // in place of the directory
  AlignedVector<std::int32_t> cells_;
};

}  // namespace clipperplus::inline v0
