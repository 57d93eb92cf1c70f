#include "clouds/viewpoints.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "clouds/pair_sums.h"
#include "compiler.h"

namespace clipperplus::inline v0 {

namespace {

constexpr double kParallel = 0.9;      // the cosine of normals that are nearly parallel
constexpr int kSide = 32;              // directions along the edge of a face of a cube
constexpr std::size_t kMostPairs = 3;  // for each point

using simd::kBlock;

Vector3 minus(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

// Picks out those within a squared distance of a point, without a branch that nobody could predict. A function of its
// own, whose few numbers stay in registers.
CLIPPERPLUS_NOINLINE std::size_t pick_near(const double* points, const Vector3& point,
                                           std::span<const std::int32_t> around, double square,
                                           std::vector<std::size_t>& near) {
  near.resize(around.size() + 1);
  const double px = point[0], py = point[1], pz = point[2];
  std::size_t found = 0, *next = near.data();
  for (const std::int32_t j : around) {
    const double* other = points + 3 * static_cast<std::size_t>(j);
    const double dx = other[0] - px, dy = other[1] - py, dz = other[2] - pz;
    next[found] = static_cast<std::size_t>(j);
    found += dx * dx + dy * dy + dz * dz <= square ? 1 : 0;
  }
  return found;
}

// The share of points that are behind others, by more than a margin.
double hidden_share(const OrientedPoints& points, std::span<const simd::Sightings> seen, const Vector3& place,
                    double margin, const simd::Kernels& kernels) {
  const auto still = numbers_of(RigidMotion{});
  std::vector<float> nearest(6 * kSide * kSide, std::numeric_limits<float>::infinity());  // in each direction
  std::vector<std::array<std::int32_t, kBlock>> pixels(seen.size());
  for (std::size_t b = 0; b < seen.size(); ++b) {
    alignas(64) double ranges[kBlock], reaches[kBlock];
    kernels.look_at_points(points.block(b), still.data(), place.data(), kSide, ranges, pixels[b].data());
    kernels.see_slopes(seen[b], 2.0 / kSide, reaches);
    for (std::size_t k = 0; k < std::min(kBlock, points.size() - b * kBlock); ++k) {
      float& least = nearest[static_cast<std::size_t>(pixels[b][k])];
      if (seen[b].ranges[k] > 0.0) least = std::min(least, static_cast<float>(reaches[k]));
    }
  }
  std::size_t hidden = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double range = seen[i / kBlock].ranges[i % kBlock];
    const float least = nearest[static_cast<std::size_t>(pixels[i / kBlock][i % kBlock])];
    hidden += range > 0.0 && range > static_cast<double>(least) + margin ? 1 : 0;
  }
  return static_cast<double>(hidden) / static_cast<double>(points.size());
}

}  // namespace

ViewedSurface::ViewedSurface(std::span<const double> points, std::span<const double> normals,
                             std::span<const std::int32_t> counts, const Neighbours& neighbours, double radius,
                             double margin, std::size_t most)
    : margin_(margin), size_(counts.size()) {
  const auto vector_at = [](std::span<const double> array, std::size_t i) {
    return Vector3{array[3 * i], array[3 * i + 1], array[3 * i + 2]};
  };
  const std::size_t n = counts.size(), step = std::max<std::size_t>(1, n / std::max<std::size_t>(1, most));
  if (n > 0) origin_ = vector_at(points, 0);
  std::vector<double> chosen, sides, densities;  // points, their normals, and logarithms of how dense they are
  std::vector<std::size_t> near, parallel;
  for (std::size_t i = 0; i < n; i += step) {
    const Vector3 point = vector_at(points, i), normal = vector_at(normals, i), place = minus(point, origin_);
    double density = counts[i], around = 1.0;
    parallel.clear();
    const std::size_t found = pick_near(points.data(), point, neighbours.of(i), radius * radius, near);
    for (std::size_t k = 0; k < found; ++k) {
      const std::size_t other = near[k];
      density += counts[other], around += 1.0;
      if (std::abs(dot(normal, vector_at(normals, other))) >= kParallel) parallel.push_back(other);
    }
    // On different sides of the point: neighbours come in the order of space.
    const std::size_t pairs = std::min(kMostPairs, parallel.size());
    for (std::size_t k = 0; k < pairs; ++k) {
      const std::size_t other = parallel[pairs == 1 ? 0 : k * (parallel.size() - 1) / (pairs - 1)];
      Vector3 its = vector_at(normals, other);
      const bool turned = dot(normal, its) < 0.0;
      if (turned) its = {-its[0], -its[1], -its[2]};
      first_.push_back(place, normal);
      second_.push_back(minus(vector_at(points, other), origin_), its);
      pairs_.push_back({i, other, turned});
    }
    chosen.insert(chosen.end(), place.begin(), place.end());
    sides.insert(sides.end(), normal.begin(), normal.end());
    densities.push_back(std::log(density / around));
  }
  double mean = 0.0;
  for (const double density : densities) mean += density / static_cast<double>(densities.size());
  for (double& density : densities) density -= mean;  // so that their squares are not rounded away
  points_ = OrientedPoints(chosen, sides, densities);
}

double ViewedSurface::torn_by(std::span<const std::int8_t> sides) const {
  std::size_t torn = 0, asked = 0;
  for (const Pair& pair : pairs_) {
    const int both = sides[pair.first] * sides[pair.second];
    asked += both != 0 ? 1 : 0;
    torn += (pair.turned ? -both : both) < 0 ? 1 : 0;
  }
  return 2 * asked < pairs_.size() || asked == 0 ? 1.0 : static_cast<double>(torn) / static_cast<double>(asked);
}

View ViewedSurface::from(const Vector3& where, bool with_hidden, const simd::Kernels& kernels) const {
  View view{0.0, 0.0, 0.0, 0.0};
  const std::size_t size = points_.size(), pairs = pairs_.size();
  if (size == 0) return view;
  const auto n = static_cast<double>(size);
  const Vector3 place = minus(where, origin_);
  const auto numbers = [](const Planes& of) {
    return std::array{of.x.data(), of.y.data(), of.z.data(), of.offsets.data()};
  };
  simd::PlanePairs planes{.first = {}, .second = {}, .count = pairs};
  std::ranges::copy(numbers(first_), planes.first);
  std::ranges::copy(numbers(second_), planes.second);
  const std::size_t torn = kernels.count_torn(planes, place.data());
  view.torn = static_cast<double>(torn) / static_cast<double>(std::max<std::size_t>(1, pairs));

  std::vector<simd::Sightings> seen(points_.blocks());
  double first = 0.0;
  PairSums<simd::kSightingSums> sums;
  for (std::size_t b = 0; b < seen.size(); ++b) {
    kernels.see_points(points_.block(b), place.data(), seen[b]);
    const std::size_t end = std::min(kBlock, size - b * kBlock);
    for (std::size_t k = 0; k < end && first == 0.0; ++k) first = seen[b].ranges[k] > 0.0 ? seen[b].ratios[k] : 0.0;
    std::fill(seen[b].ranges + end, seen[b].ranges + kBlock, 0.0);  // what fills up says nothing
    kernels.add_sightings(seen[b], first, points_.block(b) + 6 * kBlock, sums.lanes);
  }
  const double count = sums[0], sum = sums[1], squares = sums[2], products = sums[3], densities = sums[4];
  const double density_squares = sums[5];
  view.grazing = sums[6] / n;
  if (with_hidden) view.hidden = hidden_share(points_, seen, place, margin_, kernels);
  if (count > 0.0) {
    const double variances = (squares - sum * sum / count) * (density_squares - densities * densities / count);
    if (variances > 1e-18 * n * n) view.thinning = (sum * densities / count - products) / std::sqrt(variances);
  }
  return view;
}

}  // namespace clipperplus::inline v0
