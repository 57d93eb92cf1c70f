// The loops behind kernels.h, written once. Each instruction set's file defines table_sums, includes this file inside
// a namespace of its own and is compiled with its own flags. Nothing here may call an inline function of the standard
// library that could be merged with another file's copy: the linker might keep the one with the wrong instructions.
// Hence the plain pointers, and the functions of compiler.h.

std::size_t count_rows(const Word* rows, std::size_t stride, std::size_t n, Vertex* counts) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t count = 0;
    for (std::size_t w = 0; w < stride; ++w) count += bit_count(rows[i * stride + w]);
    counts[i] = static_cast<Vertex>(count);
    total += count;
  }
  return total;
}

void add_counts(const Word* words, std::uint32_t* counts) {
  for (std::size_t i = 0; i < kBlock; ++i) counts[i] += static_cast<std::uint32_t>(bit_count(words[i]));
}

#ifndef CLIPPERPLUS_OWN_TRANSPOSE
template <std::size_t Width, Word Mask>
inline void exchange_squares(Word* rows) {
  for (std::size_t base = 0; base < kWordBits; base += 2 * Width) {
    for (std::size_t i = base; i < base + Width; ++i) {
      const Word moved = ((rows[i] >> Width) ^ rows[i + Width]) & Mask;
      rows[i] ^= moved << Width;
      rows[i + Width] ^= moved;
    }
  }
}

// Six rounds of exchanging off-diagonal squares: about 230 ns with SSE2.
inline void transpose_block(Word* rows) {
  exchange_squares<32, 0x00000000FFFFFFFFULL>(rows);
  exchange_squares<16, 0x0000FFFF0000FFFFULL>(rows);
  exchange_squares<8, 0x00FF00FF00FF00FFULL>(rows);
  exchange_squares<4, 0x0F0F0F0F0F0F0F0FULL>(rows);
  exchange_squares<2, 0x3333333333333333ULL>(rows);
  exchange_squares<1, 0x5555555555555555ULL>(rows);
}
#endif

void gather_transposed(const Word* rows, std::size_t stride, const Vertex* vertices, std::size_t count,
                       std::size_t word, Word* block) {
  for (std::size_t j = 0; j < count; ++j) block[j] = rows[static_cast<std::size_t>(vertices[j]) * stride + word];
  for (std::size_t j = count; j < kWordBits; ++j) block[j] = 0;
  transpose_block(block);
}

#ifndef CLIPPERPLUS_OWN_SUBTRACT
PeelKey subtract_and_find_min(PeelKey* keys, const Word* row, std::size_t words, PeelKey step) {
  constexpr std::size_t kKeyLanes = 16;
  PeelKey lanes[kKeyLanes];
  for (PeelKey& lane : lanes) lane = ~PeelKey{0};
  for (std::size_t w = 0; w < words; ++w) {
    PeelKey* block = keys + w * kWordBits;
    for (Word rest = row[w]; rest != 0; rest &= rest - 1) block[lowest_bit(rest)] -= step;
    for (std::size_t i = 0; i < kWordBits; i += kKeyLanes) {
      for (std::size_t l = 0; l < kKeyLanes; ++l) lanes[l] = block[i + l] < lanes[l] ? block[i + l] : lanes[l];
    }
  }
  PeelKey smallest = lanes[0];
  for (PeelKey lane : lanes) smallest = lane < smallest ? lane : smallest;
  return smallest;
}
#endif

std::size_t extend_greedily(const Word* rows, std::size_t stride, Word* candidates, Vertex* clique, std::size_t size,
                            std::size_t must_beat) {
  std::size_t w = 0;
  for (;;) {
    while (w < stride && candidates[w] == 0) ++w;
    if (w == stride) return size > must_beat ? size : 0;
    const std::size_t v = w * kWordBits + lowest_bit(candidates[w]);
    clique[size++] = static_cast<Vertex>(v);
    // Words before w are empty and stay so; whole cache lines keep the loop free of a tail.
    const Word* row = rows + v * stride;
    std::size_t left = 0;
    for (std::size_t k = w / kRowAlignWords * kRowAlignWords; k < stride; ++k) {
      candidates[k] &= row[k];
      left += bit_count(candidates[k]);
    }
    if (size + left <= must_beat) return 0;
  }
}

