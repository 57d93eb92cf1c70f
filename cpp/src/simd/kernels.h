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

#include "clipperplus/bits.h"
#include "clipperplus/instruction_sets.h"

namespace clipperplus::inline v0::simd {

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

// A search for cliques of more than `must_beat` vertices in a graph of bit rows, below the node that is given by the
// first `size` vertices of `clique` and its candidates. The caller provides the memory.
struct CliqueTask {
  const Word* rows;
  std::size_t n, words;   // vertices; words of a row
  std::size_t must_beat;  // the search raises it with every clique found, the listing does not
  Vertex* clique;         // room for the largest clique there can be, and one
  std::size_t size;       // vertices of it that are given
  Word* levels;           // kSearchSets or kListingSets sets for each of these sizes; the first holds the node's

  Word* classes;                           // scratch, words for each of n colour classes
  Word* pool;                              // scratch, words
  bool* used;                              // scratch, n: colour classes that an inconsistent subset has used up …
  std::size_t* unused;                     // scratch, n: … and the others
  Forced* forced;                          // scratch, n
  bool recolour = true, propagate = true;  // what the bound may do besides colouring

  std::uint64_t nodes = 0;  // grows with every node; the task ends at node_limit …
  std::uint64_t node_limit;
  bool (*stop)(void* context);  // … or when this says so
  void* context;
  bool stopped = false;  // it did end early
  // A clique of more than must_beat vertices. The listing ends if this says so; the search goes on.
  bool (*found)(void* context, const Vertex* clique, std::size_t size);

  bool all_maximal = false;  // the listing only: no clique in demand can grow

  // The search only: the best clique of all threads (see shared_best.h), the place of this task among theirs and how
  // many vertices the clique has outside of this graph; how many threads are idle, and whom to give a node for them.
  const std::uint64_t* best_key = nullptr;
  std::size_t index = 0, outside = 0;
  const int* idle = nullptr;
  void (*give)(void* context, std::size_t size, const Word* candidates) = nullptr;
};
inline constexpr std::size_t kSearchSets = 2;   // candidates, those to branch on
inline constexpr std::size_t kListingSets = 3;  // and those that are excluded

// The same for cliques that are heavier than what `to_beat` says, which other threads may raise.
struct WeightedTask {
  const Word* rows;
  std::size_t n, words;
  const Weight* weights;  // of the vertices, at least 0
  Vertex* clique;         // room for n
  std::size_t size;       // vertices of it that are given …
  Weight weight;          // … and what they weigh, with those outside of this graph
  Word* levels;           // kSearchSets sets for each size; the first holds the node's candidates

  Word* sets;      // scratch, words for each of n + 1 independent sets
  Weight* room;    // scratch, n + 1: what each can still pay
  Weight* unpaid;  // scratch, n: what of a vertex no set pays
  Word* pool;      // scratch, words

