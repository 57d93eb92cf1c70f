#include "clouds/surface_grid.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "compiler.h"

namespace clipperplus::inline v0 {

namespace {

using Floats = Vector<float, 4>;
using Indices = Vector<std::int32_t, 4>;
constexpr float kFar = std::numeric_limits<float>::infinity();

// Calls visit(lowest, highest cell) for the part in each block of a box of cells.
template <class Cell, class Visit>
void for_each_part(const Cell& first, const Cell& last, std::uint32_t side, Visit visit) {
  const auto end_of = [&](std::uint32_t c, std::size_t a) { return std::min(last[a], c / side * side + side - 1); };
  for (std::uint32_t z = first[2]; z <= last[2]; z = end_of(z, 2) + 1) {
    for (std::uint32_t y = first[1]; y <= last[1]; y = end_of(y, 1) + 1) {
      for (std::uint32_t x = first[0]; x <= last[0]; x = end_of(x, 0) + 1) {
        visit(Cell{x, y, z}, Cell{end_of(x, 0), end_of(y, 1), end_of(z, 2)});
      }
    }
  }
}

}  // namespace

SurfaceGrid::SurfaceGrid(std::span<const double> points, std::span<const double> normals, double cell, int reach,
                         Control& control)
    : oriented_((points.size() / 3 + 1) * simd::kOriented, 0.0),
      nothing_(static_cast<std::int32_t>(points.size() / 3)),
      per_cell_(1.0 / cell),
      cells_(kBlockCells, nothing_) {
  for (std::size_t i = 0; i < points.size() / 3; ++i) {
    std::copy_n(&points[3 * i], 3, &oriented_[i * simd::kOriented]);
    std::copy_n(&normals[3 * i], 3, &oriented_[i * simd::kOriented + 3]);
  }
  std::fill_n(oriented_.end() - simd::kOriented, 3, std::numeric_limits<double>::infinity());
  if (points.empty()) return;
  for (std::size_t a = 0; a < 3; ++a) {
    double low = points[a], high = points[a];
    for (std::size_t k = a; k < points.size(); k += 3) low = std::min(low, points[k]), high = std::max(high, points[k]);
    // On the grid of the voxels: then the mean of a voxel is in a cell of its own.
    low_[a] = (std::floor(low / cell) - reach - 1) * cell;
    const double last = (high - low_[a]) * per_cell_ + reach + 2;
    if (!(last < kMostCells)) throw std::length_error("too many cells");
    count_[a] = static_cast<std::uint32_t>(last) + 1;
    blocks_along_[a] = count_[a] / kSide + 1;
  }
  const double blocks =
      static_cast<double>(blocks_along_[0]) * static_cast<double>(blocks_along_[1]) * blocks_along_[2];
  directory_.assign(blocks <= kLargestDirectory ? static_cast<std::size_t>(blocks) : 0, 0);

  AlignedVector<float> squares(kBlockCells, kFar);  // of the distances from the centres, in cells
  const auto r = static_cast<std::uint32_t>(reach);
  const auto limit = static_cast<float>((reach + 0.5) * (reach + 0.5));
  // Squares of how far the cells around a point are from it, along each axis; on both sides of them, rows of blocks go
  // on.
  std::array<std::vector<float>, 3> apart;
  for (auto& axis : apart) axis.resize(kSide + 2 * r + 1 + kSide, kFar);
  for (std::size_t k = 0; k < points.size(); k += 3) {
    if (k % (3 << 12) == 0) control.expired();
    Cell first, last;
    for (std::size_t a = 0; a < 3; ++a) {
      const double place = (points[k + a] - low_[a]) * per_cell_;
      const auto middle = static_cast<std::uint32_t>(place);
      first[a] = middle - r, last[a] = middle + r;
      for (std::uint32_t c = 0; c <= 2 * r; ++c) {
        const double d = place - (first[a] + c) - 0.5;
        apart[a][kSide + c] = static_cast<float>(d * d);
      }
    }
    const auto number = static_cast<std::int32_t>(k / 3);
    const auto index = in_all_lanes<Indices>(number);
    for_each_part(first, last, kSide, [&](const Cell& low, const Cell& high) {
      const std::size_t block = make_block(low);
      if (block == squares.size()) squares.resize(cells_.size(), kFar);
      // A row of a block at once, without branches, which nobody could predict.
      Floats along;
      std::memcpy(&along, &apart[0][kSide + low[0] / kSide * kSide - first[0]], sizeof along);
      for (std::uint32_t z = low[2]; z <= high[2]; ++z) {
        for (std::uint32_t y = low[1]; y <= high[1]; ++y) {
          const float across = apart[2][kSide + z - first[2]] + apart[1][kSide + y - first[1]];
          const std::size_t row = block + inside({0, y, z});
          auto& nearest = *reinterpret_cast<Floats*>(&squares[row]);
          auto& indices = *reinterpret_cast<Indices*>(&cells_[row]);
          const Floats square = along + across;
          const auto nearer = (square < nearest) & (square <= limit);
          nearest = choose(nearer, square, nearest);
          indices = choose(nearer, index, indices);
        }
      }
    });
  }
  // A point in a cell is preferred to those around it, the one nearest to the centre if there are several.
  std::vector<bool> owned(cells_.size());
  for (std::size_t k = 0; k < points.size(); k += 3) {
    Cell own;
    double square = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
      const double place = (points[k + a] - low_[a]) * per_cell_;
      own[a] = static_cast<std::uint32_t>(place);
      square += (place - own[a] - 0.5) * (place - own[a] - 0.5);
    }
    const std::size_t place = block_of(own) + inside(own);
    if (owned[place] && static_cast<float>(square) >= squares[place]) continue;
    owned[place] = true;
    cells_[place] = static_cast<std::int32_t>(k / 3);
    squares[place] = static_cast<float>(square);
  }
  cells_.shrink_to_fit();  // it grew by doubling
}

