#include "clouds/oriented_points.h"

#include <cmath>

namespace clipperplus::inline v0 {

using simd::kBlock;

OrientedPoints::OrientedPoints(std::span<const double> points, std::span<const double> normals,
                               std::span<const double> masses)
    : size_(points.size() / 3), numbers_((size_ + kBlock - 1) / kBlock * kBlockNumbers, 0.0) {
  for (std::size_t i = 0; i < size_; ++i) {
    double* numbers = &numbers_[i / kBlock * kBlockNumbers + i % kBlock];
    for (std::size_t a = 0; a < 3; ++a) {
      numbers[a * kBlock] = points[3 * i + a];
      numbers[(3 + a) * kBlock] = normals.empty() ? 0.0 : normals[3 * i + a];
      mean_[a] += points[3 * i + a];
    }
    numbers[6 * kBlock] = masses.empty() ? 1.0 : masses[i];
  }
  const double count = std::max(1.0, static_cast<double>(size_));
  for (double& mean : mean_) mean /= count;
  double squares = 0.0;
  for (std::size_t k = 0; k < points.size(); ++k) squares += (points[k] - mean_[k % 3]) * (points[k] - mean_[k % 3]);
  radius_ = std::sqrt(squares / count);
}

}  // namespace clipperplus::inline v0
