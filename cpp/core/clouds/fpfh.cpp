#include "fpfh.h"

#include "for_each_point.h"

namespace clipperplus {

namespace {

constexpr std::size_t kBins = 11;
}  // namespace

std::vector<float> compute_fpfh(std::span<const double> points, std::span<const double> normals,
                                const Neighbours& neighbours, std::size_t threads, const simd::Kernels& kernels,
                                Control& control) {
  const std::size_t n = points.size() / 3;
  std::vector<float> simple(n * kFeatureBins, 0.0F), result(n * kFeatureBins);
  for_each_point(n, threads, control, [&](std::size_t i) {
    const auto near = neighbours.of(i);
    std::int32_t counts[kFeatureBins] = {};
    simd::PairBatch batch;
    for (std::size_t begin = 0; begin < near.size(); begin += simd::kBlock) {
      const std::size_t count = std::min(simd::kBlock, near.size() - begin);
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t j = 3 * static_cast<std::size_t>(near[begin + k]);
        batch.x[k] = points[j], batch.y[k] = points[j + 1], batch.z[k] = points[j + 2];
        batch.nx[k] = normals[j], batch.ny[k] = normals[j + 1], batch.nz[k] = normals[j + 2];
      }
      kernels.sort_pairs(&points[3 * i], &normals[3 * i], batch, count);
      for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t angle = 0; angle < 3; ++angle) {
          counts[angle * kBins + static_cast<std::size_t>(batch.bins[angle][k])] += batch.valid[k];
        }
      }
    }
    const double share = near.empty() ? 0.0 : 100.0 / static_cast<double>(near.size());
    for (std::size_t b = 0; b < kFeatureBins; ++b) simple[i * kFeatureBins + b] = static_cast<float>(counts[b] * share);
  });

  for_each_point(n, threads, control, [&](std::size_t i) {
    const auto square_to = [&](std::size_t j) {
      const double dx = points[3 * j] - points[3 * i], dy = points[3 * j + 1] - points[3 * i + 1],
                   dz = points[3 * j + 2] - points[3 * i + 2];
      return dx * dx + dy * dy + dz * dz;
    };
    double nearest = 0.0;  // weights are relative to it: the scale is lost anyway, and nothing overflows
    for (const std::int32_t j : neighbours.of(i)) {
      const double square = square_to(static_cast<std::size_t>(j));
      if (square > 0.0 && (nearest == 0.0 || square < nearest)) nearest = square;
    }
    float sums[kFeatureBins] = {};
    for (const std::int32_t index : neighbours.of(i)) {
      const auto j = static_cast<std::size_t>(index);
      const double square = square_to(j);
      if (square == 0.0) continue;
      const auto weight = static_cast<float>(nearest / square);
      const float* theirs = &simple[j * kFeatureBins];
      for (std::size_t b = 0; b < kFeatureBins; ++b) sums[b] += weight * theirs[b];
    }
    for (std::size_t part = 0; part < kFeatureBins; part += kBins) {
      float total = 0.0F;
      for (std::size_t b = part; b < part + kBins; ++b) total += sums[b];
      const float scale = total > 0.0F ? 100.0F / total : 0.0F;
      for (std::size_t b = part; b < part + kBins; ++b) {
        result[i * kFeatureBins + b] = simple[i * kFeatureBins + b] + scale * sums[b];
      }
    }
  });
  return result;
}

}  // namespace clipperplus
