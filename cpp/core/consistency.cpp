#include "consistency.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "threads.h"

namespace clipperplus {

namespace {

constexpr std::size_t kBlock = simd::kBlock;
constexpr std::size_t kGroup = kRowAlignWords;  // blocks whose words share cache lines
constexpr float kMargin = 32.0F * 0x1p-24F;     // see the header
constexpr float kNothingIsCertain = 4.0F;       // more than the largest distance, the diagonal of a cube of edge 2
constexpr std::array<std::size_t, 6> kFirstOfCloud{0, 0, 0, 1, 1, 1};

using BlockWords = std::array<Word, kBlock>;

// Answers for any block of pairs, from any thread.
class PairTest {
 public:
  PairTest(const DistanceProblem& problem, const simd::Kernels& kernels)
      : problem_(problem), kernels_(kernels), n_(problem.count), padded_(round_up(n_, kBlock)) {
    scale_coordinates();
    prepare_thresholds();
    if (problem.one_to_one && !problem.associations.empty()) {
      for (std::size_t cloud = 0; cloud < 2; ++cloud) {
        ids_[cloud].assign(padded_, -1);
        for (std::size_t i = 0; i < n_; ++i) ids_[cloud][i] = static_cast<std::int32_t>(point(i, cloud));
      }
    }
  }

  std::size_t blocks() const { return padded_ / kBlock; }

  // Bit j of out[i]: associations 64 · row + i and 64 · column + j agree.
  void block(std::size_t row, std::size_t column, BlockWords& out) const {
    alignas(64) BlockWords surely;
    kernels_.compare_distances(describe(row * kBlock, column * kBlock), out.data(), surely.data());
    const std::size_t rows = std::min(kBlock, n_ - row * kBlock), columns = std::min(kBlock, n_ - column * kBlock);
    const Word there = columns == kBlock ? ~Word{0} : (Word{1} << columns) - 1;
    for (std::size_t i = 0; i < rows; ++i) {
      Word word = surely[i] & there;
      Word unsure = (out[i] ^ surely[i]) & there;
      if (row == column) unsure &= ~(Word{1} << i), word &= ~(Word{1} << i);
      for (; unsure != 0; unsure &= unsure - 1) {
        const auto j = static_cast<std::size_t>(std::countr_zero(unsure));
        if (agree(row * kBlock + i, column * kBlock + j)) word |= Word{1} << j;
      }
      out[i] = word;
    }
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(rows), out.end(), Word{0});
  }

  // Share of the pairs that agree, from a few thousand of them.
  double estimated_density() const {
    constexpr std::size_t kRows = 64;
    const std::size_t step = std::max<std::size_t>(1, blocks() / 16);
    std::size_t joined = 0, asked = 0;
    alignas(64) BlockWords words;
    for (std::size_t b = 0; b < blocks(); b += step) {
      block(b, (b * 7 + 3) % blocks(), words);
      for (Word word : words) joined += static_cast<std::size_t>(std::popcount(word));
      asked += kRows * kBlock;
    }
    return static_cast<double>(joined) / static_cast<double>(asked);
  }

 private:
  std::int64_t point(std::size_t i, std::size_t cloud) const {
    return problem_.associations.empty() ? static_cast<std::int64_t>(i) : problem_.associations[2 * i + cloud];
  }
  double coordinate(std::size_t i, std::size_t cloud, std::size_t axis) const {
    if (axis >= problem_.dimension) return 0.0;
    const auto& points = cloud == 0 ? problem_.source : problem_.target;
    return points[static_cast<std::size_t>(point(i, cloud)) * problem_.dimension + axis];
  }
  double epsilon(std::size_t i, std::size_t j) const {
    return problem_.epsilons.empty() ? problem_.epsilon : problem_.epsilons[i] + problem_.epsilons[j];
  }

  double distance(std::size_t i, std::size_t j, std::size_t cloud) const {
    const double x = coordinate(i, cloud, 0) - coordinate(j, cloud, 0);
    const double y = coordinate(i, cloud, 1) - coordinate(j, cloud, 1);
    const double z = coordinate(i, cloud, 2) - coordinate(j, cloud, 2);
    return std::sqrt(x * x + y * y + z * z);
  }

