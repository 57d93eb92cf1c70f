#include "surface_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace clipperplus {

SurfaceGrid::SurfaceGrid(std::span<const double> points, std::span<const double> normals, double cell, int reach,
                         Control& control)
    : points_(points.begin(), points.end()), normals_(normals.begin(), normals.end()), per_cell_(1.0 / cell) {
  constexpr double kOwnCell = 1e3;  // a point in a cell is preferred to those around it
  std::vector<float> squares;       // of the distances from the centres, in cells
  if (points.empty()) return;
  for (std::size_t a = 0; a < 3; ++a) {
    double low = points[a], high = points[a];
    for (std::size_t k = a; k < points.size(); k += 3) low = std::min(low, points[k]), high = std::max(high, points[k]);
    // On the grid of the voxels: then the mean of a voxel is in a cell of its own.
    low_[a] = (std::floor(low / cell) - reach - 1) * cell;
    if (!((high - low_[a]) * per_cell_ + reach + 2 < kMostCells)) throw std::length_error("too many cells");
  }
  for (std::size_t k = 0; k < points.size(); k += 3) {
    if (k % (3 << 12) == 0) control.expired();
    Cell middle;
    for (std::size_t a = 0; a < 3; ++a) middle[a] = static_cast<std::uint32_t>((points[k + a] - low_[a]) * per_cell_);
    const auto r = static_cast<std::uint32_t>(reach);
    const double limit = (reach + 0.5) * (reach + 0.5);
    for (std::uint32_t z = middle[2] - r; z <= middle[2] + r; ++z) {
      const double dz = (points[k + 2] - low_[2]) * per_cell_ - z - 0.5;
      for (std::uint32_t y = middle[1] - r; y <= middle[1] + r; ++y) {
        const double dy = (points[k + 1] - low_[1]) * per_cell_ - y - 0.5;
        if (dy * dy + dz * dz > limit) continue;
        std::uint32_t current = ~0U;
        std::size_t block = 0;
        for (std::uint32_t x = middle[0] - r; x <= middle[0] + r; ++x) {
          const double dx = (points[k] - low_[0]) * per_cell_ - x - 0.5;
          double square = dx * dx + dy * dy + dz * dz;
          if (square > limit) continue;
          if (x == middle[0] && y == middle[1] && z == middle[2]) square -= kOwnCell;
          if (x / kSide != current) {
            current = x / kSide;
            block = static_cast<std::size_t>(blocks_.number_of(key_of({x, y, z})));
            if (block * kBlockCells == cells_.size()) {
              cells_.resize(cells_.size() + kBlockCells, -1);
              squares.resize(cells_.size(), std::numeric_limits<float>::infinity());
            }
          }
          const std::size_t place = block * kBlockCells + inside({x, y, z});
          if (static_cast<float>(square) < squares[place]) {
            squares[place] = static_cast<float>(square);
            cells_[place] = static_cast<std::int32_t>(k / 3);
          }
        }
      }
    }
  }
}

}  // namespace clipperplus
