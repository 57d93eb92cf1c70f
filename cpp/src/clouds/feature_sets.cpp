#include "clouds/feature_sets.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace clipperplus::inline v0 {

namespace {

using simd::kBlock, simd::kBoundCoordinates, simd::kBoundWidth;

constexpr std::size_t kAxes = FeatureSet::kAxes;

// Bounds pay where they are much shorter than features, and where there are many.
constexpr std::size_t kLeastDimensions = 24, kLeastFeatures = 4 * kBlock;

constexpr std::size_t kSample = 256;  // features that the axes are found from
constexpr int kRounds = 3;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float rounded_down(double value) { return std::nextafter(static_cast<float>(value), -kInfinity); }

// Makes the columns of a matrix orthonormal, one after the other; those that depend on others become zero.
void orthonormalise(std::vector<double>& columns, std::size_t dimensions) {
  for (std::size_t c = 0; c < kAxes; ++c) {
    double before = 0.0, square = 0.0;
    for (std::size_t k = 0; k < dimensions; ++k) before += columns[k * kAxes + c] * columns[k * kAxes + c];
    for (int twice = 0; twice < 2; ++twice) {
      for (std::size_t other = 0; other < c; ++other) {
        double product = 0.0;
        for (std::size_t k = 0; k < dimensions; ++k) product += columns[k * kAxes + c] * columns[k * kAxes + other];
        for (std::size_t k = 0; k < dimensions; ++k) columns[k * kAxes + c] -= product * columns[k * kAxes + other];
      }
    }
    for (std::size_t k = 0; k < dimensions; ++k) square += columns[k * kAxes + c] * columns[k * kAxes + c];
    const double factor = square > 1e-16 * before && square > 1e-200 ? 1.0 / std::sqrt(square) : 0.0;
    for (std::size_t k = 0; k < dimensions; ++k) columns[k * kAxes + c] *= factor;
  }
}

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

// Puts features that are alike next to each other. The keys are scratch, as many as there are features.
void gather(std::span<std::int32_t> order, std::span<const float> coordinates,
            std::span<std::pair<float, std::int32_t>> keys) {
  if (order.size() <= kBlock) return;
  const auto row = [&](std::int32_t i) { return &coordinates[static_cast<std::size_t>(i) * kBoundCoordinates]; };
  float sums[kBoundCoordinates] = {}, squares[kBoundCoordinates] = {}, variances[kBoundCoordinates];
  const std::size_t step = order.size() / 256 + 1;  // a sample of many
  for (std::size_t k = 0; k < order.size(); k += step) {
    const float* place = row(order[k]);
    for (std::size_t a = 0; a < kBoundCoordinates; ++a) sums[a] += place[a], squares[a] += place[a] * place[a];
  }
  const auto sampled = static_cast<float>((order.size() + step - 1) / step);
  for (std::size_t a = 0; a < kBoundCoordinates; ++a) variances[a] = squares[a] - sums[a] * sums[a] / sampled;
  const auto axis = static_cast<std::size_t>(std::max_element(variances, variances + kBoundCoordinates) - variances);
  for (std::size_t k = 0; k < order.size(); ++k) keys[k] = {row(order[k])[axis], order[k]};
  const std::size_t middle = (order.size() + kBlock - 1) / kBlock / 2 * kBlock;
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(middle), keys.end());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = keys[k].second;
  gather(order.first(middle), coordinates, keys.first(middle));
  gather(order.subspan(middle), coordinates, keys.subspan(middle));
}

}  // namespace

FeatureSpace::FeatureSpace(std::span<const float> source, std::span<const float> target, std::size_t d)
    : dimensions(d), mean(d, 0.0) {
  std::vector<float> low(d, kInfinity), high(d, -kInfinity);
  for (const auto& features : {source, target}) {
    for (std::size_t i = 0; i < features.size(); i += d) {
      for (std::size_t k = 0; k < d; ++k) {
        const float value = features[i + k];
        mean[k] += static_cast<double>(value);
        low[k] = value < low[k] ? value : low[k];
        high[k] = value > high[k] ? value : high[k];
      }
    }
  }
  const std::size_t n = source.size() / d, m = target.size() / d;
  double largest = 0.0;
  for (std::size_t k = 0; k < d; ++k) {
    mean[k] /= static_cast<double>(n + m);
    largest = std::max({largest, static_cast<double>(high[k]) - mean[k], mean[k] - static_cast<double>(low[k])});
  }
  scale = largest > 0.0 ? 1.0 / largest : 1.0;
  if (d < kLeastDimensions || std::min(n, m) < kLeastFeatures) return;

  std::vector<double> sample(kSample * d), products(kSample * kAxes);
  for (std::size_t s = 0; s < kSample; ++s) {
    const auto& from = s % 2 == 0 ? source : target;
    const float* feature = &from[(s / 2) * (from.size() / d) / (kSample / 2) * d];
    for (std::size_t k = 0; k < d; ++k) sample[s * d + k] = (static_cast<double>(feature[k]) - mean[k]) * scale;
  }
  axes.resize(d * kAxes);
  for (std::size_t c = 0; c < kAxes; ++c) {
    for (std::size_t k = 0; k < d; ++k) axes[k * kAxes + c] = sample[(c * kSample / kAxes) * d + k];
  }
  orthonormalise(axes, d);
  for (int round = 0; round < kRounds; ++round) {
    std::fill(products.begin(), products.end(), 0.0);
    for (std::size_t s = 0; s < kSample; ++s) {
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t c = 0; c < kAxes; ++c) products[s * kAxes + c] += sample[s * d + k] * axes[k * kAxes + c];
      }
    }
    std::fill(axes.begin(), axes.end(), 0.0);
    for (std::size_t s = 0; s < kSample; ++s) {
      for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t c = 0; c < kAxes; ++c) axes[k * kAxes + c] += sample[s * d + k] * products[s * kAxes + c];
      }
    }
    orthonormalise(axes, d);
  }
}

