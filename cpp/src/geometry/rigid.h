// Rigid motions: x ↦ R x + t.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "geometry/small_matrix.h"

namespace clipperplus::inline v0 {

using Vector3 = std::array<double, 3>;

struct RigidMotion {
  Matrix<3> rotation{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
  Vector3 translation{};

  Vector3 turn(const double* v) const {
    Vector3 result;
    for (std::size_t a = 0; a < 3; ++a) {
      result[a] = rotation[a][0] * v[0] + rotation[a][1] * v[1] + rotation[a][2] * v[2];
    }
    return result;
  }
  Vector3 apply(const double* point) const {
    Vector3 result = turn(point);
    for (std::size_t a = 0; a < 3; ++a) result[a] += translation[a];
    return result;
  }
};

inline double dot(const Vector3& a, const Vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The rotation by a quaternion of length 1, scalar first.
inline Matrix<3> rotation_of(const std::array<double, 4>& q) {
  const auto [w, x, y, z] = q;
  return {{{w * w + x * x - y * y - z * z, 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
           {2.0 * (x * y + w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z - w * x)},
           {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), w * w - x * x - y * y + z * z}}};
}

// Applies a small turn about `centre` and a shift after the motion.
inline RigidMotion moved(const RigidMotion& motion, const std::array<double, 6>& step, const Vector3& centre) {
  const Vector3 turn{step[0], step[1], step[2]};
  const double angle = std::sqrt(dot(turn, turn));
  const double factor = angle > 1e-12 ? std::sin(0.5 * angle) / angle : 0.5;
  RigidMotion small;
  small.rotation = rotation_of({std::cos(0.5 * angle), factor * turn[0], factor * turn[1], factor * turn[2]});
  const Vector3 turned = small.turn(centre.data());
  for (std::size_t a = 0; a < 3; ++a) small.translation[a] = centre[a] - turned[a] + step[3 + a];
  RigidMotion result;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) {
      result.rotation[a][b] = 0.0;
      for (std::size_t k = 0; k < 3; ++k) result.rotation[a][b] += small.rotation[a][k] * motion.rotation[k][b];
    }
  }
  result.translation = small.apply(motion.translation.data());
  return result;
}

}  // namespace clipperplus::inline v0
