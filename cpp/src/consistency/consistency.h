// Which associations of points agree: i and j do where | ‖a_i - a_j‖ - ‖b_i - b_j‖ | < ε, the paper's invariant.
//
// The result is that of double precision, to the bit: (x² + y²) + z², a square root, a difference, a comparison. Almost
// all pairs are decided in single precision, without a square root. With p and q the squared distances, s = p + q,
//     |√p - √q| < ε    where    (p - q)² < max(ε² s, 2 ε² s - ε⁴),
// which has no cancellation but that of p - q. Coordinates are centred and scaled to [-1, 1] first, so each has an
// error of at most u = 2⁻²⁴ and every difference of two one of 4 u; √p is off by less than 7 u for the coordinates
// and 5.2 u for its own sums, √p - √q by less than 25 u: ε gets a margin of 32 u (1 + ε) either way. The comparison
// itself is off by less than 16 u of its sides: the side of the larger ε grows by 32 u, that of the smaller one shrinks
// by more. Pairs beyond the margins are certain, and the few between are computed again from the caller's numbers.
// (Where coordinates are 10⁸ times larger than the cloud, its centre cannot be represented well: the margin grows with
// that.)
//
// Under a motion that is less than rigid, pairs agree in more than distances: under turns about an axis, in differences
// of height, under shifts, in all three coordinates. Each is | o_i - o_j | < ε, where o_i is how far b_i is from a_i
// along the axis, or at all. So an association may have an offset o; one with a NaN agrees with none.
//
// Blocks of 64 × 64 pairs, above the diagonal only; the others are their transposes. n² / 2 pairs, about a cycle each
// with AVX-512. Memory besides the graph: 24 bytes an association, 12 more with ids and thresholds, 12 with offsets.
// Where compressed rows are smaller than bits, all pairs are visited twice, first to count, with 16 bytes an
// association for the counts, more on many threads. Below 32 MiB of bits the bits are made first.
#pragma once

#include <cstdint>
#include <span>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "clipperplus/instruction_sets.h"

namespace clipperplus::inline v0 {

struct DistanceProblem {
  std::size_t dimension;                       // 2 or 3
  std::span<const double> source, target;      // points, one after the other, finite
  std::span<const std::int64_t> associations;  // source and target point of each, in range; empty: row by row
  std::size_t count;                           // associations
  double epsilon = 0.0;                        // ε, positive, or …
  std::span<const double> epsilons;            // … one per association; a pair has their sum
  double min_distance = 0.0;                   // pairs that are closer in one of the clouds are not joined
  bool one_to_one = true;                      // nor are those that share a point
  std::span<const double> offsets;             // x y z of each, or empty: pairs must agree in these, too
  std::size_t clique_size = 0;                 // associations that agree with fewer others than such a clique needs …
                                               // … lose all their edges
};

// How the graph is put together; the answer does not depend on it.
struct JoinOptions {
  std::size_t threads = 1;
  std::size_t bits_anyway = std::size_t{32} << 20;  // bytes of bits that are made without asking what would be smaller
  std::size_t tile = 128;                           // blocks of a tile of compressed rows, each way; at least …
  std::size_t most_tiles = 4;                       // … so many that there are no more than these, or twice the threads
};

// About which share of the pairs agrees: a few thousand of them are asked.
double sampled_density(const DistanceProblem& problem, const simd::Kernels& kernels);

// The deadline is not observed, the periodic check is: it must throw to stop the work.
Graph join_by_distance(const DistanceProblem& problem, const JoinOptions& options, const simd::Kernels& kernels,
                       Control& control);

}  // namespace clipperplus::inline v0
