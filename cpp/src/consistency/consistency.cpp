#include "consistency/consistency.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "consistency/pair_test.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kGroup = kRowAlignWords;  // blocks whose words share cache lines

// Calls work(0) … work(count - 1), each once, on several threads.
template <class Work>
void for_each_task(std::size_t count, std::size_t threads, Control& control, Work work) {
  std::atomic<std::size_t> next{0};
  const auto share = [&](bool owner) {
    if (owner) control.expired();  // also where the others are so quick that they leave no task
    for (std::size_t task = next++; task < count && !control.stopped(); task = next++) {
      work(task, [&] { return owner ? control.expired() : control.stopped(); });
    }
  };
  run_on_threads(std::min(threads, std::max<std::size_t>(1, count)), control, share, [] {});
  if (control.stopped()) throw std::runtime_error("the graph is not complete: a check stopped the work");
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
        n_(problem.count),
        tile_(std::max(options.tile, tile_for(std::max(options.most_tiles, 2 * options.threads)))) {
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
  std::size_t tile_for(std::size_t tiles) const { return (test_.blocks() + tiles - 1) / tiles; }

  void transpose(const PairTest::Words& words, PairTest::Words& out) const {
    kernels_.gather_transposed(words.data(), 1, lanes_.data(), PairTest::kBlock, 0, out.data());
  }

  Graph build_bits() {
    const std::size_t stride = row_words(n_);
    AlignedVector<Word> rows(n_ * stride);
    const std::size_t blocks = test_.blocks(), groups = (blocks + kGroup - 1) / kGroup;
    // A group owns whole cache lines: its rows from the diagonal on, and its words in all rows below.
    for_each_task(groups, options_.threads, control_, [&](std::size_t group, auto poll) {
      alignas(64) PairTest::Words words, transposed;
      for (std::size_t column = group * kGroup; column < blocks; ++column) {
        if (poll()) return;
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
             const PairTest::Words& words) const {
    const std::size_t first = row * PairTest::kBlock, count = std::min(PairTest::kBlock, n_ - first);
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
    alignas(64) PairTest::Words words;
    for (std::size_t row = tile_row * tile_; row < std::min((tile_row + 1) * tile_, test_.blocks()); ++row) {
      if (poll()) return;
      const std::size_t first = std::max(row, tile_column * tile_);
      for (std::size_t column = first; column < std::min((tile_column + 1) * tile_, test_.blocks()); ++column) {
        test_.block(row, column, words);
        visit(row, column, words);
      }
    }
  }

  // Two passes over all pairs: the first counts the neighbours of every association in every tile, which gives each
  // tile of the second its own places to write to.
  Graph build_rows() {
    const std::size_t tiles = (test_.blocks() + tile_ - 1) / tile_;
    std::vector<std::pair<std::size_t, std::size_t>> tasks;
    for (std::size_t row = 0; row < tiles; ++row) {
      for (std::size_t column = row; column < tiles; ++column) tasks.emplace_back(row, column);
    }
    const std::size_t padded = test_.blocks() * PairTest::kBlock;
    std::vector<std::uint32_t> cursors(tiles * padded, 0);  // [tile][association]
    for_each_task(tasks.size(), options_.threads, control_, [&](std::size_t task, auto poll) {
      const auto [tile_row, tile_column] = tasks[task];
      for_each_block(
          tile_row, tile_column,
          [&, tile_row = tile_row, tile_column = tile_column](std::size_t row, std::size_t column,
                                                              const PairTest::Words& words) {
            kernels_.add_counts(words.data(), &cursors[tile_column * padded + row * PairTest::kBlock]);
            if (row == column) return;
            alignas(64) PairTest::Words transposed;
            transpose(words, transposed);
            kernels_.add_counts(transposed.data(), &cursors[tile_row * padded + column * PairTest::kBlock]);
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
    if (Graph::prefers_bits(n_, static_cast<std::size_t>(offsets[n_]) / 2) && problem_.clique_size < 2) {
      std::vector<std::uint32_t>().swap(cursors);
      return build_bits();  // the sample was not like the rest
    }
    std::vector<Vertex> neighbours(static_cast<std::size_t>(offsets[n_]));
    for_each_task(tasks.size(), options_.threads, control_, [&](std::size_t task, auto poll) {
      const auto [tile_row, tile_column] = tasks[task];
      const auto append = [&](const PairTest::Words& words, std::size_t block, std::size_t others,
                              std::uint32_t* cursor) {
        const std::size_t last = std::min(PairTest::kBlock, n_ - block * PairTest::kBlock);
        const auto first = static_cast<Vertex>(others * PairTest::kBlock);
        for (std::size_t i = 0; i < last; ++i) {
          const std::size_t v = block * PairTest::kBlock + i;
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
                                                              const PairTest::Words& words) {
            append(words, row, column, &cursors[tile_column * padded]);
            if (row == column) return;
            alignas(64) PairTest::Words transposed;
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
  std::size_t tile_;  // blocks
  std::array<Vertex, PairTest::kBlock> lanes_{};
};

}  // namespace

double sampled_density(const DistanceProblem& problem, const simd::Kernels& kernels) {
  return PairTest(problem, kernels).estimated_density();
}

Graph join_by_distance(const DistanceProblem& problem, const JoinOptions& options, const simd::Kernels& kernels,
                       Control& control) {
  return GraphBuilder(problem, options, kernels, control).build();
}

}  // namespace clipperplus::inline v0
