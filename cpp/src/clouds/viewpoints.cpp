#include "clouds/viewpoints.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clouds/cube_directions.h"

namespace clipperplus {

namespace {

constexpr double kParallel = 0.9;       // the cosine of normals that are nearly parallel
constexpr double kGrazing = 0.1;        // that of the angle between a normal and a line of sight that grazes
constexpr double kSlopeFloor = 1e-3;    // what is steeper is seen from the side
constexpr double kDensityFloor = 0.05;  // added to cosines whose logarithm is taken
constexpr int kSide = 32;               // directions along the edge of a face of a cube
constexpr std::size_t kMostPairs = 3;   // for each point

Vector3 minus(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

}  // namespace

ViewedSurface::ViewedSurface(std::span<const double> points, std::span<const double> normals,
                             std::span<const std::int32_t> counts, const Neighbours& neighbours, double radius,
                             double margin, std::size_t most)
    : margin_(margin), size_(counts.size()) {
  const auto vector_at = [](std::span<const double> array, std::size_t i) {
    return Vector3{array[3 * i], array[3 * i + 1], array[3 * i + 2]};
  };
  const std::size_t n = counts.size(), step = std::max<std::size_t>(1, n / std::max<std::size_t>(1, most));
  std::vector<std::size_t> parallel;
  for (std::size_t i = 0; i < n; i += step) {
    const Vector3 point = vector_at(points, i), normal = vector_at(normals, i);
    double density = counts[i], around = 1.0;
    parallel.clear();
    for (const std::int32_t j : neighbours.of(i)) {
      const auto other = static_cast<std::size_t>(j);
      const Vector3 d = minus(vector_at(points, other), point);
      if (dot(d, d) > radius * radius) continue;
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
      pairs_.push_back({point, normal, vector_at(points, other), its, i, other, turned});
    }
    points_.push_back(point);
    normals_.push_back(normal);
    densities_.push_back(std::log(density / around));
  }
  double mean = 0.0;
  for (const double density : densities_) mean += density / static_cast<double>(densities_.size());
  for (double& density : densities_) density -= mean;  // so that their squares are not rounded away
}

double ViewedSurface::torn_by(std::span<const std::int8_t> sides) const {
  std::size_t torn = 0, asked = 0;
  for (const Pair& pair : pairs_) {
    const int both = sides[pair.first_number] * sides[pair.second_number];
    asked += both != 0 ? 1 : 0;
    torn += (pair.turned ? -both : both) < 0 ? 1 : 0;
  }
  return 2 * asked < pairs_.size() || asked == 0 ? 1.0 : static_cast<double>(torn) / static_cast<double>(asked);
}

View ViewedSurface::from(const Vector3& place, bool with_hidden) const {
  View view{0.0, 0.0, 0.0, 0.0};
  if (points_.empty()) return view;
  const auto n = static_cast<double>(points_.size());
  std::size_t torn = 0;
  for (const Pair& pair : pairs_) {
    const double here = dot(minus(place, pair.first), pair.first_normal);
    const double there = dot(minus(place, pair.second), pair.second_normal);
    torn += here * there < 0.0 ? 1 : 0;
  }
  view.torn = static_cast<double>(torn) / static_cast<double>(std::max<std::size_t>(1, pairs_.size()));

  std::vector<float> seen(with_hidden ? 6 * kSide * kSide : 0, std::numeric_limits<float>::infinity());
  std::vector<std::pair<std::size_t, double>> looked;  // a direction, and the range of a point in it
  if (with_hidden) looked.reserve(points_.size());
  // Logarithms are taken of what is left when the first one is divided by: ranges from afar hardly differ.
  double first = 0.0, count = 0.0, sum = 0.0, squares = 0.0, products = 0.0, densities = 0.0, density_squares = 0.0;
  std::size_t grazing = 0, hidden = 0;
  for (std::size_t i = 0; i < points_.size(); ++i) {
    const Vector3 d = minus(points_[i], place);
    const double square = dot(d, d);
    if (!(square > 0.0)) continue;  // says nothing
    const double range = std::sqrt(square), cosine = std::min(1.0, std::abs(dot(d, normals_[i])) / range);
    grazing += cosine < kGrazing ? 1 : 0;
    const double ratio = square / (cosine + kDensityFloor);
    if (first == 0.0) first = ratio;
    const double spread = 0.5 * std::log(ratio / first);
    count += 1.0, sum += spread, squares += spread * spread, products += spread * densities_[i];
    densities += densities_[i], density_squares += densities_[i] * densities_[i];
    if (!with_hidden) continue;
    const double slope = std::sqrt(1.0 - cosine * cosine) / std::max(cosine, kSlopeFloor);
    const std::size_t pixel = cube_pixel(d, kSide);
    seen[pixel] = std::min(seen[pixel], static_cast<float>(range * (1.0 + 2.0 / kSide * slope)));
    looked.emplace_back(pixel, range);
  }
  for (const auto& [pixel, range] : looked) hidden += range > static_cast<double>(seen[pixel]) + margin_ ? 1 : 0;
  view.grazing = static_cast<double>(grazing) / n;
  view.hidden = static_cast<double>(hidden) / n;
  if (count > 0.0) {
    const double variances = (squares - sum * sum / count) * (density_squares - densities * densities / count);
    if (variances > 1e-18 * n * n) view.thinning = (sum * densities / count - products) / std::sqrt(variances);
  }
  return view;
}

}  // namespace clipperplus