  std::uint64_t nodes = 0;
  std::uint64_t node_limit;
  bool (*stop)(void* context);
  void* context;
  bool stopped = false;
  Weight (*to_beat)(void* context);
  void (*found)(void* context, const Vertex* clique, std::size_t size);  // it may be heavier
};

// 64 associations against 64 others. Coordinates are scaled and centred single-precision numbers, first those of the
// source points, then those of the target points, each array beginning at the block's first association.
struct DistanceBlock {
  const float* rows[6];
  const float* columns[6];
  const std::int32_t* row_ids[2];  // source and target point of an association; null: no two share one
  const std::int32_t* column_ids[2];
  const float* row_offsets[3];  // null: none
  const float* column_offsets[3];
  const float* row_epsilons;  // null: the same threshold for all pairs
  const float* column_epsilons;
  float high, low;              // the threshold with and without its margin …
  float margin;                 // … and the margin, absolute and relative
  float apart_high, apart_low;  // squares of the least distance with and without its margin; negative: none
};

inline constexpr std::size_t kFeaturePadding = 16;

// 64 features a against 64 others b, as ‖a‖² + ‖b‖² - 2 a · b.
struct FeatureBlock {
  std::size_t dimensions;
  const float* rows;     // a, one after the other, filled up with zeros to a multiple of kFeaturePadding numbers
  const float* columns;  // -2 b, kBlock of them, a dimension at a time
  const float* row_squares;
  const float* column_squares;
  const float* row_limits;
  const float* column_limits;
};

// Lower bounds of the squared distances of 64 features from 64 others, in two parts: x + y - 2 p · q for the first
// kBoundFirst coordinates, and the same of the others added to it. A row is (x of either part, -2 p), a column
// (y of either part, q); laid out like a FeatureBlock's. What fills up has a finite x or y first, and then an infinite
// one. See clouds/feature_sets.h.
struct BoundBlock {
  const float* rows;
  const float* columns;
  const float* row_limits;
  const float* column_limits;
};
inline constexpr std::size_t kBoundFirst = 4, kBoundCoordinates = 12, kBoundWidth = 2 + kBoundCoordinates;

// Points that may be near another, coordinates apart.
struct NearCandidates {
  const double* x;
  const double* y;
  const double* z;
  const std::int32_t* indices;
  std::size_t count;
};

// Where the cells of a surface begin, and the number along each axis of one beyond them: see clouds/surface_grid.h.
struct GridFrame {
  double low[3], beyond[3];
  double per_cell;  // 1 / width
};

// kBlock points of a cloud, each with the number of another point near it.
struct PairBlock {
  const double* source;  // x y z of the points, x y z of their normals and what each counts, kBlock of each
  const double* motion;  // of the source: a rotation row by row, and a shift
  const double* places;  // of the points after the motion, x y z, kBlock of each
  const double* target;  // points with their normals, kOriented numbers each
  const std::int32_t* found;
  double square;        // pairs count that are no farther apart …
  double least_cosine;  // … and whose normals differ by no larger angle, whatever their signs
};
// Planes at neighbouring points: x y z of their normals and their offsets from the origin.
struct PlanePairs {
  const double* first[4];
  const double* second[4];
  std::size_t count;
};

// What kBlock points look like from a place: see clouds/viewpoints.h.
struct Sightings {
  alignas(64) double ranges[kBlock];
  alignas(64) double cosines[kBlock];  // between lines of sight and normals
  alignas(64) double ratios[kBlock];   // of squared ranges to cosines
};

inline constexpr std::size_t kPairLanes = 8;      // partial sums over the pairs
inline constexpr std::size_t kBlockColumns = 7;   // of a block of points
inline constexpr std::size_t kOverlapSums = 4;    // of add_overlap
inline constexpr std::size_t kEquationSums = 33;  // of add_equations
inline constexpr std::size_t kSightingSums = 7;   // of add_sightings

// Planes through up to kBlock points: unit normals, how far the points around each spread along it and along three axes
// together, and how many there are.
struct FittedPlanes {
  alignas(64) double x[kBlock], y[kBlock], z[kBlock];
  alignas(64) double least[kBlock], total[kBlock], counts[kBlock];
};

inline constexpr std::size_t kOriented = 8;  // numbers of a point with its normal: x y z of both, filled up
inline constexpr std::size_t kHistogramBins = 33, kHistogram = 48;  // filled up

struct Kernels {
  const char* name;

  // counts[i] = number of bits in row i, for n rows; returns their sum.
  std::size_t (*count_rows)(const Word* rows, std::size_t stride, std::size_t n, Vertex* counts);

  // counts[i] += number of bits in word i, for kBlock words.
  void (*add_counts)(const Word* words, std::uint32_t* counts);

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

  // Grows `clique` by the candidate that had the most neighbours among the candidates when they were last counted,
  // which is whenever a fifth of them is gone; ties to the first in `members`, which lists them. Clobbers both and
  // `shared`, which has room for all; so has the clique. Returns its size.
  std::size_t (*grow_clique)(const Word* rows, std::size_t stride, Word* candidates, Vertex* members, std::size_t count,
                             std::uint32_t* shared, Vertex* clique);

  // Takes the lowest member of `pool` and drops its neighbours, until `pool` is empty: a colour class, removed from
  // `uncoloured`. Returns the size of the class.
  std::size_t (*take_colour_class)(const Word* rows, std::size_t stride, Word* uncoloured, Word* pool);

  // misses[i] += step for every i that is not in `row`.
  void (*count_misses)(std::uint16_t* misses, const Word* row, std::size_t words, std::uint16_t step);
  // Which of 64 entries are equal to `wanted`.
  Word (*find_misses)(const std::uint16_t* misses, std::uint16_t wanted);

  // Branch and bound: looks at every clique that could be larger, or stops at a limit.
  void (*search)(CliqueTask& task);
  // The same for weights.
  void (*search_weighted)(WeightedTask& task);
  // Finds every maximal clique of more than must_beat vertices once, or stops at a limit.
  void (*list_cliques)(CliqueTask& task);

  // Which of the vertices `asked` have fewer than `common` neighbours in `mine`; room for all of them in `weak`.
  std::size_t (*find_weak_edges)(const Word* rows, std::size_t stride, const Word* mine, const Vertex* asked,
                                 std::size_t count, std::size_t common, Vertex* weak);

  // y[i] = sum over columns j with bit (i, j) set of the values behind `tables`; see ascent/complement_sums.h for the
  // layout.
  void (*table_sums)(const Word* blocks, std::size_t row_blocks, std::size_t column_blocks, const double* tables,
                     double* y);

