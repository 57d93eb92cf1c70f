#include "clouds/fpfh.h"

#include "threads.h"

namespace clipperplus {

namespace {

constexpr std::size_t kBins = 11;
constexpr double kLargestWeight = 1e30;  // of a neighbour that is all but at the same place: no sum overflows

}  // namespace

std::vector<float> compute_fpfh(std::span<const double> points, std::span<const double> normals,
                                const Neighbours& neighbours, std::size_t threads, const simd::Kernels& kernels,
                                Control& control) {
  using simd::kHistogram;
  const std::size_t n = points.size() / 3;
  AlignedVector<float> simple(n * kHistogram, 0.0F);
  std::vector<float> weights(neighbours.indices.size());
  for_each_index(n, threads, control, [&](std::size_t i) {
    const auto near = neighbours.of(i);
    float* weight = weights.data() + neighbours.offsets[i];
    std::int32_t counts[kFeatureBins] = {};
    double unit = 0.0;  // weights are relative to the first neighbour's: their scale is lost in the end
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
        const double square = batch.squares[k];
        if (unit == 0.0) unit = square;
        weight[begin + k] = square > 0.0 ? static_cast<float>(std::min(unit / square, kLargestWeight)) : 0.0F;
      }
    }
    const double share = near.empty() ? 0.0 : 100.0 / static_cast<double>(near.size());
    for (std::size_t b = 0; b < kFeatureBins; ++b) simple[i * kHistogram + b] = static_cast<float>(counts[b] * share);
  });

  std::vector<float> result(n * kFeatureBins);
  for_each_index(n, threads, control, [&](std::size_t i) {
    const auto near = neighbours.of(i);
    alignas(64) float sums[kHistogram];
    kernels.add_histograms(simple.data(), near.data(), weights.data() + neighbours.offsets[i], near.size(), sums);
    for (std::size_t part = 0; part < kFeatureBins; part += kBins) {
      float total = 0.0F;
      for (std::size_t b = part; b < part + kBins; ++b) total += sums[b];
      const float scale = total > 0.0F ? 100.0F / total : 0.0F;
      for (std::size_t b = part; b < part + kBins; ++b) {
        result[i * kFeatureBins + b] = simple[i * kHistogram + b] + scale * sums[b];
      }
    }
  });
  return result;
}

}  // namespace clipperplus
