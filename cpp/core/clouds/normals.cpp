#include "normals.h"

#include <cmath>

#include "for_each_point.h"
#include "rigid.h"

namespace clipperplus {

namespace {

Vector3 unit_or(const Vector3& v, const Vector3& otherwise) {
  const double length = std::sqrt(dot(v, v));
  return length > 0.0 ? Vector3{v[0] / length, v[1] / length, v[2] / length} : otherwise;
}

}  // namespace

std::vector<double> estimate_normals(std::span<const double> points, const Neighbours& neighbours, double radius,
                                     std::array<double, 3> viewpoint, std::size_t threads, Control& control) {
  const std::size_t n = points.size() / 3;
  std::vector<double> normals(points.size());
  const double square = radius * radius;
  for_each_point(n, threads, control, [&](std::size_t i) {
    const double* self = &points[3 * i];
    Vector3 sum{};
    Matrix<3> products{};
    std::size_t count = 0;
    for (const std::int32_t j : neighbours.of(i)) {
      const double* other = &points[3 * static_cast<std::size_t>(j)];
      const Vector3 d{other[0] - self[0], other[1] - self[1], other[2] - self[2]};
      if (dot(d, d) > square) continue;
      ++count;
      for (std::size_t a = 0; a < 3; ++a) {
        sum[a] += d[a];
        for (std::size_t b = a; b < 3; ++b) products[a][b] += d[a] * d[b];
      }
    }
    const Vector3 to_sensor{viewpoint[0] - self[0], viewpoint[1] - self[1], viewpoint[2] - self[2]};
    Vector3 normal = unit_or(to_sensor, {0.0, 0.0, 1.0});
    if (count >= 3) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = a; b < 3; ++b) products[a][b] -= sum[a] * sum[b] / static_cast<double>(count + 1);
      }
      const Vector3 least = symmetric_eigen(products).vectors[0];
      normal = unit_or(least, normal);
      if (dot(normal, to_sensor) < 0.0) normal = {-normal[0], -normal[1], -normal[2]};
    }
    for (std::size_t a = 0; a < 3; ++a) normals[3 * i + a] = normal[a];
  });
  return normals;
}

}  // namespace clipperplus
