#include "clouds/matching.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "threads.h"

namespace clipperplus {

namespace {

using simd::kBlock;

// Features that are kept beyond those wanted. If even the next one is too close to call in single precision, the row is
// searched again; to remember more of them would cost all rows more than that.
constexpr std::size_t kSpare = 1;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The smallest values that were offered to each of n rows, with their numbers.
class SmallestOfRows {
 public:
  SmallestOfRows(std::size_t n, std::size_t size)
      : size_(size), limits_(round_up(n, kBlock), kInfinity), values_(n * size, kInfinity), indices_(n * size, -1) {}

  const float* limits() const { return limits_.data(); }  // what is not below is not wanted
  std::size_t size() const { return size_; }
  std::span<const float> values(std::size_t row) const { return {&values_[row * size_], size_}; }
  std::span<const std::int32_t> indices(std::size_t row) const { return {&indices_[row * size_], size_}; }

  void offer(std::size_t row, float value, std::int32_t index) {
    if (!(value < limits_[row])) return;
    std::size_t place = row * size_ + size_ - 1;
    for (; place > row * size_ && value < values_[place - 1]; --place) {
      values_[place] = values_[place - 1];
      indices_[place] = indices_[place - 1];
    }
    values_[place] = value;
    indices_[place] = index;
    limits_[row] = std::min(limits_[row], values_[row * size_ + size_ - 1]);
  }

  // Some of the values that will be offered to a row, at steps in memory: the others need not be remembered if they are
  // larger than the best of these. Saves the many offers to rows that do not know anything yet.
  void foresee(std::size_t row, const float* values, std::size_t step) {
    if (row * size_ >= values_.size()) return;  // what fills up the last block
    std::vector<float> best(size_, kInfinity);
    for (std::size_t k = 0; k < kBlock; ++k) {
      const float value = values[k * step];
      if (!(value < best.back())) continue;
      std::size_t place = size_ - 1;
      for (; place > 0 && value < best[place - 1]; --place) best[place] = best[place - 1];
      best[place] = value;
    }
    limits_[row] = std::nextafter(best.back(), kInfinity);
  }

 private:
  std::size_t size_;
  AlignedVector<float> limits_;
  std::vector<float> values_;
  std::vector<std::int32_t> indices_;
};

// The numbers below n, neighbours far apart: features of neighbours are alike, and a row that meets its nearest early
// has little to remember of the others.
std::vector<std::int32_t> scattered(std::size_t n) {
  std::size_t step = n * 5 / 8 + 1;
  while (std::gcd(step, n) != 1) ++step;
  std::vector<std::int32_t> order(n);
  for (std::size_t i = 0, place = 0; i < n; ++i, place = (place + step) % n)
    order[i] = static_cast<std::int32_t>(place);
  return order;
}

// Features as the kernel wants them.
struct Prepared {
  std::size_t count, dimensions;
  AlignedVector<float> rows;        // (-2 a, 1, ‖a‖²), a block at a time, the last filled up
  AlignedVector<float> columns;     // (a, ‖a‖², 1), likewise, a dimension at a time in each block
  std::vector<double> lengths;      // ‖a‖, in the order of the caller
  std::vector<std::int32_t> order;  // the caller's number of each

  Prepared(std::span<const float> features, std::size_t d, std::span<const double> mean, double scale)
      : count(features.size() / d), dimensions(d + 2) {
    const std::size_t padded = round_up(count, kBlock);
    lengths.resize(count);
    order = scattered(count);
    rows.assign(padded * dimensions, 0.0F);
    columns.assign(padded * dimensions, 0.0F);
    for (std::size_t i = 0; i < padded; ++i) {
      float* row = &rows[i * dimensions];
      float* column = &columns[i / kBlock * kBlock * dimensions + i % kBlock];
      double square = 0.0;
      for (std::size_t k = 0; k < d && i < count; ++k) {
        const float feature = features[static_cast<std::size_t>(order[i]) * d + k];
        const auto value = static_cast<float>((static_cast<double>(feature) - mean[k]) * scale);
        square += static_cast<double>(value) * static_cast<double>(value);
        row[k] = -2.0F * value;
        column[k * kBlock] = value;
      }
      if (i < count) lengths[static_cast<std::size_t>(order[i])] = std::sqrt(square);
      const float last = i < count ? static_cast<float>(square) : kInfinity;  // what fills up is near nothing
      row[d] = column[(d + 1) * kBlock] = 1.0F;
      row[d + 1] = column[d * kBlock] = last;
    }
  }
};

double squared_distance(const float* a, const float* b, std::size_t dimensions) {
  double sum = 0.0;
  for (std::size_t k = 0; k < dimensions; ++k) {
    const double difference = static_cast<double>(a[k]) - static_cast<double>(b[k]);
    sum += difference * difference;
  }
  return sum;
}

// What single precision found, checked and completed in double precision.
class Settling {
 public:
  Settling(const SmallestOfRows& found, const Prepared& rows, const Prepared& columns, std::span<const float> from,
           std::span<const float> to, std::size_t k)
      : found_(found), rows_(rows), columns_(columns), from_(from), to_(to), d_(rows.dimensions - 2), k_(k) {}