std::size_t take_colour_class(const Word* rows, std::size_t stride, Word* uncoloured, Word* pool) {
  std::size_t size = 0;
  for (std::size_t w = 0; w < stride; ++w) {
    // The word in work stays in a register: through memory, every vertex would wait for the store before it.
    Word here = pool[w], taken = 0;
    while (here != 0) {
      const std::size_t bit = lowest_bit(here);
      const Word* row = rows + (w * kWordBits + bit) * stride;
      taken |= Word{1} << bit;
      here &= (here - 1) & ~row[w];
      for (std::size_t k = w / kRowAlignWords * kRowAlignWords; k < stride; ++k) pool[k] &= ~row[k];
      ++size;
    }
    uncoloured[w] &= ~taken;
  }
  return size;
}

// A tree over the partial sums: lanes l and l + 16, then l and l + 8, … the same on every path.
inline double combine(double* lanes) {
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  return lanes[0];
}

double step(const double* __restrict u, const double* __restrict gradient, double alpha, std::size_t n,
            double* __restrict x) {
  alignas(64) double lanes[kLanes] = {};
  for (std::size_t i = 0; i < n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      const double moved = u[i + l] + alpha * gradient[i + l];
      x[i + l] = moved > 0.0 ? moved : 0.0;
      lanes[l] += x[i + l] * x[i + l];
    }
  }
  return combine(lanes);
}

ScaleResult scale(double* x, double factor, std::size_t n) {
  alignas(64) double lanes[kLanes] = {};
  alignas(64) long long counts[kLanes] = {};
  for (std::size_t i = 0; i < n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      x[i + l] *= factor;
      lanes[l] += x[i + l];
      counts[l] += x[i + l] != 0.0 ? 1 : 0;
    }
  }
  long long nonzeros = 0;
  for (long long count : counts) nonzeros += count;
  return {combine(lanes), static_cast<std::size_t>(nonzeros)};
}

double gradient(const double* __restrict y, const double* __restrict u, double sum, double d, std::size_t n,
                double* __restrict gradient) {
  alignas(64) double lanes[kLanes] = {};
  const double weight = 1.0 + d;
  for (std::size_t i = 0; i < n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      gradient[i + l] = sum - weight * y[i + l];
      lanes[l] += u[i + l] * gradient[i + l];
    }
  }
  return combine(lanes);
}

void add_columns(const double* __restrict columns, const double* __restrict u, std::size_t count, std::size_t n,
                 double* __restrict y) {
  for (std::size_t i = 0; i < n; i += kLanes) {
    alignas(64) double lanes[kLanes] = {};
    for (std::size_t k = 0; k < count; ++k) {
      if (u[k] == 0.0) continue;
      const double* column = columns + k * n + i;
      for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += u[k] * column[l];
    }
    for (std::size_t l = 0; l < kLanes; ++l) y[i + l] = lanes[l];
  }
}

AscentResult project(double* __restrict gradient, double value, const double* __restrict u,
                     const double* __restrict old_u, const double* __restrict old_gradient, std::size_t n) {
  alignas(64) double slopes[kLanes] = {};
  alignas(64) double squares[kLanes] = {};
  for (std::size_t i = 0; i < n; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      gradient[i + l] -= value * u[i + l];
      const double delta = u[i + l] - old_u[i + l];
      slopes[l] += old_gradient[i + l] * delta;
      squares[l] += delta * delta;
    }
  }
  return {combine(slopes), combine(squares)};
}

#ifndef CLIPPERPLUS_OWN_MISSES
void count_misses(std::uint16_t* misses, const Word* row, std::size_t words, std::uint16_t step) {
  for (std::size_t w = 0; w < words; ++w) {
    for (Word rest = ~row[w]; rest != 0; rest &= rest - 1) {
      std::uint16_t& entry = misses[w * kWordBits + lowest_bit(rest)];
      entry = static_cast<std::uint16_t>(entry + step);
    }
  }
}

Word find_misses(const std::uint16_t* misses, std::uint16_t wanted) {
  Word found = 0;
  for (std::size_t i = 0; i < kWordBits; ++i) found |= static_cast<Word>(misses[i] == wanted) << i;
  return found;
}
#endif

