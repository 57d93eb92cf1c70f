// The smallest values that were offered to each of n rows, with their numbers.
//
// A row has a limit: what is not below it is not wanted. An offer costs a comparison with that, and rarely a place in a
// sorted list.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

class SmallestOfRows {
 public:
  static constexpr std::size_t kBlock = simd::kBlock;
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  SmallestOfRows(std::size_t n, std::size_t size)
      : size_(size), limits_(round_up(n, kBlock), -kInfinity), values_(n * size, kInfinity), indices_(n * size, -1) {
    std::fill_n(limits_.begin(), n, kInfinity);
  }

  const float* limits() const { return limits_.data(); }  // what is not below is not wanted
  std::size_t size() const { return size_; }
  std::span<const float> values(std::size_t row) const { return {&values_[row * size_], size_}; }
  std::span<const std::int32_t> indices(std::size_t row) const { return {&indices_[row * size_], size_}; }

  void offer(std::size_t row, float value, std::int32_t index) {
    if (!(value < limits_[row])) return;
    const std::size_t begin = row * size_;
    std::size_t place = begin + size_ - 1;
    if (size_ > kMany) {  // two moves of whole blocks of memory
      const auto first = values_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto at = std::upper_bound(first, first + static_cast<std::ptrdiff_t>(size_ - 1), value) - first;
      const std::size_t last = place;
      place = begin + static_cast<std::size_t>(at);
      std::copy_backward(&values_[place], &values_[last], &values_[last] + 1);
      std::copy_backward(&indices_[place], &indices_[last], &indices_[last] + 1);
    } else {
      for (; place > begin && value < values_[place - 1]; --place) {
        values_[place] = values_[place - 1];
        indices_[place] = indices_[place - 1];
      }
    }
    values_[place] = value;
    indices_[place] = index;
    limits_[row] = std::min(limits_[row], values_[row * size_ + size_ - 1]);
  }

  // Some of the values that will be offered to a block of rows, kBlock to each, value j of row i at kBlock * j + i and
  // as it is then but for `error`: others need not be remembered if they are larger than the best of these. Saves the
  // many offers to rows that do not know anything yet.
  void foresee(std::size_t block, const float* values, double error) {
    if (size_ > kBlock) return;
    std::vector<float> best(size_ * kBlock, kInfinity);  // the smallest of each row, then the next …
    for (std::size_t j = 0; j < kBlock; ++j) {
      std::array<float, kBlock> rest;
      std::copy_n(values + j * kBlock, kBlock, rest.begin());
      for (std::size_t p = 0; p < size_; ++p) {
        float* smallest = &best[p * kBlock];
        for (std::size_t i = 0; i < kBlock; ++i) {
          const float value = rest[i], least = smallest[i];
          smallest[i] = std::min(value, least);
          rest[i] = std::max(value, least);
        }
      }
    }
    const std::size_t begin = block * kBlock, end = std::min(begin + kBlock, values_.size() / size_);
    for (std::size_t row = begin; row < end; ++row) {
      const auto limit = static_cast<double>(best[(size_ - 1) * kBlock + row - begin]) + error;
      limits_[row] = std::nextafter(static_cast<float>(limit), kInfinity);
    }
  }
  void join(const SmallestOfRows& other) {
    for (std::size_t k = 0; k < values_.size(); ++k) offer(k / size_, other.values_[k], other.indices_[k]);
  }
  // The largest limit of a block of rows.
  float largest_limit(std::size_t block) const {
    constexpr std::size_t kAtOnce = 8;
    const float* limits = &limits_[block * kBlock];
    float largest[kAtOnce];
    std::copy_n(limits, kAtOnce, largest);
    for (std::size_t i = kAtOnce; i < kBlock; i += kAtOnce) {
      for (std::size_t k = 0; k < kAtOnce; ++k) largest[k] = largest[k] < limits[i + k] ? limits[i + k] : largest[k];
    }
    return *std::max_element(largest, largest + kAtOnce);
  }

 private:
  static constexpr std::size_t kMany = 32;  // from here on it is worth while to search for a place

  std::size_t size_;
  AlignedVector<float> limits_;
  std::vector<float> values_;
  std::vector<std::int32_t> indices_;
};

}  // namespace clipperplus::inline v0
