#include "clouds/matching.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "clouds/feature_sets.h"
#include "clouds/smallest_of_rows.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

using simd::kBlock;

// Features that are kept beyond those wanted. If even the next one is too close to call in single precision, the row is
// searched again; to remember more of them would cost all rows more than that.
constexpr std::size_t kSpare = 1;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A feature that may be among the nearest of a row.
struct Candidate {
  std::size_t row;
  std::int32_t index;
  double square = 0.0;  // of their distance

  bool operator<(const Candidate& other) const {
    return square < other.square || (square == other.square && index < other.index);
  }
};

// Squared distances, each added up dimension after dimension. Four are under way at a time, as each addition waits for
// the one before.
void measure(std::span<Candidate> candidates, const FeatureSet& rows, std::span<const float> from,
             std::span<const float> to, std::size_t dimensions) {
  constexpr std::size_t kAtOnce = 4, kPart = 32;
  for (std::size_t begin = 0; begin < candidates.size(); begin += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, candidates.size() - begin);
    std::array<double, kAtOnce> sums{};
    for (std::size_t first = 0; first < dimensions; first += kPart) {
      const std::size_t part = std::min(kPart, dimensions - first);
      std::array<std::array<double, kPart>, kAtOnce> squares;
      for (std::size_t p = 0; p < count; ++p) {
        const Candidate& candidate = candidates[begin + p];
        const float* a = &from[static_cast<std::size_t>(rows.order[candidate.row]) * dimensions + first];
        const float* b = &to[static_cast<std::size_t>(candidate.index) * dimensions + first];
        for (std::size_t k = 0; k < part; ++k) {
          const double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
          squares[p][k] = difference * difference;
        }
      }
      for (std::size_t p = count; p < kAtOnce; ++p) squares[p] = squares[0];
      for (std::size_t k = 0; k < part; ++k) {
        for (std::size_t p = 0; p < kAtOnce; ++p) sums[p] += squares[p][k];
      }
    }
    for (std::size_t p = 0; p < count; ++p) candidates[begin + p].square = sums[p];
  }
}

// What single precision found, checked and completed in double precision.
class Settling {
 public:
  Settling(const SmallestOfRows& found, const FeatureSpace& space, const FeatureSet& rows, const FeatureSet& columns,
           std::span<const float> from, std::span<const float> to, std::size_t k)
      : found_(found),
        space_(space),
        rows_(rows),
        columns_(columns),
        from_(from),
        to_(to),
        d_(space.dimensions),
        k_(k) {}

  NearestFeatures run(std::size_t threads, const simd::Kernels& kernels, Control& control) {
    NearestFeatures result{k_, std::vector<std::int32_t>(rows_.count * k_), std::vector<double>(rows_.count * k_)};
    std::vector<std::size_t> open;
    for (std::size_t row = 0; row < rows_.count; ++row) {
      if (!is_complete(row)) open.push_back(row);
    }
    const auto settle = [&](std::size_t begin, std::size_t end) {
      std::vector<Candidate> candidates;
      for (std::size_t row = begin; row < end; ++row) {
        if (is_complete(row)) list(row, candidates);
      }
      choose(candidates, result);
    };
    for_each_block(rows_.count, threads, control, settle, 256);
    const std::size_t blocks = (open.size() + kBlock - 1) / kBlock;
    const auto search = [&](std::size_t block) {
      const std::size_t begin = block * kBlock;
      search_again(std::span(open).subspan(begin, std::min(kBlock, open.size() - begin)), kernels, result);
    };
    for_each_index(blocks, threads, control, search, 1);
    return result;
  }

 private:
  // What is above this is not among the k nearest of the row.
  float limit_of(std::size_t row) const {
    // Of a feature that is truly nearer than the last one found, at the distance d, ‖b‖ is at most ‖a‖ + d.
    const double length = rows_.lengths[row], unit = space_.unit();
    const auto last = static_cast<double>(found_.values(row)[k_ - 1]);
    const double reach = length + std::sqrt(std::max(last, 0.0) + 4.0 * unit * length * length);
    const double limit = last + 2.0 * unit * (length * length + reach * reach) + space_.lost();
    return std::nextafter(static_cast<float>(limit), kInfinity);
  }

  // Whether all that could be among the k nearest were kept.
  bool is_complete(std::size_t row) const {
    return columns_.count <= found_.size() || found_.values(row).back() > limit_of(row);
  }

  void list(std::size_t row, std::vector<Candidate>& candidates) const {
    const float limit = limit_of(row);
    for (std::size_t p = 0; p < std::min(columns_.count, found_.size()); ++p) {
      if (found_.values(row)[p] <= limit) candidates.push_back({row, found_.indices(row)[p]});
    }
  }

