// The inner loops that are compiled once per instruction set, and the table that selects among them at run time.
//
// Every path gives the same bits: set operations are exact, and floating-point sums follow one fixed order that does
// not depend on the register width (no fused multiply-add, kLanes partial sums combined by a fixed tree). Pointers
// are 64-byte aligned, lengths are padded: words to kRowAlignWords, doubles to kBlock.
//
// A table entry is a whole inner loop, never a single row operation: an indirect call costs as much as a short row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../bits.h"

namespace clipperplus::simd {

inline constexpr std::size_t kBlock = 64;        // a block of complement_sums is 64 rows × 64 columns
inline constexpr std::size_t kLanes = 32;        // partial sums of a reduction
inline constexpr std::size_t kTestedAtOnce = 8;  // edges whose common neighbours are counted together

using PeelKey = std::uint32_t;

struct ScaleResult {
  double sum;
  std::size_t nonzeros;
};

struct AscentResult {
  double slope;          // sum of old_gradient · (u - old_u)
  double squared_delta;  // ‖u - old_u‖²
};

// What eight words of two rows have in common. Bit w of `some`: one bit or more in word w; of `several`: more than one.
struct SharedWords {
  unsigned some, several;
};

// A vertex that its colour class must give to a clique that would be large enough.
struct Forced {
  std::size_t colour, vertex;
};

// A search for a clique of more than `must_beat` vertices in a graph of bit rows. The caller provides the memory.
struct LocalSearch {
  const Word* rows;
  std::size_t n, words;   // vertices; words of a row
  std::size_t must_beat;  // grows with every clique found
  Vertex* best;           // the last clique found, must_beat vertices; room for n
  Vertex* clique;         // scratch, n
  Word* levels;           // scratch, 2 · words for each depth 0 … n
  Word* classes;          // scratch, words for each of n colour classes
  Word* scratch;          // scratch, words
  bool* used;             // scratch, n: colour classes that an inconsistent subset has used up …
  std::size_t* unused;    // scratch, n: … and the others
  Forced* forced;         // scratch, n
  std::uint64_t nodes;    // grows with every node; the search stops at node_limit …
  std::uint64_t node_limit;
  bool (*stop)(void*);  // … or when this says so
  void* context;
  bool stopped;  // it did stop, the search is not complete
};

struct Kernels {
  const char* name;

  // counts[i] = number of bits in row i, for n rows; returns their sum.
  std::size_t (*count_rows)(const Word* rows, std::size_t stride, std::size_t n, Vertex* counts);

  // Column block `word` of the rows `vertices` (at most 64 of them), transposed: bit j of block[t] is bit t of word
  // `word` of row vertices[j]. Bits past `count` are zero.
  void (*gather_transposed)(const Word* rows, std::size_t stride, const Vertex* vertices, std::size_t count,
                            std::size_t word, Word* block);

  // Subtracts `step` from the keys of the members of `row` and returns the smallest key: one removal of cores.cpp.
  PeelKey (*subtract_and_find_min)(PeelKey* keys, const Word* row, std::size_t words, PeelKey step);

  // Grows `clique` by the lowest candidate again and again, intersecting `candidates` (clobbered) with its row.
  // Gives up and returns 0 as soon as more than `must_beat` vertices cannot be reached; else the size.
  std::size_t (*extend_greedily)(const Word* rows, std::size_t stride, Word* candidates, Vertex* clique,
                                 std::size_t size, std::size_t must_beat);

  // Takes the lowest member of `pool` and drops its neighbours, until `pool` is empty: a colour class, removed from
  // `uncoloured`. Returns the size of the class.
  std::size_t (*take_colour_class)(const Word* rows, std::size_t stride, Word* uncoloured, Word* pool);

  // misses[i] += step for every i that is not in `row`.
  void (*count_misses)(std::uint16_t* misses, const Word* row, std::size_t words, std::uint16_t step);
  // Which of 64 entries are equal to `wanted`.
  Word (*find_misses)(const std::uint16_t* misses, std::uint16_t wanted);

  // Branch and bound: looks at every clique that could be larger, or stops at a limit.
  void (*search)(LocalSearch& task);

  // Which of the vertices `asked` have fewer than `common` neighbours in common with u; stops at `enough` of them.
  std::size_t (*find_weak_edges)(const Word* rows, std::size_t stride, std::size_t u, const Vertex* asked,
                                 std::size_t count, std::size_t common, std::size_t enough, Vertex* weak);

  // y[i] = sum over columns j with bit (i, j) set of the values behind `tables`; see relaxation.h for the layout.
  void (*table_sums)(const Word* blocks, std::size_t row_blocks, std::size_t column_blocks, const double* tables,
                     double* y);

  // x = max(u + alpha * gradient, 0); returns ‖x‖².
  double (*step)(const double* u, const double* gradient, double alpha, std::size_t n, double* x);
  // x *= factor
  ScaleResult (*scale)(double* x, double factor, std::size_t n);
  // gradient = sum - (1 + d) * y; returns u · gradient.
  double (*gradient)(const double* y, const double* u, double sum, double d, std::size_t n, double* gradient);
  // gradient -= value * u, and how far the step from old_u went against old_gradient.
  AscentResult (*project)(double* gradient, double value, const double* u, const double* old_u,
                          const double* old_gradient, std::size_t n);
};

// Those that this processor can run, best first; the last is always the portable one.
std::vector<const Kernels*> available();

}  // namespace clipperplus::simd