  // The definition. Points that two associations share have been sorted out before.
  bool agree(std::size_t i, std::size_t j) const {
    const double a = distance(i, j, 0), b = distance(i, j, 1);
    return !(a < problem_.min_distance) && !(b < problem_.min_distance) && std::abs(a - b) < epsilon(i, j);
  }

  void scale_coordinates() {
    double largest = 0.0, half = 0.0;
    std::array<double, 6> centre{};
    for (std::size_t k = 0; k < 6; ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t i = 0; i < n_; ++i) {
        const double x = coordinate(i, kFirstOfCloud[k], k % 3);
        low = std::min(low, x);
        high = std::max(high, x);
      }
      if (n_ == 0) low = high = 0.0;
      centre[k] = low / 2.0 + high / 2.0;
      half = std::max(half, high / 2.0 - low / 2.0);
      largest = std::max({largest, std::abs(low), std::abs(high)});
    }
    radius_ = half > 0.0 ? half * (1.0 + 0x1p-40) : 1.0;
    margin_ = std::min(kNothingIsCertain, kMargin + static_cast<float>(0x1p-48 * std::min(0x1p60, largest / radius_)));
    // Squares of such lengths overflow or vanish in double precision, too: whatever it makes of them is the answer.
    if (radius_ > 1e140 || radius_ < 1e-140) margin_ = kNothingIsCertain;
    for (std::size_t k = 0; k < 6; ++k) {
      coordinates_[k].assign(padded_, 0.0F);
      for (std::size_t i = 0; i < n_; ++i) {
        coordinates_[k][i] = static_cast<float>((coordinate(i, kFirstOfCloud[k], k % 3) - centre[k]) / radius_);
      }
    }
  }

  void prepare_thresholds() {
    constexpr double kLargest = 1e6;  // a threshold beyond all distances; its fourth power is still a float
    const auto scaled = [&](double length) { return static_cast<float>(std::min(kLargest, length / radius_)); };
    const float epsilon = scaled(problem_.epsilon);
    high_ = epsilon + epsilon * margin_ + margin_;
    low_ = std::max(0.0F, epsilon - epsilon * margin_ - margin_);
    epsilons_.reserve(problem_.epsilons.size());
    for (double each : problem_.epsilons) epsilons_.push_back(scaled(each));
    epsilons_.resize(problem_.epsilons.empty() ? 0 : padded_, 0.0F);
    if (problem_.min_distance > 0.0) {
      const float apart = scaled(problem_.min_distance);
      const float with = apart + apart * margin_ + margin_, without = apart - apart * margin_ - margin_;
      apart_high_ = with * with;
      apart_low_ = without > 0.0F ? without * without : -1.0F;
    }
  }

  simd::DistanceBlock describe(std::size_t row, std::size_t column) const {
    simd::DistanceBlock block{};
    for (std::size_t k = 0; k < 6; ++k) {
      block.rows[k] = coordinates_[k].data() + row;
      block.columns[k] = coordinates_[k].data() + column;
    }
    for (std::size_t cloud = 0; cloud < 2 && !ids_[0].empty(); ++cloud) {
      block.row_ids[cloud] = ids_[cloud].data() + row;
      block.column_ids[cloud] = ids_[cloud].data() + column;
    }
    if (!epsilons_.empty()) {
      block.row_epsilons = epsilons_.data() + row;
      block.column_epsilons = epsilons_.data() + column;
    }
    block.high = high_;
    block.low = low_;
    block.margin = margin_;
    block.apart_high = apart_high_;
    block.apart_low = apart_low_;
    return block;
  }

  const DistanceProblem& problem_;
  const simd::Kernels& kernels_;
  std::size_t n_, padded_;
  double radius_ = 1.0;
  float margin_ = kMargin, high_ = 0.0F, low_ = 0.0F, apart_high_ = -1.0F, apart_low_ = -1.0F;
  std::array<AlignedVector<float>, 6> coordinates_;
  std::array<AlignedVector<std::int32_t>, 2> ids_;
  AlignedVector<float> epsilons_;
};

// Calls work(0) … work(count - 1), each once, on several threads.
template <class Work>
void for_each_task(std::size_t count, std::size_t threads, Control& control, Work work) {
  std::atomic<std::size_t> next{0};
  const auto share = [&](bool owner) {
    for (std::size_t task = next++; task < count && !control.stopped(); task = next++) {
      work(task, [&] {
        if (owner) control.expired();
      });
    }
  };
  run_on_threads(std::min(threads, std::max<std::size_t>(1, count)), control, share, [] {});
}

