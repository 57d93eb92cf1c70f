// Sums over the points of a cloud as the kernels add them up: in parts, joined in one order on every processor.
#pragma once

#include <cstddef>

#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// Each in simd::kPairLanes parts.
template <std::size_t Sums>
struct PairSums {
  alignas(64) double lanes[Sums * simd::kPairLanes] = {};

  double operator[](std::size_t sum) const {
    static_assert(simd::kPairLanes == 8);
    const double* l = lanes + sum * simd::kPairLanes;
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
  }
};

}  // namespace clipperplus::inline v0
