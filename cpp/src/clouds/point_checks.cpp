#include "clouds/point_checks.h"

#include <cmath>

namespace clipperplus::inline v0 {

namespace {

PointCheck on_surface(const SurfaceGrid& target, const Vector3& place, const Vector3& normal, const PairRule& rule) {
  const std::int32_t found = target.near(place);
  if (found < 0) return PointCheck::unknown;
  const double* q = target.point(found);
  const Vector3 d{place[0] - q[0], place[1] - q[1], place[2] - q[2]};
  if (dot(d, d) > rule.distance * rule.distance) return PointCheck::unknown;
  const double* n = target.normal(found);
  const bool along = std::abs(dot(normal, {n[0], n[1], n[2]})) >= rule.least_cosine;
  return along ? PointCheck::agrees : PointCheck::across;
}

}  // namespace

void check_points(const SurfaceGrid& target, const RangeImage* sight, std::span<const double> points,
                  std::span<const double> normals, const RigidMotion& motion, const PairRule& rule, double margin,
                  std::span<std::uint8_t> checks) {
  for (std::size_t k = 0; k < checks.size(); ++k) {
    const Vector3 place = motion.apply(&points[3 * k]);
    PointCheck check = on_surface(target, place, motion.turn(&normals[3 * k]), rule);
    if (check != PointCheck::agrees && sight != nullptr) {
      if (sight->is_in_front(place, margin)) {
        check = PointCheck::in_free_space;
      } else if (check == PointCheck::unknown && sight->is_hidden(place, margin)) {
        check = PointCheck::hidden;
      }
    }
    checks[k] = static_cast<std::uint8_t>(check);
  }
}

}  // namespace clipperplus::inline v0
