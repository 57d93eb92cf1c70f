// The nearest point of a surface, looked up instead of searched.
//
// Space around the points is cut into cells; each knows the point in it that is nearest to its centre, or else the
// nearest one around it within reach. Cells exist only in blocks of 4 × 4 × 4 that a point reaches, found through a
// hash table. The point that a query gets may be a little farther than the nearest one, by at most the diagonal of a
// cell; distances are then measured to that point. Where precision counts, the eight cells around a place are asked.
// Built once in n (2 reach / cell + 1)³ steps; a query is two reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "clipperplus/control.h"
#include "clouds/key_table.h"
#include "geometry/rigid.h"

namespace clipperplus {

class SurfaceGrid {
  using Cell = std::array<std::uint32_t, 3>;
  static constexpr double kMostCells = 1 << 22;  // along an axis: blocks have 20 bits
  static constexpr std::uint32_t kSide = 4;
  static constexpr std::size_t kBlockCells = kSide * kSide * kSide;

  static std::size_t inside(const Cell& cell) {
    return (cell[2] % kSide * kSide + cell[1] % kSide) * kSide + cell[0] % kSide;
  }
  static std::uint64_t key_of(const Cell& cell) {
    return static_cast<std::uint64_t>(cell[2] / kSide) << 40 | static_cast<std::uint64_t>(cell[1] / kSide) << 20 |
           cell[0] / kSide;
  }

 public:
  // Points and unit normals, x y z of each, finite. At most 2²² cells along an axis, else std::length_error. The
  // deadline is not observed, the periodic check is.
  SurfaceGrid(std::span<const double> points, std::span<const double> normals, double cell, int reach,
              Control& control);

  // The number of a point near a place, or -1.
  std::int32_t near(const Vector3& place) const {
    Cell cell;
    for (std::size_t a = 0; a < 3; ++a) {
      const double c = (place[a] - low_[a]) * per_cell_;
      if (!(c >= 0.0 && c < kMostCells)) return -1;
      cell[a] = static_cast<std::uint32_t>(c);
    }
    const std::int32_t block = blocks_.find(key_of(cell));
    if (block < 0) return -1;
    return cells_[static_cast<std::size_t>(block) * kBlockCells + inside(cell)];
  }
  // The same with more care: the nearest of those that the eight cells around the place know.
  std::int32_t nearest(const Vector3& place) const {
    std::int32_t best = -1;
    double least = 0.0;
    for (int corner = 0; corner < 8; ++corner) {
      Vector3 around = place;
      for (std::size_t a = 0; a < 3; ++a) around[a] += ((corner >> a & 1) - 0.5) / per_cell_;
      const std::int32_t found = near(around);
      if (found < 0) continue;
      const double* q = point(found);
      const Vector3 d{place[0] - q[0], place[1] - q[1], place[2] - q[2]};
      if (best < 0 || dot(d, d) < least) best = found, least = dot(d, d);
    }
    return best;
  }
  const double* point(std::int32_t i) const { return &points_[3 * static_cast<std::size_t>(i)]; }
  const double* normal(std::int32_t i) const { return &normals_[3 * static_cast<std::size_t>(i)]; }

 private:
  std::vector<double> points_, normals_;
  double per_cell_;
  Vector3 low_{};
  KeyTable blocks_;
  AlignedVector<std::int32_t> cells_;
};

}  // namespace clipperplus