std::size_t grow_clique(const Word* rows, std::size_t stride, Word* candidates, Vertex* members, std::size_t count,
                        std::uint32_t* shared, Vertex* clique) {
  std::size_t size = 0, counted = 0;  // counted: how many members there were when their neighbours were counted
  while (count > 0) {
    if (5 * count <= 4 * counted || counted == 0) {
      for (std::size_t k = 0; k < count; ++k) {
        const Word* row = rows + static_cast<std::size_t>(members[k]) * stride;
        std::size_t common = 0;
        for (std::size_t w = 0; w < stride; ++w) common += bit_count(row[w] & candidates[w]);
        shared[k] = static_cast<std::uint32_t>(common);
      }
      counted = count;
    }
    std::size_t best = 0;
    for (std::size_t k = 1; k < count; ++k) best = shared[k] > shared[best] ? k : best;
    const Word* row = rows + static_cast<std::size_t>(members[best]) * stride;
    clique[size++] = members[best];
    std::size_t kept = 0;
    for (std::size_t k = 0; k < count; ++k) {
      shared[kept] = shared[k];
      members[kept] = members[k];
      kept += test_bit(row, static_cast<std::size_t>(members[k])) ? 1 : 0;
    }
    count = kept;
    for (std::size_t w = 0; w < stride; ++w) candidates[w] &= row[w];
  }
  return size;
}

#ifndef CLIPPERPLUS_OWN_FLOATS
constexpr std::size_t kFloatLanes = 4;
using Floats = Vector<float, kFloatLanes>;
inline Floats load(const float* p) { return *reinterpret_cast<const Floats*>(p); }
inline void store(float* p, Floats x) { *reinterpret_cast<Floats*>(p) = x; }
inline Floats broadcast(float x) { return in_all_lanes<Floats>(x); }
inline Floats fused(Floats a, Floats b, Floats c) { return a * b + c; }
inline Floats larger(Floats a, Floats b) { return choose(b < a, a, b); }
inline Floats smaller(Floats a, Floats b) { return choose(a < b, a, b); }
inline void totals(const Floats* x, float* sums) {  // of four
  for (int k = 0; k < 4; ++k) sums[k] = (x[k][0] + x[k][1]) + (x[k][2] + x[k][3]);
}
template <class Flags>
inline Word as_bits(Flags flags) {
  return static_cast<Word>((flags[0] & 1) | (flags[1] & 2) | (flags[2] & 4) | (flags[3] & 8));
}
inline Word less(Floats a, Floats b) { return as_bits(a < b); }
inline Word equal(std::int32_t id, const std::int32_t* ids) {
  using Ids = Vector<std::int32_t, kFloatLanes>;
  return as_bits(in_all_lanes<Ids>(id) == *reinterpret_cast<const Ids*>(ids));
}
#endif

#ifndef CLIPPERPLUS_OWN_ADD_TO_OTHERS
void add_to_others(double* y, const Word* row, std::size_t words, double value) {
  for (std::size_t w = 0; w < words; ++w) {
    for (Word rest = ~row[w]; rest != 0; rest &= rest - 1) y[w * kWordBits + lowest_bit(rest)] += value;
  }
}
#endif

// clang-format off: what is used comes before what uses it
#include "simd/clouds.inc.h"
#include "simd/alignment.inc.h"
#include "simd/views.inc.h"
#include "simd/planes.inc.h"
#include "simd/distances.inc.h"
#include "simd/features.inc.h"
#include "simd/weak_edges.inc.h"
#include "simd/colour_bound.inc.h"
#include "simd/search.inc.h"
#include "simd/listing.inc.h"
#include "simd/weighted_search.inc.h"
// clang-format on

constexpr Kernels table(const char* name) {
  return {
      .name = name,
      .count_rows = count_rows,
      .add_counts = add_counts,
      .gather_transposed = gather_transposed,
      .subtract_and_find_min = subtract_and_find_min,
      .extend_greedily = extend_greedily,
      .grow_clique = grow_clique,
      .take_colour_class = take_colour_class,
      .count_misses = count_misses,
      .find_misses = find_misses,
      .search = search,
      .search_weighted = search_weighted,
      .list_cliques = list_cliques,
      .find_weak_edges = find_weak_edges,
      .table_sums = table_sums,
      .compare_distances = compare_distances,
      .compare_features = compare_features,
      .bound_features = bound_features,
      .measure_features = measure_features,
      .select_near = select_near,
      .fit_planes = fit_planes,
      .describe_pairs = describe_pairs,
      .add_histograms = add_histograms,
      .move_points = move_points,
      .count_explained = count_explained,
      .add_overlap = add_overlap,
      .add_equations = add_equations,
      .look_at_points = look_at_points,
      .count_torn = count_torn,
      .see_points = see_points,
      .see_slopes = see_slopes,
      .add_sightings = add_sightings,
      .add_columns = add_columns,
      .add_to_others = add_to_others,
      .step = step,
      .scale = scale,
      .gradient = gradient,
      .project = project,
  };
}