FeatureSet::FeatureSet(std::span<const float> features, const FeatureSpace& space)
    : count(features.size() / space.dimensions),
      blocks((count + kBlock - 1) / kBlock),
      dimensions(space.dimensions),
      stride(round_up(space.dimensions, simd::kFeaturePadding)),
      lengths(count) {
  const std::size_t d = space.dimensions, padded = blocks * kBlock;
  std::vector<float> centred(count * d), coordinates;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < d; ++k) {
      centred[i * d + k] = static_cast<float>((static_cast<double>(features[i * d + k]) - space.mean[k]) * space.scale);
    }
  }
  if (space.bounded()) {
    coordinates.resize(count * kBoundCoordinates);
    for (std::size_t i = 0; i < count; ++i) {
      double along[kAxes] = {}, square = 0.0;
      for (std::size_t k = 0; k < d; ++k) {
        const auto value = static_cast<double>(centred[i * d + k]);
        square += value * value;
        for (std::size_t c = 0; c < kAxes; ++c) along[c] += value * space.axes[k * kAxes + c];
      }
      for (std::size_t c = 0; c < kAxes; ++c) {
        coordinates[i * kBoundCoordinates + c] = static_cast<float>(along[c]);
        square -= along[c] * along[c];
      }
      coordinates[i * kBoundCoordinates + kAxes] = static_cast<float>(std::sqrt(std::max(square, 0.0)));
    }
    order.resize(count);
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::pair<float, std::int32_t>> keys(count);
    gather(order, coordinates, keys);
  } else {
    order = scattered(count);
  }

  rows.assign(padded * stride, 0.0F);
  columns.assign(padded * d, 0.0F);
  squares.assign(padded, kInfinity);  // what fills up is near nothing
  for (std::size_t i = 0; i < count; ++i) {
    float* row = &rows[i * stride];
    float* column = &columns[i / kBlock * kBlock * d + i % kBlock];
    std::copy_n(&centred[static_cast<std::size_t>(order[i]) * d], d, row);
    double square = 0.0;
    for (std::size_t k = 0; k < d; ++k) {
      square += static_cast<double>(row[k]) * static_cast<double>(row[k]);
      column[k * kBlock] = -2.0F * row[k];
    }
    lengths[i] = std::sqrt(square);
    squares[i] = static_cast<float>(square);
  }
  if (space.bounded()) bound(coordinates, space);
}

void FeatureSet::bound(std::span<const float> coordinates, const FeatureSpace& space) {
  bound_rows.assign(blocks * kBlock * kBoundWidth, 0.0F);
  bound_columns.assign(blocks * kBlock * kBoundWidth, 0.0F);
  Box none{{}, {}, {}, 0.0};
  std::fill(std::begin(none.low), std::end(none.low), kInfinity);
  std::fill(std::begin(none.high), std::end(none.high), -kInfinity);
  boxes.assign(blocks, none);
  for (std::size_t i = 0; i < blocks * kBlock; ++i) {
    float* row = &bound_rows[i * kBoundWidth];
    float* column = &bound_columns[i / kBlock * kBlock * kBoundWidth + i % kBlock];
    if (i >= count) {  // what fills up is near nothing
      row[0] = column[0] = 0.25F * std::numeric_limits<float>::max();
      row[1] = column[kBlock] = kInfinity;
      continue;
    }
    Box& box = boxes[i / kBlock];
    const float* place = &coordinates[static_cast<std::size_t>(order[i]) * kBoundCoordinates];
    const double length = lengths[i] * lengths[i];
    const float share = 1.0F / static_cast<float>(std::min(kBlock, count - i / kBlock * kBlock));
    double parts[2] = {-space.bound_unit() * length - space.bound_lost(), 0.0};
    box.square = std::max(box.square, length);
    for (std::size_t a = 0; a < kBoundCoordinates; ++a) {
      parts[a < simd::kBoundFirst ? 0 : 1] += static_cast<double>(place[a]) * static_cast<double>(place[a]);
      row[2 + a] = -2.0F * place[a];
      column[(2 + a) * kBlock] = place[a];
      box.low[a] = std::min(box.low[a], place[a]);
      box.high[a] = std::max(box.high[a], place[a]);
      box.middle[a] += share * place[a];
    }
    row[0] = column[0] = rounded_down(parts[0]);
    row[1] = column[kBlock] = rounded_down(parts[1]);
  }
}

float distance_of_middles(const FeatureSet::Box& a, const FeatureSet::Box& b) {
  float sum = 0.0F;
  for (std::size_t c = 0; c < kBoundCoordinates; ++c) sum += (a.middle[c] - b.middle[c]) * (a.middle[c] - b.middle[c]);
  return sum;
}

double distance_between(const FeatureSet::Box& a, const FeatureSet::Box& b, const FeatureSpace& space) {
  float squares[kBoundCoordinates];
  for (std::size_t c = 0; c < kBoundCoordinates; ++c) {
    const float gap = std::max(std::max(a.low[c] - b.high[c], b.low[c] - a.high[c]), 0.0F);
    squares[c] = gap * gap;
  }
  float sum = 0.0F;
  for (const float square : squares) sum += square;
  return static_cast<double>(sum) - space.bound_unit() * (a.square + b.square) - 2.0 * space.bound_lost();
}

}  // namespace clipperplus::inline v0