std::size_t SurfaceGrid::make_block(const Cell& cell) {
  const std::size_t next = cells_.size() / kBlockCells;
  std::size_t block = 0;
  if (directory_.empty()) {
    block = static_cast<std::size_t>(blocks_.number_of(key_of(cell))) + 1;
  } else {
    std::int32_t& known = directory_[place_of(cell)];
    if (known == 0) known = static_cast<std::int32_t>(next);
    block = static_cast<std::size_t>(known);
  }
  if (block == next) cells_.resize(cells_.size() + kBlockCells, nothing_);
  return block * kBlockCells;
}

SurfaceGrid::Cell SurfaceGrid::cell_of(const Vector3& place, double shift) const {
  Cell cell;
  for (std::size_t a = 0; a < 3; ++a) {
    const double c = (place[a] - low_[a]) * per_cell_ - shift;
    cell[a] = c >= 0.0 && c < count_[a] - 2 ? static_cast<std::uint32_t>(c) : count_[a] - 2;
  }
  return cell;
}

std::int32_t SurfaceGrid::find_nearest(const Cell& first, double x, double y, double z) const {
  std::int32_t best = nothing_;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t corner = 0; corner < 8; ++corner) {
    const std::int32_t found = find({first[0] + (corner & 1), first[1] + (corner >> 1 & 1), first[2] + (corner >> 2)});
    const double* q = point(found);
    const Vector3 d{x - q[0], y - q[1], z - q[2]};
    const double square = dot(d, d);
    best = square < least ? found : best;
    least = square < least ? square : least;
  }
  return best;
}

simd::GridFrame SurfaceGrid::frame(bool precise) const {
  simd::GridFrame frame{.low = {}, .beyond = {}, .per_cell = per_cell_};
  for (std::size_t a = 0; a < 3; ++a) {
    // The lower ones of the eight cells around a place are those of a grid that begins half a cell later.
    frame.low[a] = low_[a] + (precise ? 0.5 / per_cell_ : 0.0);
    frame.beyond[a] = count_[a] - 2.0;
  }
  return frame;
}

void SurfaceGrid::find(bool precise, const double* places, const std::int32_t* cells, std::size_t count,
                       std::int32_t* found) const {
  using simd::kBlock;
  const auto cell = [cells](std::size_t k) {
    return Cell{static_cast<std::uint32_t>(cells[k]), static_cast<std::uint32_t>(cells[kBlock + k]),
                static_cast<std::uint32_t>(cells[2 * kBlock + k])};
  };
  for (std::size_t k = 0; k < count; ++k) {
    found[k] = precise ? find_nearest(cell(k), places[k], places[kBlock + k], places[2 * kBlock + k]) : find(cell(k));
  }
  std::fill(found + count, found + kBlock, nothing_);
}

}  // namespace clipperplus::inline v0