  // Finds all candidates of up to kBlock rows, in single precision again.
  void search_again(std::span<const std::size_t> open, const simd::Kernels& kernels, NearestFeatures& result) const {
    const std::size_t stride = rows_.stride;
    AlignedVector<float> panel(kBlock * stride, 0.0F), lengths(kBlock, kInfinity), squares(kBlock * kBlock);
    AlignedVector<float> limits(2 * kBlock, -kInfinity);
    std::array<Word, kBlock> hits;
    std::vector<std::vector<Candidate>> candidates(open.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::copy_n(&rows_.rows[open[i] * stride], stride, &panel[i * stride]);
      lengths[i] = rows_.squares[open[i]];
      limits[i] = std::nextafter(limit_of(open[i]), kInfinity);
    }
    for (std::size_t c = 0; c < columns_.blocks; ++c) {
      kernels.compare_features({.dimensions = d_,
                                .rows = panel.data(),
                                .columns = columns_.block_columns(c),
                                .row_squares = lengths.data(),
                                .column_squares = columns_.block_squares(c),
                                .row_limits = limits.data(),
                                .column_limits = limits.data() + kBlock},
                               squares.data(), hits.data());
      for (std::size_t i = 0; i < open.size(); ++i) {
        for (Word rest = hits[i]; rest != 0; rest &= rest - 1) {
          const std::size_t column = c * kBlock + static_cast<std::size_t>(std::countr_zero(rest));
          if (column < columns_.count) candidates[i].push_back({open[i], columns_.order[column]});
        }
      }
    }
    for (auto& of_row : candidates) choose(of_row, result);
  }

  // Keeps the k nearest of the candidates of each row, ties to the lower number.
  void choose(std::span<Candidate> candidates, NearestFeatures& result) const {
    measure(candidates, rows_, from_, to_, d_);
    for (auto first = candidates.begin(); first != candidates.end();) {
      const auto last = std::find_if(first, candidates.end(), [&](const Candidate& c) { return c.row != first->row; });
      const auto i = static_cast<std::size_t>(rows_.order[first->row]);
      std::partial_sort(first, first + static_cast<std::ptrdiff_t>(k_), last);
      for (std::size_t p = 0; p < k_; ++p) {
        result.squares[i * k_ + p] = first[static_cast<std::ptrdiff_t>(p)].square;
        result.indices[i * k_ + p] = first[static_cast<std::ptrdiff_t>(p)].index;
      }
      first = last;
    }
  }

  const SmallestOfRows& found_;
  const FeatureSpace& space_;
  const FeatureSet& rows_;
  const FeatureSet& columns_;
  std::span<const float> from_, to_;
  std::size_t d_, k_;
};

// Compares all pairs, or all that can matter, in single precision.
class Comparison {
 public:
  Comparison(const FeatureSpace& space, const FeatureSet& rows, const FeatureSet& columns, SmallestOfRows& by_row,
             SmallestOfRows& by_column, const simd::Kernels& kernels)
      : space_(space), rows_(rows), columns_(columns), by_row_(by_row), by_column_(by_column), kernels_(kernels) {}

  void run(std::size_t threads, Control& control) {
    // Every block meets the nearest one first, only for limits.
    SmallestOfRows ahead(columns_.count, by_column_.size());
    const auto foresee_row = [&](std::size_t r) { foresee(r, by_row_, rows_, columns_); };
    const auto foresee_column = [&](std::size_t c) { foresee(c, ahead, columns_, rows_); };
    for_each_index(rows_.blocks, threads, control, foresee_row, 1);
    for_each_index(columns_.blocks, threads, control, foresee_column, 1);
    std::atomic<std::size_t> next{0};
    std::mutex merging;
    const auto work = [&](bool owner) {
      Share share(*this, ahead);
      for (std::size_t r; (r = next.fetch_add(1)) < rows_.blocks && !control.stopped();) {
        if (owner) control.expired();
        share.meet_all(r);
      }
      const std::lock_guard lock(merging);
      by_column_.join(share.by_column);
    };
    run_on_threads(std::min(threads, rows_.blocks), control, work, [] {});
  }

 private:
  using Squares = std::array<float, kBlock * kBlock>;

  // What one thread does, and remembers of the columns.
  struct Share {
    // Where bounds leave so many pairs of a block, comparing all of them takes no longer …
    static constexpr std::size_t kDense = kBlock * kBlock / 6;
    // … and where that was so in most of the blocks before, only one in so many is tried.
    static constexpr int kPatience = 16, kTriedAgain = 16;

    const Comparison& all;
    SmallestOfRows by_column;
    std::vector<std::pair<float, std::size_t>> visits;
    alignas(64) Squares squares;
    std::array<Word, kBlock> hits;
    int patience = kPatience;
    std::size_t untried = 0;

    Share(const Comparison& comparison, const SmallestOfRows& ahead) : all(comparison), by_column(ahead) {}

    void meet_all(std::size_t r) {
      if (!all.space_.bounded()) {
        for (std::size_t c = 0; c < all.columns_.blocks; ++c) compare(r, c);
        return;
      }
      visits.clear();
      for (std::size_t c = 0; c < all.columns_.blocks; ++c) {
        visits.emplace_back(distance_of_middles(all.rows_.boxes[r], all.columns_.boxes[c]), c);
      }
      std::sort(visits.begin(), visits.end());
      for (const auto& [distance, c] : visits) {
        const double bound = distance_between(all.rows_.boxes[r], all.columns_.boxes[c], all.space_);
        if (bound >= static_cast<double>(std::max(all.by_row_.largest_limit(r), by_column.largest_limit(c)))) continue;
        if ((patience <= 0 && ++untried % kTriedAgain != 0) || !compare_near(r, c)) compare(r, c);
      }
    }

