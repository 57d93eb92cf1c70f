// Features as the search for the nearest of them wants them (matching.h): moved to their common mean, scaled to at most
// 1, in blocks of 64; and, where there are enough of them, lower bounds of their distances.
//
// A feature a is told by its coordinates p along kAxes leading axes of all features, and by the length r of what these
// leave of it: ‖a - b‖² ≥ ‖p - q‖² + (r - s)², as lengths differ by no more than the vectors do. The axes are found by
// a few rounds of subspace iteration on a sample; any orthonormal ones would do, these leave the shortest rest. Bounds
// are inner products in single precision, (-2 p, 1, ‖p‖²) with (q, ‖q‖², 1), of the kLeading first coordinates and then
// of the others. Each feature takes (4 d + 80) u ‖a‖² off its squares, u = 2⁻²⁴ and d dimensions: more than the
// rounding of its coordinates, of these products and of the distances themselves as matching.h computes them can make
// of it. So what is bounded from below is the rounded distance, too.
//
// Features that are alike share a block: they are halved at the median along the axis of the largest variance, again
// and again. A block has a box around its coordinates, so that pairs of blocks can be told apart at once.
//
// d kAxes multiplications a feature, and n log n for the order: 5000 features of 33 dimensions take 1 ms.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// What two sets of features have in common.
struct FeatureSpace {
  std::size_t dimensions;
  std::vector<double> mean;
  double scale;              // after the mean is taken off
  std::vector<double> axes;  // kAxes numbers for each dimension; none: distances are not bounded

  FeatureSpace(std::span<const float> source, std::span<const float> target, std::size_t dimensions);

  bool bounded() const { return !axes.empty(); }
  // By how much a squared distance in single precision may be off, as a share of the sum of both squared lengths …
  double unit() const { return 0x1p-24 * (2.0 * static_cast<double>(dimensions) + 16.0); }
  // … and for products too small for single precision.
  double lost() const { return (static_cast<double>(dimensions) + 2.0) * 0x1p-148; }
  // The same for what a bound takes off.
  double bound_unit() const { return 0x1p-24 * (4.0 * static_cast<double>(dimensions) + 80.0); }
  double bound_lost() const { return (static_cast<double>(dimensions) + 32.0) * 0x1p-148; }
};

struct FeatureSet {
  static constexpr std::size_t kAxes = simd::kBoundCoordinates - 1;  // the last coordinate is the length of the rest
  struct Box {
    float low[simd::kBoundCoordinates], high[simd::kBoundCoordinates], middle[simd::kBoundCoordinates];
    double square;  // of the longest feature
  };

  std::size_t count, blocks, dimensions;
  std::size_t stride;               // of rows
  std::vector<std::int32_t> order;  // the caller's number of each
  std::vector<double> lengths;      // ‖a‖
  AlignedVector<float> rows;        // a, filled up with zeros, a block at a time, the last filled up
  AlignedVector<float> columns;     // -2 a, a dimension at a time in each block
  AlignedVector<float> squares;     // ‖a‖²; infinite for what fills up

  // Where distances are bounded:
  AlignedVector<float> bound_rows, bound_columns;  // of simd::kBoundWidth, laid out like rows and columns
  std::vector<Box> boxes;

  FeatureSet(std::span<const float> features, const FeatureSpace& space);

  const float* block_rows(std::size_t block) const { return &rows[block * simd::kBlock * stride]; }
  const float* block_columns(std::size_t block) const { return &columns[block * simd::kBlock * dimensions]; }
  const float* block_squares(std::size_t block) const { return &squares[block * simd::kBlock]; }

 private:
  void bound(std::span<const float> coordinates, const FeatureSpace& space);
};

// The squared distance of the middles of two blocks.
float distance_of_middles(const FeatureSet::Box& a, const FeatureSet::Box& b);
// A lower bound of all squared distances between two blocks, as they are in single precision.
double distance_between(const FeatureSet::Box& a, const FeatureSet::Box& b, const FeatureSpace& space);

}  // namespace clipperplus::inline v0