class GraphBuilder {
 public:
  GraphBuilder(const DistanceProblem& problem, const JoinOptions& options, const simd::Kernels& kernels,
               Control& control)
      : problem_(problem),
        options_(options),
        kernels_(kernels),
        control_(control),
        test_(problem, kernels),
        n_(problem.count) {
    std::iota(lanes_.begin(), lanes_.end(), Vertex{0});
  }

  Graph build() {
    const std::size_t bit_bytes = n_ * row_words(n_) * sizeof(Word);
    const double pairs = static_cast<double>(n_) * (static_cast<double>(n_) - 1.0) / 2.0;
    const bool sparse = bit_bytes > options_.bits_anyway &&
                        !Graph::prefers_bits(n_, static_cast<std::size_t>(test_.estimated_density() * pairs));
    return sparse ? build_rows() : build_bits();
  }

 private:
  void transpose(const BlockWords& words, BlockWords& out) const {
    kernels_.gather_transposed(words.data(), 1, lanes_.data(), kBlock, 0, out.data());
  }

  Graph build_bits() {
    const std::size_t stride = row_words(n_);
    AlignedVector<Word> rows(n_ * stride);
    const std::size_t blocks = test_.blocks(), groups = (blocks + kGroup - 1) / kGroup;
    // A group owns whole cache lines: its rows from the diagonal on, and its words in all rows below.
    for_each_task(groups, options_.threads, control_, [&](std::size_t group, auto poll) {
      alignas(64) BlockWords words, transposed;
      for (std::size_t column = group * kGroup; column < blocks; ++column) {
        poll();
        for (std::size_t row = group * kGroup; row < std::min((group + 1) * kGroup, column + 1); ++row) {
          test_.block(row, column, words);
          write(rows, stride, row, column, words);
          if (row == column) continue;
          transpose(words, transposed);
          write(rows, stride, column, row, transposed);
        }
      }
    });
    drop_weak_bits(rows, stride);
    auto graph = Graph::from_bit_rows(n_, std::move(rows), kernels_);
    graph.to_preferred_form();
    return graph;
  }

  void write(AlignedVector<Word>& rows, std::size_t stride, std::size_t row, std::size_t column,
             const BlockWords& words) const {
    const std::size_t first = row * kBlock, count = std::min(kBlock, n_ - first);
    for (std::size_t i = 0; i < count; ++i) rows[(first + i) * stride + column] = words[i];
  }

  bool weak(std::size_t degree) const { return degree + 1 < problem_.clique_size; }

  void drop_weak_bits(AlignedVector<Word>& rows, std::size_t stride) const {
    if (problem_.clique_size < 2) return;
    std::vector<Vertex> degrees(n_);
    kernels_.count_rows(rows.data(), stride, n_, degrees.data());
    std::vector<Word> kept(stride, 0);
    for (std::size_t i = 0; i < n_; ++i) {
      if (!weak(static_cast<std::size_t>(degrees[i]))) set_bit(kept.data(), i);
    }
    for (std::size_t i = 0; i < n_; ++i) {
      const bool keep = test_bit(kept.data(), i);
      for (std::size_t w = 0; w < stride; ++w) rows[i * stride + w] &= keep ? kept[w] : 0;
    }
  }

  // Calls visit(row, column, words) for every block of a tile that is not below the diagonal, columns before rows.
  template <class Visit, class Poll>
  void for_each_block(std::size_t tile_row, std::size_t tile_column, Visit visit, Poll poll) const {
    alignas(64) BlockWords words;
    for (std::size_t row = tile_row * options_.tile; row < std::min((tile_row + 1) * options_.tile, test_.blocks());
         ++row) {
      poll();
      const std::size_t first = std::max(row, tile_column * options_.tile);
      for (std::size_t column = first; column < std::min((tile_column + 1) * options_.tile, test_.blocks()); ++column) {
        test_.block(row, column, words);
        visit(row, column, words);
      }
    }
  }

