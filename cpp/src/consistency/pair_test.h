// Whether pairs of associations agree, a block of 64 × 64 of them at a time: single precision where it is certain,
// double precision where it is not. See consistency.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "consistency/consistency.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// Answers for any block of pairs, from any thread.
class PairTest {
 public:
  static constexpr std::size_t kBlock = simd::kBlock;
  using Words = std::array<Word, kBlock>;

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
  void block(std::size_t row, std::size_t column, Words& out) const {
    alignas(64) Words surely;
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

  // Share of the pairs that agree, from a few thousand of them. They are far from each other: associations may be
  // sorted, and whole blocks of them right.
  double estimated_density() const {
    constexpr std::size_t kAsked = std::size_t{1} << 14;
    if (n_ == 0) return 0.0;
    std::uint64_t state = 1;
    const auto any = [&] {
      state = state * 6364136223846793005U + 1442695040888963407U;  // Knuth's, of which the high bits are good
      return static_cast<std::size_t>((state >> 33) % n_);
    };
    std::size_t joined = 0;
    for (std::size_t k = 0; k < kAsked; ++k) {
      const std::size_t i = any(), j = any();
      joined += i != j && !share_point(i, j) && agree(i, j) ? 1 : 0;
    }
    return static_cast<double>(joined) / static_cast<double>(kAsked);
  }

 private:
  static constexpr float kMargin = 32.0F * 0x1p-24F;  // see the header
  static constexpr float kNothingIsCertain = 4.0F;  // more than the largest distance, the diagonal of a cube of edge 2
  static constexpr std::array<std::size_t, 6> kFirstOfCloud{0, 0, 0, 1, 1, 1};

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

  bool offsets_agree(std::size_t i, std::size_t j) const {
    if (problem_.offsets.empty()) return true;
    const double x = problem_.offsets[3 * i] - problem_.offsets[3 * j];
    const double y = problem_.offsets[3 * i + 1] - problem_.offsets[3 * j + 1];
    const double z = problem_.offsets[3 * i + 2] - problem_.offsets[3 * j + 2];
    return std::sqrt(x * x + y * y + z * z) < epsilon(i, j);
  }

  // Whether they contradict each other by that.
  bool share_point(std::size_t i, std::size_t j) const {
    return !ids_[0].empty() && (ids_[0][i] == ids_[0][j] || ids_[1][i] == ids_[1][j]);
  }

  // The definition. Points that two associations share have been sorted out before.
  bool agree(std::size_t i, std::size_t j) const {
    const double a = distance(i, j, 0), b = distance(i, j, 1);
    return !(a < problem_.min_distance) && !(b < problem_.min_distance) && std::abs(a - b) < epsilon(i, j) &&
           offsets_agree(i, j);
  }

  // Of the source point, of the target point, and of the offset: what column k is.
  double number(std::size_t i, std::size_t k) const {
    return k < 6 ? coordinate(i, kFirstOfCloud[k], k % 3) : problem_.offsets[3 * i + k - 6];
  }

  void scale_coordinates() {
    double largest = 0.0, half = 0.0;
    std::array<double, 9> centre{};
    const std::size_t columns = problem_.offsets.empty() ? 6 : 9;
    for (std::size_t k = 0; k < columns; ++k) {
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (std::size_t i = 0; i < n_; ++i) {
        const double x = number(i, k);
        if (std::isnan(x)) continue;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      if (low > high) low = high = 0.0;
      centre[k] = low / 2.0 + high / 2.0;
      half = std::max(half, high / 2.0 - low / 2.0);
      largest = std::max({largest, std::abs(low), std::abs(high)});
    }
    radius_ = half > 0.0 ? half * (1.0 + 0x1p-40) : 1.0;
    margin_ = std::min(kNothingIsCertain, kMargin + static_cast<float>(0x1p-48 * std::min(0x1p60, largest / radius_)));
    // Squares of such lengths overflow or vanish in double precision, too: whatever it makes of them is the answer.
    if (radius_ > 1e140 || radius_ < 1e-140) margin_ = kNothingIsCertain;
    for (std::size_t k = 0; k < columns; ++k) {
      coordinates_[k].assign(padded_, 0.0F);
      for (std::size_t i = 0; i < n_; ++i) {
        coordinates_[k][i] = static_cast<float>((number(i, k) - centre[k]) / radius_);
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
    for (std::size_t k = 0; k < 3 && !problem_.offsets.empty(); ++k) {
      block.row_offsets[k] = coordinates_[6 + k].data() + row;
      block.column_offsets[k] = coordinates_[6 + k].data() + column;
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
  std::array<AlignedVector<float>, 9> coordinates_;  // of source, target and offset
  std::array<AlignedVector<std::int32_t>, 2> ids_;
  AlignedVector<float> epsilons_;
};

}  // namespace clipperplus::inline v0
