#include "clouds/normals.h"

#include <algorithm>
#include <cmath>

#include "geometry/rigid.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

Vector3 unit_or(const Vector3& v, const Vector3& otherwise) {
  const double length = std::sqrt(dot(v, v));
  return length > 0.0 ? Vector3{v[0] / length, v[1] / length, v[2] / length} : otherwise;
}

}  // namespace

Normals estimate_normals(std::span<const double> points, const Neighbours& neighbours, double radius,
                         std::array<double, 3> viewpoint, std::size_t threads, const simd::Kernels& kernels,
                         Control& control) {
  const std::size_t n = points.size() / 3;
  Normals normals{std::vector<double>(points.size()), std::vector<double>(n, 0.0)};
  AlignedVector<double> places(4 * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) std::copy_n(&points[3 * i], 3, &places[4 * i]);
  const auto fit = [&](std::size_t begin, std::size_t end) {
    simd::FittedPlanes planes;
    kernels.fit_planes(places.data(), neighbours.indices.data(), neighbours.offsets.data(), begin, end - begin,
                       radius * radius, planes);
    for (std::size_t i = begin, k = 0; i < end; ++i, ++k) {
      const double* self = &points[3 * i];
      const Vector3 to_sensor{viewpoint[0] - self[0], viewpoint[1] - self[1], viewpoint[2] - self[2]};
      Vector3 normal = unit_or(to_sensor, {0.0, 0.0, 1.0});
      if (planes.counts[k] >= 3.0) {
        normal = unit_or({planes.x[k], planes.y[k], planes.z[k]}, normal);
        if (planes.total[k] > 0.0) normals.bends[i] = std::max(0.0, planes.least[k]) / planes.total[k];
        if (dot(normal, to_sensor) < 0.0) normal = {-normal[0], -normal[1], -normal[2]};
      }
      for (std::size_t a = 0; a < 3; ++a) normals.directions[3 * i + a] = normal[a];
    }
  };
  for_each_block(n, threads, control, fit, simd::kBlock);
  return normals;
}

std::vector<double> turn_inwards(std::span<const double> points, std::span<const double> normals,
                                 const Neighbours& neighbours, std::size_t threads, Control& control) {
  std::vector<double> turned(normals.begin(), normals.end());
  for_each_index(points.size() / 3, threads, control, [&](std::size_t i) {
    Vector3 sum{};
    const double* self = &points[3 * i];
    for (const std::int32_t j : neighbours.of(i)) {
      const double* other = &points[3 * static_cast<std::size_t>(j)];
      for (std::size_t a = 0; a < 3; ++a) sum[a] += other[a] - self[a];
    }
    double* normal = &turned[3 * i];
    if (sum[0] * normal[0] + sum[1] * normal[1] + sum[2] * normal[2] < 0.0) {
      for (std::size_t a = 0; a < 3; ++a) normal[a] = -normal[a];
    }
  });
  return turned;
}

}  // namespace clipperplus::inline v0
