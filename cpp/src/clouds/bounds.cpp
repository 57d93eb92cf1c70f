#include "clouds/bounds.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "threads.h"

namespace clipperplus {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Growing {
  std::size_t finite = 0;
  Vector3 low{kInfinity, kInfinity, kInfinity}, high{-kInfinity, -kInfinity, -kInfinity};

  void add(const Vector3& point) {
    if (!((point[0] - point[0]) + (point[1] - point[1]) + (point[2] - point[2]) == 0.0)) return;
    ++finite;
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = point[a] < low[a] ? point[a] : low[a];
      high[a] = point[a] > high[a] ? point[a] : high[a];
    }
  }
  void add(const Growing& other) {
    finite += other.finite;
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::min(low[a], other.low[a]);
      high[a] = std::max(high[a], other.high[a]);
    }
  }
};

}  // namespace

template <class Real>
Bounds bounds_of(std::span<const Real> points, std::size_t threads, Control& control) {
  Growing all;
  std::mutex mutex;
  for_each_block(points.size() / 3, threads, control, [&](std::size_t begin, std::size_t end) {
    Growing here;
    for (std::size_t i = begin; i < end; ++i) here.add(Vector3{points[3 * i], points[3 * i + 1], points[3 * i + 2]});
    const std::lock_guard lock(mutex);
    all.add(here);
  });
  Bounds bounds{.finite = all.finite};
  if (all.finite > 0) bounds.low = all.low, bounds.high = all.high;
  return bounds;
}

template Bounds bounds_of(std::span<const float>, std::size_t, Control&);
template Bounds bounds_of(std::span<const double>, std::size_t, Control&);

}  // namespace clipperplus
