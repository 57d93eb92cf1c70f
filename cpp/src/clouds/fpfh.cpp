#include "clouds/fpfh.h"

#include <algorithm>
#include <memory>

#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kBins = 11;

}  // namespace

std::vector<float> compute_fpfh(std::span<const double> points, std::span<const double> normals,
                                const Neighbours& neighbours, std::size_t threads, const simd::Kernels& kernels,
                                Control& control) {
  using simd::kHistogram;
  const std::size_t n = points.size() / 3;
  AlignedVector<double> oriented(n * simd::kOriented);
  for (std::size_t i = 0; i < n; ++i) {
    std::copy_n(&points[3 * i], 3, &oriented[i * simd::kOriented]);
    std::copy_n(&normals[3 * i], 3, &oriented[i * simd::kOriented + 3]);
  }
  AlignedVector<float> simple(n * kHistogram, 0.0F);
  const auto weights = std::make_unique_for_overwrite<float[]>(neighbours.indices.size());
  for_each_index(n, threads, control, [&](std::size_t i) {
    const auto near = neighbours.of(i);
    std::int32_t counts[kFeatureBins];
    kernels.describe_pairs(oriented.data(), 1.0 / neighbours.radius, i, near.data(), near.size(), counts,
                           weights.get() + neighbours.offsets[i]);
    const double share = near.empty() ? 0.0 : 100.0 / static_cast<double>(near.size());
    for (std::size_t b = 0; b < kFeatureBins; ++b) simple[i * kHistogram + b] = static_cast<float>(counts[b] * share);
  });

  std::vector<float> result(n * kFeatureBins);
  for_each_index(n, threads, control, [&](std::size_t i) {
    const auto near = neighbours.of(i);
    alignas(64) float sums[kHistogram];
    kernels.add_histograms(simple.data(), near.data(), weights.get() + neighbours.offsets[i], near.size(), sums);
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

}  // namespace clipperplus::inline v0