  // Two passes over all pairs: the first counts the neighbours of every association in every tile, which gives each
  // tile of the second its own places to write to.
  Graph build_rows() {
    const std::size_t tiles = (test_.blocks() + options_.tile - 1) / options_.tile;
    std::vector<std::pair<std::size_t, std::size_t>> tasks;
    for (std::size_t row = 0; row < tiles; ++row) {
      for (std::size_t column = row; column < tiles; ++column) tasks.emplace_back(row, column);
    }
    const std::size_t padded = test_.blocks() * kBlock;
    std::vector<std::uint32_t> cursors(tiles * padded, 0);  // [tile][association]
    for_each_task(tasks.size(), options_.threads, control_, [&](std::size_t task, auto poll) {
      const auto [tile_row, tile_column] = tasks[task];
      for_each_block(
          tile_row, tile_column,
          [&, tile_row = tile_row, tile_column = tile_column](std::size_t row, std::size_t column,
                                                              const BlockWords& words) {
            kernels_.add_counts(words.data(), &cursors[tile_column * padded + row * kBlock]);
            if (row == column) return;
            alignas(64) BlockWords transposed;
            transpose(words, transposed);
            kernels_.add_counts(transposed.data(), &cursors[tile_row * padded + column * kBlock]);
          },
          poll);
    });

    std::vector<std::int64_t> offsets(n_ + 1, 0);
    std::vector<bool> kept(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      std::uint32_t degree = 0;
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        degree += std::exchange(cursors[tile * padded + i], degree);
      }
      kept[i] = !weak(degree);
      offsets[i + 1] = offsets[i] + (kept[i] ? degree : 0);
    }
    std::vector<Vertex> neighbours(static_cast<std::size_t>(offsets[n_]));
    for_each_task(tasks.size(), options_.threads, control_, [&](std::size_t task, auto poll) {
      const auto [tile_row, tile_column] = tasks[task];
      const auto append = [&](const BlockWords& words, std::size_t block, std::size_t others, std::uint32_t* cursor) {
        const std::size_t last = std::min(kBlock, n_ - block * kBlock);
        const auto first = static_cast<Vertex>(others * kBlock);
        for (std::size_t i = 0; i < last; ++i) {
          const std::size_t v = block * kBlock + i;
          if (words[i] == 0 || !kept[v]) continue;
          Vertex* const row = neighbours.data() + offsets[v];
          Vertex* next = row + cursor[v];
          for (Word rest = words[i]; rest != 0; rest &= rest - 1) *next++ = first + std::countr_zero(rest);
          cursor[v] = static_cast<std::uint32_t>(next - row);
        }
      };
      for_each_block(
          tile_row, tile_column,
          [&, tile_row = tile_row, tile_column = tile_column](std::size_t row, std::size_t column,
                                                              const BlockWords& words) {
            append(words, row, column, &cursors[tile_column * padded]);
            if (row == column) return;
            alignas(64) BlockWords transposed;
            transpose(words, transposed);
            append(transposed, column, row, &cursors[tile_row * padded]);
          },
          poll);
    });
    if (problem_.clique_size >= 2) drop_weak_neighbours(offsets, neighbours, kept);
    auto graph = Graph::from_sorted_rows(n_, std::move(offsets), std::move(neighbours));
    graph.to_preferred_form();
    return graph;
  }

  void drop_weak_neighbours(std::vector<std::int64_t>& offsets, std::vector<Vertex>& neighbours,
                            const std::vector<bool>& kept) const {
    std::size_t end = 0, read = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto stop = static_cast<std::size_t>(offsets[i + 1]);
      for (; read < stop; ++read) {
        if (kept[static_cast<std::size_t>(neighbours[read])]) neighbours[end++] = neighbours[read];
      }
      offsets[i + 1] = static_cast<std::int64_t>(end);
    }
    neighbours.resize(end);
  }

  const DistanceProblem& problem_;
  const JoinOptions& options_;
  const simd::Kernels& kernels_;
  Control& control_;
  PairTest test_;
  std::size_t n_;
  std::array<Vertex, kBlock> lanes_{};
};

}  // namespace

Graph join_by_distance(const DistanceProblem& problem, const JoinOptions& options, const simd::Kernels& kernels,
                       Control& control) {
  return GraphBuilder(problem, options, kernels, control).build();
}

}  // namespace clipperplus
