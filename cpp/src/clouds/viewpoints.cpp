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
  if (n > 0) origin_ = vector_at(points, 0);
  std::vector<std::size_t> near, parallel;
  for (std::size_t i = 0; i < n; i += step) {
    const Vector3 point = vector_at(points, i), normal = vector_at(normals, i), place = minus(point, origin_);
    double density = counts[i], around = 1.0;
    parallel.clear();
    // Those within the radius are picked out first, without a branch that nobody could predict.
    const auto around_it = neighbours.of(i);
    near.resize(around_it.size() + 1);
    std::size_t found = 0;
    for (const std::int32_t j : around_it) {
      const auto other = static_cast<std::size_t>(j);
      const Vector3 d = minus(vector_at(points, other), point);
      near[found] = other;
      found += dot(d, d) <= radius * radius ? 1 : 0;
    }
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
    points_.push_back(place);
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
    const int both = sides[pair.first] * sides[pair.second];
    asked += both != 0 ? 1 : 0;
    torn += (pair.turned ? -both : both) < 0 ? 1 : 0;
  }
  return 2 * asked < pairs_.size() || asked == 0 ? 1.0 : static_cast<double>(torn) / static_cast<double>(asked);
}

View ViewedSurface::from(const Vector3& where, bool with_hidden) const {
  View view{0.0, 0.0, 0.0, 0.0};
  const std::size_t size = points_.size(), pairs = first_.offsets.size();
  if (size == 0) return view;
  const auto n = static_cast<double>(size);
  const Vector3 place = minus(where, origin_);
  const double px = place[0], py = place[1], pz = place[2];
  const auto in_front = [&](const Planes& planes, std::size_t k) {
    return px * planes.normals.x[k] + py * planes.normals.y[k] + pz * planes.normals.z[k] - planes.offsets[k];
  };
  std::int64_t torn = 0;
  for (std::size_t k = 0; k < pairs; ++k) torn += in_front(first_, k) * in_front(second_, k) < 0.0 ? 1 : 0;
  view.torn = static_cast<double>(torn) / static_cast<double>(std::max<std::size_t>(1, pairs));

  std::vector<double> ranges(size), cosines(size), ratios(size);
  for (std::size_t i = 0; i < size; ++i) {
    const double x = points_.x[i] - px, y = points_.y[i] - py, z = points_.z[i] - pz;
    const double square = x * x + y * y + z * z, range = std::sqrt(square);
    const double cosine = std::abs(x * normals_.x[i] + y * normals_.y[i] + z * normals_.z[i]) / range;
    ranges[i] = range;
    cosines[i] = cosine < 1.0 ? cosine : 1.0;
    ratios[i] = square / (cosines[i] + kDensityFloor);
  }
  std::vector<float> seen(with_hidden ? 6 * kSide * kSide : 0, std::numeric_limits<float>::infinity());
  std::vector<std::pair<std::size_t, double>> looked;  // a direction, and the range of a point in it
  if (with_hidden) looked.reserve(size);
  // Logarithms are taken of what is left when the first one is divided by: ranges from afar hardly differ.
  double first = 0.0, count = 0.0, sum = 0.0, squares = 0.0, products = 0.0, densities = 0.0, density_squares = 0.0;
  std::size_t grazing = 0, hidden = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const double range = ranges[i], cosine = cosines[i];
    if (!(range > 0.0)) continue;  // says nothing
    grazing += cosine < kGrazing ? 1 : 0;
    if (first == 0.0) first = ratios[i];
    const double spread = 0.5 * std::log(ratios[i] / first);
    count += 1.0, sum += spread, squares += spread * spread, products += spread * densities_[i];
    densities += densities_[i], density_squares += densities_[i] * densities_[i];
    if (!with_hidden) continue;
    const double slope = std::sqrt(1.0 - cosine * cosine) / std::max(cosine, kSlopeFloor);
    const std::size_t pixel = cube_pixel({points_.x[i] - px, points_.y[i] - py, points_.z[i] - pz}, kSide);
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
