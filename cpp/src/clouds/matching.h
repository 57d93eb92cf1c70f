// For every feature of one set the nearest of another, and the other way round: exact, as if all pairs were compared.
//
// Squared distances in single precision find a few more than the k nearest of each row and each column in one pass.
// Features are moved to their common mean and scaled to at most 1 first; ‖a‖² + ‖b‖² - 2 a · b and Σ (a - b)² are then
// off by less than (2 d + 16) u (‖a‖² + ‖b‖²) for d dimensions, u = 2⁻²⁴. Those that are no further from the k-th than
// twice that are compared in double precision; where these are all that were kept, the row is searched for them again.
// So the answer is that of double precision: Σ (a - b)² in order, ties to the lower number.
//
// Most pairs need no distance: it is bounded from below by those along a few axes (feature_sets.h). Features that are
// alike share a block of 64. A block meets others, the nearest first: those whose boxes are farther apart than any
// limit of the rows and columns in them are passed over; of the others, pairs are bounded, and what is left is measured
// one by one. Where too much is left, all pairs of the block are measured together, and where that is so again and
// again, as between features without structure, bounds are rarely tried. Neither changes what is found.
//
// Measuring all pairs takes n m d fused operations; 5000 × 5000 × 33 are 105 million instructions with AVX2, 18 ms at
// least, and took 30 ms. Features of surfaces take 14 ms: half of the pairs of blocks are passed over, one in fifty is
// measured as a whole, and of the pairs in the others one in ninety. A quarter of the time goes to bounds, a fifth to
// whole blocks, a fifth to what is made ready before the first pair; the rest is to measure and to remember.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct NearestFeatures {
  std::size_t k = 0;                  // as many as asked for, or as there are
  std::vector<std::int32_t> indices;  // k for each feature, nearest first
  std::vector<double> squares;        // squared distances
};

struct NearestBothWays {
  NearestFeatures of_source, of_target;
};

// Features one after the other, finite. The deadline is not observed, the periodic check is.
NearestBothWays nearest_features(std::span<const float> source, std::span<const float> target, std::size_t dimensions,
                                 std::size_t k, std::size_t threads, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
