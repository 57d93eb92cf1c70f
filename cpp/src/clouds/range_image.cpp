#include "clouds/range_image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "clouds/cube_directions.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr float kNothing = std::numeric_limits<float>::infinity();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kPointsAtOnce = std::size_t{1} << 18;  // many more than an image has directions

}  // namespace

template <class Real>
RangeImage::RangeImage(std::span<const Real> points, const Vector3& viewpoint, std::size_t threads, Control& control)
    : viewpoint_(viewpoint), free_(6 * kSide * kSide, 0.0F) {
  // Squares: their order is that of the ranges, and one root a direction is enough.
  std::vector<double> squares(free_.size(), kInfinity);
  const auto look = [&](std::size_t begin, std::size_t end, std::vector<double>& image) {
    Vector3 direction;
    for (std::size_t i = begin; i < end; ++i) {
      const Vector3 point{points[3 * i], points[3 * i + 1], points[3 * i + 2]};
      const double square = square_of(point.data(), direction);
      double& seen = image[cube_pixel(direction, kSide)];
      seen = std::min(seen, square);
    }
  };
  const std::size_t n = points.size() / 3;
  if (n <= kPointsAtOnce) {
    look(0, n, squares);
  } else {
    std::mutex mutex;
    const auto look_apart = [&](std::size_t begin, std::size_t end) {
      std::vector<double> here(squares.size(), kInfinity);
      look(begin, end, here);
      const std::lock_guard lock(mutex);
      for (std::size_t k = 0; k < squares.size(); ++k) squares[k] = std::min(squares[k], here[k]);
    };
    for_each_block(n, threads, control, look_apart, kPointsAtOnce);
  }
  std::vector<float> nearest(squares.size(), kNothing);
  for (std::size_t k = 0; k < squares.size(); ++k) {
    if (squares[k] < kInfinity) nearest[k] = static_cast<float>(std::sqrt(squares[k]));
  }
  for (std::size_t face = 0; face < 6; ++face) {
    const std::size_t axis = face / 2;
    for (int v = 0; v < kSide; ++v) {
      for (int u = 0; u < kSide; ++u) {
        const std::size_t place = (face * kSide + static_cast<std::size_t>(v)) * kSide + static_cast<std::size_t>(u);
        if (nearest[place] == kNothing) continue;
        float least = kNothing;
        for (int dv = -1; dv <= 1; ++dv) {
          for (int du = -1; du <= 1; ++du) {  // beyond the edge, this points to the next face
            Vector3 around;
            around[axis] = face % 2 == 0 ? 1.0 : -1.0;
            around[(axis + 1) % 3] = 2.0 * (u + du + 0.5) / kSide - 1.0;
            around[(axis + 2) % 3] = 2.0 * (v + dv + 0.5) / kSide - 1.0;
            least = std::min(least, nearest[cube_pixel(around, kSide)]);
          }
        }
        free_[place] = least;
      }
    }
  }
}

template RangeImage::RangeImage(std::span<const float>, const Vector3&, std::size_t, Control&);
template RangeImage::RangeImage(std::span<const double>, const Vector3&, std::size_t, Control&);

RangeImage::RangeImage(const Vector3& viewpoint, std::vector<float> free)
    : viewpoint_(viewpoint), free_(std::move(free)) {
  if (free_.size() != 6 * kSide * kSide) throw std::invalid_argument("no range image");
}

double RangeImage::square_of(const double* point, Vector3& direction) const {
  for (std::size_t a = 0; a < 3; ++a) direction[a] = point[a] - viewpoint_[a];
  const double square = dot(direction, direction);
  if (square == 0.0) direction = {1.0, 0.0, 0.0};
  return square;
}

std::pair<double, double> RangeImage::ranges_of(const Vector3& place) const {
  Vector3 direction;
  const double range = std::sqrt(square_of(place.data(), direction));
  return {range, static_cast<double>(free_[cube_pixel(direction, kSide)])};
}

bool RangeImage::is_in_front(const Vector3& place, double margin) const {
  const auto [range, free] = ranges_of(place);
  return range + margin < free;
}

bool RangeImage::is_hidden(const Vector3& place, double margin) const {
  const auto [range, free] = ranges_of(place);
  return free > 0.0 && range > free + margin;
}

std::size_t RangeImage::count_in_front(const OrientedPoints& points, const RigidMotion& motion, double margin,
                                       const simd::Kernels& kernels) const {
  const auto numbers = numbers_of(motion);
  alignas(64) double ranges[simd::kBlock];
  alignas(64) std::int32_t pixels[simd::kBlock];
  std::size_t count = 0;
  for (std::size_t b = 0; b < points.blocks(); ++b) {
    kernels.look_at_points(points.block(b), numbers.data(), viewpoint_.data(), kSide, ranges, pixels);
    const std::size_t part = std::min(simd::kBlock, points.size() - b * simd::kBlock);
    for (std::size_t k = 0; k < part; ++k) {
      count += ranges[k] + margin < static_cast<double>(free_[static_cast<std::size_t>(pixels[k])]) ? 1 : 0;
    }
  }
  return count;
}

}  // namespace clipperplus::inline v0