  // Bit j of maybe[i]: association i and j may be consistent; of surely[i]: they are, without a doubt.
  void (*compare_distances)(const DistanceBlock& block, Word* maybe, Word* surely);

  // squares[kBlock * i + j] of the distance of row i and column j. Bit j of hits[i]: it is below the limit of the row
  // or the column.
  void (*compare_features)(const FeatureBlock& block, float* squares, Word* hits);
  // Bit j of hits[i]: the bound of row i and column j is below the limit of the row or the column. Returns how many
  // are.
  std::size_t (*bound_features)(const BoundBlock& block, Word* hits);
  // The squared distances of a feature from those of 64 others whose bit is set, lowest first; room for
  // three more. Features are filled up with zeros to a multiple of kFeaturePadding numbers.
  void (*measure_features)(const float* feature, const float* others, std::size_t dimensions, Word which,
                           float* squares);

  // Candidates within the squared distance of a point, other than itself. Room for all of them and eight more in
  // `near`.
  std::size_t (*select_near)(const NearCandidates& candidates, const double* point, std::int32_t self, double square,
                             std::int32_t* near);
  // Of points x y z and a fourth number that is not read: where those within a squared distance of each of up to kBlock
  // of them lie, of their neighbours `indices` from `offsets[i]` up to `offsets[i + 1]`. See clouds/normals.h.
  void (*fit_planes)(const double* points, const std::int32_t* indices, const std::int64_t* offsets, std::size_t first,
                     std::size_t count, double square, FittedPlanes& planes);
  // Of a point and its neighbours, by their numbers among oriented points: how many pairs have each of the three angles
  // in each of 11 bins, and each neighbour's weight. `scale` is one by the largest distance. See clouds/fpfh.h.
  void (*describe_pairs)(const double* oriented, double scale, std::size_t self, const std::int32_t* near,
                         std::size_t count, std::int32_t* counts, float* weights);
  // The weighted sum of some of many histograms, with room for kHistogram numbers.
  void (*add_histograms)(const float* histograms, const std::int32_t* indices, const float* weights, std::size_t count,
                         float* sum);

  // Where a block of points comes to lie, x y z, and in which cell of a grid; outside of it, in one beyond.
  void (*move_points)(const double* points, const double* motion, const GridFrame& frame, double* places,
                      std::int32_t* cells);
  // How many of the first points of a block, x y z of them and of their matches, kBlock of each, a motion brings closer
  // to these than a squared distance.
  std::size_t (*count_explained)(const double* matched, const double* motion, std::size_t count, double square);
  // Adds the pairs of a block to sums, kPairLanes of each: how many are near; of those that agree how many there are,
  // what they count and that times the squared distances along the target's normals.
  void (*add_overlap)(const PairBlock& block, double* sums);
  // The same of the pairs that agree, weighted by (1 - fall · squared distance)². With rows (arm × n, n), arms from a
  // centre to the moved points, and distances along n: of the products of two rows, the lower triangle; of rows and
  // distances; of arms, ones, squared distances and squared lengths of the arms.
  void (*add_equations)(const PairBlock& block, const double* centre, double fall, double* sums);

  // How far a block of points is from a place after a motion, and in which pixel of clouds/cube_directions.h.
  void (*look_at_points)(const double* points, const double* motion, const double* place, std::int32_t side,
                         double* ranges, std::int32_t* pixels);

  // How many pairs of planes have a place in front of one and behind the other.
  std::size_t (*count_torn)(const PlanePairs& pairs, const double* place);
  // What a block of points, x y z and their normals, kBlock of each, looks like from a place.
  void (*see_points)(const double* points, const double* place, Sightings& seen);
  // How far each may reach within an angle, if the surface goes on as it is.
  void (*see_slopes)(const Sightings& seen, double angle, double* reaches);
  // Adds the points of a block whose range is not 0 to sums, kPairLanes of each: how many there are; of half the
  // logarithm x of the ratio by a divisor and the density y the sums of x, x², x y, y and y²; how many graze. The
  // logarithms are taken of quotients, as ranges from afar hardly differ.
  void (*add_sightings)(const Sightings& seen, double divisor, const double* densities, double* sums);

  // y = the sum of u[k] times column k of a matrix of n × `count` numbers, each column after the other.
  void (*add_columns)(const double* columns, const double* u, std::size_t count, std::size_t n, double* y);

  // y[i] += value for every i that is not in `row`.
  void (*add_to_others)(double* y, const Word* row, std::size_t words, double value);

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

}  // namespace clipperplus::inline v0::simd
