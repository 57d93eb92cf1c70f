// Points as the kernels want them that move whole clouds: in blocks, coordinates apart.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "clipperplus/bits.h"
#include "geometry/rigid.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// Points with normals, coordinates apart, in blocks of simd::kBlock.
class OrientedPoints {
 public:
  OrientedPoints() = default;
  // x y z of each, or no normals; how much each counts, or 1 each.
  OrientedPoints(std::span<const double> points, std::span<const double> normals, std::span<const double> masses);

  std::size_t size() const { return size_; }
  std::size_t blocks() const { return numbers_.size() / kBlockNumbers; }
  const double* block(std::size_t b) const { return &numbers_[b * kBlockNumbers]; }
  const Vector3& mean() const { return mean_; }
  double radius() const { return radius_; }  // root mean square distance from the mean

 private:
  static constexpr std::size_t kBlockNumbers = simd::kBlockColumns * simd::kBlock;

  std::size_t size_ = 0;
  AlignedVector<double> numbers_;  // the last block is filled up with zeros
  Vector3 mean_{};
  double radius_ = 0.0;
};

// A rotation row by row, and a shift.
inline std::array<double, 12> numbers_of(const RigidMotion& motion) {
  std::array<double, 12> numbers;
  for (std::size_t a = 0; a < 3; ++a) {
    std::copy_n(motion.rotation[a].begin(), 3, &numbers[3 * a]);
    numbers[9 + a] = motion.translation[a];
  }
  return numbers;
}

}  // namespace clipperplus::inline v0
