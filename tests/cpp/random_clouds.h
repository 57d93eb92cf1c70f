// Random points, directions and motions.
#pragma once

#include <array>
#include <cmath>
#include <random>
#include <vector>

#include "geometry/rigid.h"

namespace clipperplus {

using Random = std::mt19937_64;

inline std::vector<double> normal_numbers(std::size_t count, Random& random, double scale = 1.0) {
  std::normal_distribution<double> normal(0.0, scale);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

inline RigidMotion random_motion(Random& random) {
  std::array<double, 4> q;
  double length = 0.0;
  std::normal_distribution<double> normal;
  for (double& x : q) x = normal(random), length += x * x;
  for (double& x : q) x /= std::sqrt(length);
  RigidMotion motion;
  motion.rotation = rotation_of(q);
  for (double& x : motion.translation) x = 5.0 * normal(random);
  return motion;
}

inline double distance(const double* a, const double* b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

inline std::vector<double> random_points(std::size_t n, Random& random, double size, double offset = 0.0) {
  std::uniform_real_distribution<double> uniform(-size, size);
  std::vector<double> points(3 * n);
  for (double& x : points) x = offset + uniform(random);
  return points;
}

inline std::vector<double> random_directions(std::size_t n, Random& random) {
  auto vectors = normal_numbers(3 * n, random);
  for (std::size_t k = 0; k < vectors.size(); k += 3) {
    const double length = std::hypot(vectors[k], vectors[k + 1], vectors[k + 2]);
    for (std::size_t a = 0; a < 3; ++a) vectors[k + a] /= length;
  }
  return vectors;
}

}  // namespace clipperplus
