#include "matching.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "../threads.h"
#include "for_each_point.h"

namespace clipperplus {

namespace {

using simd::kBlock;

// Features that are kept beyond those wanted. In single precision the nearest of real features are often too close to
// call; that three are is rare.
constexpr std::size_t kSpare = 2;

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
    limits_[row] = values_[row * size_ + size_ - 1];
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
NearestFeatures settle(const SmallestOfRows& found, const Prepared& rows, std::span<const float> from,
                       std::span<const float> to, std::size_t dimensions, std::size_t k, std::size_t threads,
                       Control& control) {
  const double unit = 0x1p-24 * (2.0 * static_cast<double>(dimensions) + 16.0);
  const std::size_t n = from.size() / dimensions, m = to.size() / dimensions;
  NearestFeatures result{k, std::vector<std::int32_t>(n * k), std::vector<double>(n * k)};
  for_each_point(n, threads, control, [&](std::size_t row) {
    const auto i = static_cast<std::size_t>(rows.order[row]);
    using Nearest = std::pair<double, std::int32_t>;
    std::vector<Nearest> nearest;
    const auto measure = [&](std::size_t j) {
      const double square = squared_distance(&from[i * dimensions], &to[j * dimensions], dimensions);
      return Nearest{square, static_cast<std::int32_t>(j)};
    };
    // Of a feature that is truly nearer than the last one found, at the distance d, ‖b‖ is at most ‖a‖ + d.
    const auto last = static_cast<double>(found.values(row)[k - 1]);
    const double reach = rows.lengths[i] + 1.001 * std::sqrt(std::max(last, 0.0));
    const double margin = 2.0 * unit * (rows.lengths[i] * rows.lengths[i] + reach * reach);
    // Whoever could be among the k nearest is on the list, unless even the last on it is within the margin.
    if (m < found.size() || static_cast<double>(found.values(row).back()) - last > margin) {
      for (std::size_t j = 0; j < std::min(m, found.size()); ++j) {
        if (j >= k && static_cast<double>(found.values(row)[j]) - last > margin) break;
        nearest.push_back(measure(static_cast<std::size_t>(found.indices(row)[j])));
      }
    } else {
      nearest.resize(k, {std::numeric_limits<double>::infinity(), -1});
      for (std::size_t j = 0; j < m; ++j) {
        const Nearest candidate = measure(j);
        if (candidate < nearest.back()) {
          nearest.back() = candidate;
          for (std::size_t p = k - 1; p > 0 && nearest[p] < nearest[p - 1]; --p) std::swap(nearest[p], nearest[p - 1]);
        }
      }
    }
    std::sort(nearest.begin(), nearest.end());
    for (std::size_t j = 0; j < k; ++j) {
      result.squares[i * k + j] = nearest[j].first;
      result.indices[i * k + j] = nearest[j].second;
    }
  });
  return result;
}

}  // namespace

NearestBothWays nearest_features(std::span<const float> source, std::span<const float> target, std::size_t dimensions,
                                 std::size_t k, std::size_t threads, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = source.size() / dimensions, m = target.size() / dimensions;
  if (n == 0 || m == 0) return {};
  std::vector<double> mean(dimensions, 0.0);
  for (const auto& features : {source, target}) {
    for (std::size_t i = 0; i < features.size(); ++i) mean[i % dimensions] += static_cast<double>(features[i]);
  }
  for (double& value : mean) value /= static_cast<double>(n + m);
  double largest = 0.0;
  for (const auto& features : {source, target}) {
    for (std::size_t i = 0; i < features.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(features[i]) - mean[i % dimensions]));
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
    for (std::size_t r; (r = next.fetch_add(1)) < row_blocks && !control.stopped();) {
      if (owner) control.expired();
      for (std::size_t c = 0; c < column_blocks; ++c) {
        kernels.compare_features({.dimensions = rows.dimensions,
                                  .rows = &rows.rows[r * kBlock * rows.dimensions],
                                  .columns = &columns.columns[c * kBlock * rows.dimensions],
                                  .row_limits = by_row.limits() + r * kBlock,
                                  .column_limits = mine.limits() + c * kBlock},
                                 products.data(), hits.data());
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
    }
    const std::lock_guard lock(merging);
    for (std::size_t column = 0; column < m; ++column) {
      for (std::size_t p = 0; p < mine.size(); ++p) {
        by_column.offer(column, mine.values(column)[p], mine.indices(column)[p]);
      }
    }
  };
  run_on_threads(std::min(threads, row_blocks), control, work, [] {});

  return {settle(by_row, rows, source, target, dimensions, of_rows, threads, control),
          settle(by_column, columns, target, source, dimensions, of_columns, threads, control)};
}

}  // namespace clipperplus
