// The cells of a grid that hold points: their means, their number, and which one each point lies in.
//
// Means are sums over chunks of 2¹⁸ points, taken in the order of the points and added up in the order of the chunks:
// the answer depends on nothing else, so not on the number of threads, which share the chunks. They come in the order
// of the cells, x fastest. A point costs three divisions and a look-up of its cell (cell_numbers.h), 5 to 10 ns, and
// the reading of its 24 bytes, 12 in single precision; memory besides the input is that of the cells of a chunk for
// each thread, about 50 bytes a cell and at most 4 MiB for their places, and of the result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clouds/bounds.h"

namespace clipperplus::inline v0 {

struct VoxelMeans {
  std::vector<double> points;        // x y z of each
  std::vector<std::int32_t> counts;  // how many points each is the mean of
};

// For all: points x y z, float or double, all finite, with their bounds; points that these leave out do not count.
// std::length_error if the cloud is too large for such small cells. See bounds.h for the Control, and for points that
// change.
template <class Real>
VoxelMeans voxel_means(std::span<const Real> points, const Bounds& bounds, double size, std::size_t threads,
                       Control& control);

template <class Real>
std::size_t count_voxels(std::span<const Real> points, const Bounds& bounds, double size, std::size_t threads,
                         Control& control);

// The place of each point's cell among the means; -1 for points that the bounds leave out. On one thread.
template <class Real>
std::vector<std::int32_t> voxel_numbers(std::span<const Real> points, const Bounds& bounds, double size,
                                        Control& control);

}  // namespace clipperplus::inline v0
