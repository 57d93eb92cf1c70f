// Fast point feature histograms (Rusu, Blodow, Beetz, 2009): 33 numbers that say how a surface bends around a point.
//
// For a pair of points, d from the first to the second, normals n1 and n2, where the first is the one whose normal is
// closer to the line between them, and v = d × n1 / ‖d × n1‖, w = n1 × v:
//     f1 = atan2(w · n2, n1 · n2) ∈ [-π, π],   f2 = v · n2 ∈ [-1, 1],   f3 = n1 · d / ‖d‖ ∈ [-1, 1].
// The simple histogram of a point counts each of the three over its neighbours in 11 bins of equal width, 100 / count
// for each neighbour. Its FPFH is its simple histogram plus the mean of those of its neighbours, weighted by 1 / ‖d‖²
// and scaled so that the 11 bins of each angle add up to 100. Pairs at the same place, or with d along n1, count
// nothing.
//
// No angle is computed: f1's bin is the number of bounds (2 m + 1) π / 11 that its absolute value exceeds, each a
// comparison of products; w · n2 = (n2 · d - (n1 · d)(n1 · n2)) / ‖d × n1‖. The loops over neighbours are whole
// kernels. Bins are those that double precision gives; nearly all are found in single precision, and where that leaves
// a doubt, in one pair of a hundred or so, the pair is looked at again. Weights are in single precision.
//
// A pair takes about 110 operations, among them two roots and two divisions, and its share in the sums 33
// multiplications: 4 ns with AVX2 at two operations on eight numbers a cycle. It takes 10 ns: a fifth of that gathers
// neighbours; arithmetic, counting and the sums take a quarter each.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clouds/neighbours.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

inline constexpr std::size_t kFeatureBins = 33;

// kFeatureBins numbers for each point; points without neighbours get zeros.
std::vector<float> compute_fpfh(std::span<const double> points, std::span<const double> normals,
                                const Neighbours& neighbours, std::size_t threads, const simd::Kernels& kernels,
                                Control& control);

}  // namespace clipperplus::inline v0
