// Points and the pixels at which a camera should see them: who agrees with a pose, and the pose that fits best.
//
// Image places are those of a camera with focal length 1: x / z and y / z. A miss is measured in pixels, by the upper
// left of the camera's matrix. Every pass is linear in the matches, about 3 ns each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/bits.h"
#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

struct PixelScale {  // miss in pixels = (fx a + skew b, fy b), for a miss (a, b) at focal length 1
  double fx, skew, fy;
};

class SeenPoints {
 public:
  // Points are x y z of each, places x y of each. `order`: which match comes first, second, …
  SeenPoints(std::span<const double> points, std::span<const double> places, PixelScale scale,
             std::span<const std::uint32_t> order);

  std::size_t size() const { return x_.size(); }
  Vector3 point(std::size_t i) const { return {x_[i], y_[i], z_[i]}; }
  Vector3 direction(std::size_t i) const;  // of length 1

  // How many of the matches first … last - 1 a pose brings to within so many pixels, in front of the camera.
  std::size_t count(const RigidMotion& pose, double epsilon, std::size_t first, std::size_t last) const;
  std::size_t count(const RigidMotion& pose, double epsilon) const { return count(pose, epsilon, 0, size()); }

  // Sets the bits of those matches; returns how many they are.
  std::size_t mark(const RigidMotion& pose, double epsilon, Word* bits) const;

  // Adds what the match says about a small motion after the pose, turn first, in the frame of the camera: J'J and J'r,
  // by a weight that is a function of the squared miss in pixels. Matches behind the camera say nothing.
  template <class Weight>
  void add_equations(const RigidMotion& pose, std::size_t i, Weight weight, Matrix<6>& information,
                     std::array<double, 6>& gradient) const {
    const double at[3] = {x_[i], y_[i], z_[i]};
    const Vector3 p = pose.apply(at);
    if (!(p[2] > 0.0)) return;
    const double inverse = 1.0 / p[2], u = p[0] * inverse, v = p[1] * inverse;
    const double a = u - u_[i], b = v - v_[i];
    const double misses[2] = {scale_.fx * a + scale_.skew * b, scale_.fy * b};
    const double w = weight(misses[0] * misses[0] + misses[1] * misses[1]);
    if (!(w > 0.0)) return;
    // Of a and b, by turn and shift.
    const double of_a[6] = {-u * v, 1.0 + u * u, -v, inverse, 0.0, -u * inverse};
    const double of_b[6] = {-(1.0 + v * v), u * v, u, 0.0, inverse, -v * inverse};
    for (std::size_t row = 0; row < 2; ++row) {
      double slopes[6];
      for (std::size_t k = 0; k < 6; ++k) {
        slopes[k] = row == 0 ? scale_.fx * of_a[k] + scale_.skew * of_b[k] : scale_.fy * of_b[k];
      }
      for (std::size_t k = 0; k < 6; ++k) {
        gradient[k] += w * slopes[k] * misses[row];
        for (std::size_t l = 0; l <= k; ++l) information[k][l] += w * slopes[k] * slopes[l];
      }
    }
  }

 private:
  template <class Visit>
  void visit(const RigidMotion& pose, double epsilon, std::size_t first, std::size_t last, Visit visit) const;

  std::vector<double> x_, y_, z_, u_, v_;
  PixelScale scale_;
};

enum class Loss {
  kRobust,     // weights of Geman and McClure, 1 / (1 + r²)² for misses of r epsilon, and none from three on
  kTruncated,  // all that miss by less than epsilon count the same
};

struct FittedCamera {
  RigidMotion pose;
  Matrix<6> information;  // lower triangle: the sum of w J'J, in pixels, turn first
};

// Gauss–Newton from a pose, at most so many steps; it ends where the matches do not determine a step.
FittedCamera fit_camera(const SeenPoints& seen, const RigidMotion& start, double epsilon, Loss loss, int steps);

}  // namespace clipperplus::inline v0