    void compare(std::size_t r, std::size_t c) {
      all.kernels_.compare_features({.dimensions = all.rows_.dimensions,
                                     .rows = all.rows_.block_rows(r),
                                     .columns = all.columns_.block_columns(c),
                                     .row_squares = all.rows_.block_squares(r),
                                     .column_squares = all.columns_.block_squares(c),
                                     .row_limits = all.by_row_.limits() + r * kBlock,
                                     .column_limits = by_column.limits() + c * kBlock},
                                    squares.data(), hits.data());
      for (std::size_t i = 0; i < kBlock; ++i) {
        for (Word rest = hits[i]; rest != 0; rest &= rest - 1) {
          const auto j = static_cast<std::size_t>(std::countr_zero(rest));
          offer(r * kBlock + i, c * kBlock + j, squares[i * kBlock + j]);
        }
      }
    }

    // Only those whose bounds are below a limit. False: there are too many of them, and nothing is done.
    bool compare_near(std::size_t r, std::size_t c) {
      const std::size_t left =
          all.kernels_.bound_features({.rows = &all.rows_.bound_rows[r * kBlock * simd::kBoundWidth],
                                       .columns = &all.columns_.bound_columns[c * kBlock * simd::kBoundWidth],
                                       .row_limits = all.by_row_.limits() + r * kBlock,
                                       .column_limits = by_column.limits() + c * kBlock},
                                      hits.data());
      patience = std::clamp(patience + (left > kDense ? -1 : 1), 0, kPatience);
      if (left > kDense) return false;
      for (std::size_t i = 0; i < kBlock; ++i) {
        if (hits[i] == 0) continue;
        all.kernels_.measure_features(all.rows_.block_rows(r) + i * all.rows_.stride, all.columns_.block_rows(c),
                                      all.rows_.dimensions, hits[i], squares.data());
        std::size_t k = 0;
        for (Word rest = hits[i]; rest != 0; rest &= rest - 1, ++k) {
          offer(r * kBlock + i, c * kBlock + static_cast<std::size_t>(std::countr_zero(rest)), squares[k]);
        }
      }
      return true;
    }

    void offer(std::size_t row, std::size_t column, float square) {
      all.by_row_.offer(row, square, all.columns_.order[column]);
      by_column.offer(column, square, all.rows_.order[row]);
    }
  };

  void foresee(std::size_t block, SmallestOfRows& smallest, const FeatureSet& mine, const FeatureSet& others) const {
    std::size_t nearest = 0;
    double error = 0.0;
    if (space_.bounded()) {
      float least = kInfinity;
      for (std::size_t b = 0; b < others.blocks; ++b) {
        const float distance = distance_of_middles(mine.boxes[block], others.boxes[b]);
        if (distance < least) least = distance, nearest = b;
      }
      error = 2.0 * (space_.unit() * (mine.boxes[block].square + others.boxes[nearest].square) + space_.lost());
    }
    alignas(64) Squares squares;
    alignas(64) const std::array<float, kBlock> limits{};
    std::array<Word, kBlock> hits;
    kernels_.compare_features({.dimensions = mine.dimensions,
                               .rows = others.block_rows(nearest),
                               .columns = mine.block_columns(block),
                               .row_squares = others.block_squares(nearest),
                               .column_squares = mine.block_squares(block),
                               .row_limits = limits.data(),
                               .column_limits = limits.data()},
                              squares.data(), hits.data());
    smallest.foresee(block, squares.data(), error);
  }

  const FeatureSpace& space_;
  const FeatureSet& rows_;
  const FeatureSet& columns_;
  SmallestOfRows& by_row_;
  SmallestOfRows& by_column_;
  const simd::Kernels& kernels_;
};

}  // namespace

NearestBothWays nearest_features(std::span<const float> source, std::span<const float> target, std::size_t dimensions,
                                 std::size_t k, std::size_t threads, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = source.size() / dimensions, m = target.size() / dimensions;
  if (n == 0 || m == 0) return {};
  const FeatureSpace space(source, target, dimensions);
  const FeatureSet rows(source, space), columns(target, space);
  const std::size_t of_rows = std::min(k, m), of_columns = std::min(k, n);
  SmallestOfRows by_row(n, of_rows + kSpare), by_column(m, of_columns + kSpare);
  Comparison(space, rows, columns, by_row, by_column, kernels).run(threads, control);
  return {Settling(by_row, space, rows, columns, source, target, of_rows).run(threads, kernels, control),
          Settling(by_column, space, columns, rows, target, source, of_columns).run(threads, kernels, control)};
}

}  // namespace clipperplus::inline v0
