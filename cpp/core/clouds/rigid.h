// Rigid motions: x ↦ R x + t, the best one between matched points, and small ones.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "small_matrix.h"

namespace clipperplus {

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

// The motion with the least squared error of `source` on `target`, matched point by point: Arun's problem in Horn's
// form, the largest eigenvector of a 4 × 4 matrix, which is always a rotation. Points are x y z of each, at least one.
inline RigidMotion fit_motion(std::span<const double> source, std::span<const double> target) {
  const double count = static_cast<double>(source.size() / 3);
  Vector3 from{}, to{};
  for (std::size_t k = 0; k < source.size(); ++k) from[k % 3] += source[k], to[k % 3] += target[k];
  for (std::size_t a = 0; a < 3; ++a) from[a] /= count, to[a] /= count;
  Matrix<3> s{};
  for (std::size_t k = 0; k < source.size(); k += 3) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) s[a][b] += (source[k + a] - from[a]) * (target[k + b] - to[b]);
    }
  }
  const Matrix<4> n{{{s[0][0] + s[1][1] + s[2][2], s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]},
                     {0.0, s[0][0] - s[1][1] - s[2][2], s[0][1] + s[1][0], s[2][0] + s[0][2]},
                     {0.0, 0.0, s[1][1] - s[0][0] - s[2][2], s[1][2] + s[2][1]},
                     {0.0, 0.0, 0.0, s[2][2] - s[0][0] - s[1][1]}}};
  RigidMotion motion;
  motion.rotation = rotation_of(symmetric_eigen(n).vectors[3]);
  const Vector3 turned = motion.turn(from.data());
  for (std::size_t a = 0; a < 3; ++a) motion.translation[a] = to[a] - turned[a];
  return motion;
}

}  // namespace clipperplus
