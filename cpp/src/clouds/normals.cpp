#include "clouds/normals.h"

#include <algorithm>
#include <cmath>

#include "geometry/rigid.h"
#include "threads.h"

namespace clipperplus {

namespace {

constexpr std::size_t kBatch = 128;  // neighbours

Vector3 unit_or(const Vector3& v, const Vector3& otherwise) {
  const double length = std::sqrt(dot(v, v));
  return length > 0.0 ? Vector3{v[0] / length, v[1] / length, v[2] / length} : otherwise;
}

}  // namespace

Normals estimate_normals(std::span<const double> points, const Neighbours& neighbours, double radius,
                         std::array<double, 3> viewpoint, std::size_t threads, Control& control) {
  const std::size_t n = points.size() / 3;
  Normals normals{std::vector<double>(points.size()), std::vector<double>(n, 0.0)};
  const double square = radius * radius;
  for_each_index(n, threads, control, [&](std::size_t i) {
    const double* self = &points[3 * i];
    Vector3 sum{};
    Matrix<3> products{};
    std::size_t count = 0;
    const auto near = neighbours.of(i);
    for (std::size_t begin = 0; begin < near.size(); begin += kBatch) {
      // Those within the radius are picked out first, without a branch that nobody could predict.
      std::array<Vector3, kBatch> inside;
      std::size_t found = 0;
      for (const std::int32_t j : near.subspan(begin, std::min(kBatch, near.size() - begin))) {
        const double* other = &points[3 * static_cast<std::size_t>(j)];
        const double x = other[0] - self[0], y = other[1] - self[1], z = other[2] - self[2];
        inside[found] = {x, y, z};
        found += x * x + y * y + z * z <= square ? 1 : 0;
      }
      for (std::size_t k = 0; k < found; ++k) {
        const Vector3& d = inside[k];
        for (std::size_t a = 0; a < 3; ++a) {
          sum[a] += d[a];
          for (std::size_t b = a; b < 3; ++b) products[a][b] += d[a] * d[b];
        }
      }
      count += found;
    }
    const Vector3 to_sensor{viewpoint[0] - self[0], viewpoint[1] - self[1], viewpoint[2] - self[2]};
    Vector3 normal = unit_or(to_sensor, {0.0, 0.0, 1.0});
    if (count >= 3) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = a; b < 3; ++b) products[a][b] -= sum[a] * sum[b] / static_cast<double>(count + 1);
      }
      const auto spread = decompose_symmetric(products);
      normal = unit_or(spread.vectors[0], normal);
      const double sum_of_all = spread.values[0] + spread.values[1] + spread.values[2];
      if (sum_of_all > 0.0) normals.bends[i] = std::max(0.0, spread.values[0]) / sum_of_all;
      if (dot(normal, to_sensor) < 0.0) normal = {-normal[0], -normal[1], -normal[2]};
    }
    for (std::size_t a = 0; a < 3; ++a) normals.directions[3 * i + a] = normal[a];
  });
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

}  // namespace clipperplus