  NearestFeatures run(std::size_t threads, const simd::Kernels& kernels, Control& control) {
    NearestFeatures result{k_, std::vector<std::int32_t>(rows_.count * k_), std::vector<double>(rows_.count * k_)};
    std::vector<std::size_t> open;
    for (std::size_t row = 0; row < rows_.count; ++row) {
      if (!is_complete(row)) open.push_back(row);
    }
    for_each_index(rows_.count, threads, control, [&](std::size_t row) {
      if (is_complete(row)) choose(row, listed(row), result);
    });
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
    const double length = rows_.lengths[static_cast<std::size_t>(rows_.order[row])];
    const auto last = static_cast<double>(found_.values(row)[k_ - 1]);
    const auto d = static_cast<double>(d_);
    const double unit = 0x1p-24 * (2.0 * d + 16.0);
    const double reach = length + std::sqrt(std::max(last, 0.0) + 4.0 * unit * length * length);
    const double lost = (d + 2.0) * 0x1p-148;  // products too small for single precision
    return std::nextafter(static_cast<float>(last + 2.0 * unit * (length * length + reach * reach) + lost), kInfinity);
  }

  // Whether all that could be among the k nearest were kept.
  bool is_complete(std::size_t row) const {
    return columns_.count <= found_.size() || found_.values(row).back() > limit_of(row);
  }

  std::vector<std::int32_t> listed(std::size_t row) const {
    std::vector<std::int32_t> candidates;
    const float limit = limit_of(row);
    for (std::size_t p = 0; p < std::min(columns_.count, found_.size()); ++p) {
      if (found_.values(row)[p] <= limit) candidates.push_back(found_.indices(row)[p]);
    }
    return candidates;
  }

  // Finds all candidates of up to kBlock rows, in single precision again.
  void search_again(std::span<const std::size_t> open, const simd::Kernels& kernels, NearestFeatures& result) const {
    const std::size_t width = rows_.dimensions;
    AlignedVector<float> panel(kBlock * width, 0.0F), products(kBlock * kBlock), limits(2 * kBlock, -kInfinity);
    std::array<Word, kBlock> hits;
    std::vector<std::vector<std::int32_t>> candidates(open.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::copy_n(&rows_.rows[open[i] * width], width, &panel[i * width]);
      limits[i] = std::nextafter(limit_of(open[i]), kInfinity);
    }
    for (std::size_t c = 0; c * kBlock < columns_.count; ++c) {
      kernels.compare_features({.dimensions = width,
                                .rows = panel.data(),
                                .columns = &columns_.columns[c * kBlock * width],
                                .row_limits = limits.data(),
                                .column_limits = limits.data() + kBlock},
                               products.data(), hits.data());
      for (std::size_t i = 0; i < open.size(); ++i) {
        for (Word rest = hits[i]; rest != 0; rest &= rest - 1) {
          const std::size_t column = c * kBlock + static_cast<std::size_t>(std::countr_zero(rest));
          if (column < columns_.count) candidates[i].push_back(columns_.order[column]);
        }
      }
    }
    for (std::size_t i = 0; i < open.size(); ++i) choose(open[i], candidates[i], result);
  }

  // Keeps the k nearest of the candidates, ties to the lower number.
  void choose(std::size_t row, std::span<const std::int32_t> candidates, NearestFeatures& result) const {
    const auto i = static_cast<std::size_t>(rows_.order[row]);
    std::vector<std::pair<double, std::int32_t>> nearest;
    nearest.reserve(candidates.size());
    for (const std::int32_t j : candidates) {
      nearest.emplace_back(squared_distance(&from_[i * d_], &to_[static_cast<std::size_t>(j) * d_], d_), j);
    }
    std::partial_sort(nearest.begin(), nearest.begin() + static_cast<std::ptrdiff_t>(k_), nearest.end());
    for (std::size_t p = 0; p < k_; ++p) {
      result.squares[i * k_ + p] = nearest[p].first;
      result.indices[i * k_ + p] = nearest[p].second;
    }
  }

