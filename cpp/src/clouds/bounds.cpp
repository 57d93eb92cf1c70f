#include "clouds/bounds.h"

#include <algorithm>
#include <limits>
#include <mutex>

#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Growing {
  std::size_t finite = 0;
  Vector3 low{kInfinity, kInfinity, kInfinity}, high{-kInfinity, -kInfinity, -kInfinity};

  void add(const Vector3& point) {
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

// Zero for finite numbers, and for no others.
double doubt(const Vector3& point) { return (point[0] - point[0]) + (point[1] - point[1]) + (point[2] - point[2]); }

// Nearly always all points are finite, which is known at the end; only if not, each is looked at.
template <class Real>
Growing bounds_of_block(std::span<const Real> points) {
  Growing all, finite;
  double doubts = 0.0;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const Vector3 point{points[k], points[k + 1], points[k + 2]};
    all.add(point);
    doubts += doubt(point);
  }
  if (doubts == 0.0) return all;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const Vector3 point{points[k], points[k + 1], points[k + 2]};
    if (doubt(point) == 0.0) finite.add(point);
  }
  return finite;
}

// Of all points, from measure(some of them).
template <class Real, class Measure>
Bounds joined(std::span<const Real> points, std::size_t threads, Control& control, Measure measure) {
  Growing all;
  std::mutex mutex;
  for_each_block(points.size() / 3, threads, control, [&](std::size_t begin, std::size_t end) {
    const Growing here = measure(points.subspan(3 * begin, 3 * (end - begin)));
    const std::lock_guard lock(mutex);
    all.add(here);
  });
  Bounds bounds{.finite = all.finite};
  if (all.finite > 0) bounds.low = all.low, bounds.high = all.high;
  return bounds;
}

}  // namespace

template <class Real>
Bounds bounds_of(std::span<const Real> points, std::size_t threads, Control& control) {
  return joined(points, threads, control, [](std::span<const Real> some) { return bounds_of_block(some); });
}

template <class Real>
Bounds bounds_within(std::span<const Real> points, const Vector3& low, const Vector3& high, std::size_t threads,
                     Control& control) {
  auto bounds = joined(points, threads, control, [&](std::span<const Real> some) {
    Growing inside;
    for (std::size_t k = 0; k < some.size(); k += 3) {
      const Vector3 point{some[k], some[k + 1], some[k + 2]};
      if (is_in_box(point, low, high)) inside.add(point);
    }
    return inside;
  });
  bounds.whole = bounds.finite == points.size() / 3;
  return bounds;
}

template Bounds bounds_of(std::span<const float>, std::size_t, Control&);
template Bounds bounds_of(std::span<const double>, std::size_t, Control&);
template Bounds bounds_within(std::span<const float>, const Vector3&, const Vector3&, std::size_t, Control&);
template Bounds bounds_within(std::span<const double>, const Vector3&, const Vector3&, std::size_t, Control&);

}  // namespace clipperplus::inline v0
