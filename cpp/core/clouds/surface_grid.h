// The nearest point of a surface, looked up instead of searched.
//
// Space around the points is cut into cells; each knows the point in it that is nearest to its centre, or else the
// nearest one around it within reach. Cells exist only in blocks of 8 × 8 × 8 that a point reaches, found through a
// hash table. The point that a query gets may be a little farther than the nearest one, by at most the diagonal of a
// cell; distances are then measured to that point. Where precision counts, the eight cells around a place are asked.
// Built once in n (2 reach / cell + 1)³ steps; a query is two reads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rigid.h"

namespace clipperplus {

class SurfaceGrid {
 public:
  // Points and unit normals, x y z of each, finite. At most 2¹⁹ cells along an axis, else std::length_error.
  SurfaceGrid(std::span<const double> points, std::span<const double> normals, double cell, int reach);

  // The number of a point near a place, or -1.
  std::int32_t near(const Vector3& place) const {
    std::array<std::uint32_t, 3> cell;
    for (std::size_t a = 0; a < 3; ++a) {
      const double c = (place[a] - low_[a]) * per_cell_;
      if (!(c >= 0.0 && c < kMostCells)) return -1;
      cell[a] = static_cast<std::uint32_t>(c);
    }
    const std::int32_t block = block_at(cell[0] / 8, cell[1] / 8, cell[2] / 8);
    if (block < 0) return -1;
    return cells_[static_cast<std::size_t>(block) * 512 + inside(cell)];
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
  static constexpr double kMostCells = 1 << 19;

  static std::size_t inside(const std::array<std::uint32_t, 3>& cell) {
    return (cell[2] % 8) * 64 + (cell[1] % 8) * 8 + cell[0] % 8;
  }
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
    while (slots_[slot] >= 0 && keys_[static_cast<std::size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
    return slot;
  }
  std::int32_t block_at(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return slots_[slot_of(static_cast<std::uint64_t>(z) << 40 | static_cast<std::uint64_t>(y) << 20 | x)];
  }
  std::size_t make_block(std::uint32_t x, std::uint32_t y, std::uint32_t z);

  std::vector<double> points_, normals_;
  double per_cell_;
  Vector3 low_{};
  std::vector<std::int32_t> slots_;
  std::vector<std::uint64_t> keys_;
  std::vector<std::int32_t> cells_;
  std::vector<float> squares_;  // while it is built
};

}  // namespace clipperplus