  const SmallestOfRows& found_;
  const Prepared& rows_;
  const Prepared& columns_;
  std::span<const float> from_, to_;
  std::size_t d_, k_;
};

}  // namespace

NearestBothWays nearest_features(std::span<const float> source, std::span<const float> target, std::size_t dimensions,
                                 std::size_t k, std::size_t threads, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = source.size() / dimensions, m = target.size() / dimensions;
  if (n == 0 || m == 0) return {};
  std::vector<double> mean(dimensions, 0.0);
  for (const auto& features : {source, target}) {
    for (std::size_t i = 0; i < features.size(); i += dimensions) {
      for (std::size_t b = 0; b < dimensions; ++b) mean[b] += static_cast<double>(features[i + b]);
    }
  }
  for (double& value : mean) value /= static_cast<double>(n + m);
  double largest = 0.0;
  for (const auto& features : {source, target}) {
    for (std::size_t i = 0; i < features.size(); i += dimensions) {
      for (std::size_t b = 0; b < dimensions; ++b) {
        largest = std::max(largest, std::abs(static_cast<double>(features[i + b]) - mean[b]));
      }
    }
  }
  const double scale = largest > 0.0 ? 1.0 / largest : 1.0;
  const Prepared rows(source, dimensions, mean, scale), columns(target, dimensions, mean, scale);
  const std::size_t row_blocks = (n + kBlock - 1) / kBlock, column_blocks = (m + kBlock - 1) / kBlock;
  const std::size_t of_rows = std::min(k, m), of_columns = std::min(k, n);

  SmallestOfRows by_row(n, of_rows + kSpare), by_column(m, of_columns + kSpare);
  std::atomic<std::size_t> next{0};
  std::mutex merging;
  const auto work = [&](bool owner) {
    SmallestOfRows mine(m, by_column.size());
    alignas(64) std::array<float, kBlock * kBlock> products;
    std::array<Word, kBlock> hits;
    bool first = true;
    for (std::size_t r; (r = next.fetch_add(1)) < row_blocks && !control.stopped();) {
      if (owner) control.expired();
      const auto compare = [&](std::size_t c) {
        kernels.compare_features({.dimensions = rows.dimensions,
                                  .rows = &rows.rows[r * kBlock * rows.dimensions],
                                  .columns = &columns.columns[c * kBlock * rows.dimensions],
                                  .row_limits = by_row.limits() + r * kBlock,
                                  .column_limits = mine.limits() + c * kBlock},
                                 products.data(), hits.data());
      };
      compare(0);
      for (std::size_t i = 0; i < kBlock; ++i) by_row.foresee(r * kBlock + i, &products[i * kBlock], 1);
      for (std::size_t c = 0; c < column_blocks; ++c) {
        if (first) {
          compare(c);
          for (std::size_t j = 0; j < kBlock; ++j) mine.foresee(c * kBlock + j, &products[j], kBlock);
        }
        compare(c);
        for (std::size_t i = 0; i < kBlock; ++i) {
          for (Word rest = hits[i]; rest != 0; rest &= rest - 1) {
            const auto j = static_cast<std::size_t>(std::countr_zero(rest));
            const float product = products[i * kBlock + j];
            const std::size_t row = r * kBlock + i, column = c * kBlock + j;
            by_row.offer(row, product, columns.order[column]);
            mine.offer(column, product, rows.order[row]);
          }
        }
      }
      first = false;
    }
    const std::lock_guard lock(merging);
    for (std::size_t column = 0; column < m; ++column) {
      for (std::size_t p = 0; p < mine.size(); ++p) {
        by_column.offer(column, mine.values(column)[p], mine.indices(column)[p]);
      }
    }
  };
  run_on_threads(std::min(threads, row_blocks), control, work, [] {});

  return {Settling(by_row, rows, columns, source, target, of_rows).run(threads, kernels, control),
          Settling(by_column, columns, rows, target, source, of_columns).run(threads, kernels, control)};
}

}  // namespace clipperplus
