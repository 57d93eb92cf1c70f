// For every feature of one set the nearest of another, and the other way round: all pairs, exact.
//
// Single-precision inner products of (-2 a, 1, ‖a‖²) and (b, ‖b‖², 1), which are squared distances, find a few more
// than the k nearest of each row and each column in one pass. Features are moved to their common mean and scaled to at
// most 1 first; a product is then off by less than (2 d + 16) u (‖a‖² + ‖b‖²) for d dimensions, u = 2⁻²⁴. Those
// that are no further from the k-th than twice that are compared in double precision; where these are all that were
// kept, the row is searched for them again. So the answer is that of double precision: Σ (a - b)² in order, ties to the
// lower number.
//
// n m (d + 2) fused operations; 5000 × 5000 × 33 are 55 million instructions with AVX-512, 10 ms at least, and
// take 20 ms: the rest is what is remembered, and checked in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "simd/kernels.h"

namespace clipperplus {

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

}  // namespace clipperplus
