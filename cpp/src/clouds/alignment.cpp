#include "clouds/alignment.h"

#include <algorithm>
#include <cmath>

namespace clipperplus {

namespace {

Vector3 minus(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

// Calls visit(number, place, difference to the target's point, its normal, squared distance) for the pairs that count;
// returns how many there are whatever the normals.
template <bool Precise, class Visit>
std::size_t for_each_pair(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                          const PairRule& rule, Visit visit) {
  std::size_t near = 0;
  for (std::size_t k = 0; k < source.points.size(); k += 3) {
    const Vector3 place = motion.apply(&source.points[k]);
    const std::int32_t found = Precise ? target.nearest(place) : target.near(place);
    if (found < 0) continue;
    const double* q = target.point(found);
    const Vector3 d = minus(place, {q[0], q[1], q[2]});
    const double square = dot(d, d);
    if (square > rule.distance * rule.distance) continue;
    ++near;
    const double* n = target.normal(found);
    const Vector3 turned = motion.turn(&source.normals[k]), normal{n[0], n[1], n[2]};
    if (std::abs(dot(turned, normal)) < rule.least_cosine) continue;
    visit(k / 3, place, d, normal, square);
  }
  return near;
}

template <bool Precise, class WeightOf>
NormalEquations accumulate(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                           const PairRule& rule, const Vector3& centre, WeightOf weight_of) {
  NormalEquations sums;
  sums.centre = centre;
  for_each_pair<Precise>(target, source, motion, rule,
                         [&](std::size_t, const Vector3& place, const Vector3& d, const Vector3& n, double square) {
                           const double weight = weight_of(square), residual = dot(n, d);
                           const Vector3 arm = minus(place, centre), turn = cross(arm, n);
                           const std::array<double, 6> row{turn[0], turn[1], turn[2], n[0], n[1], n[2]};
                           sums.weights += weight;
                           sums.arms += weight * dot(arm, arm);
                           sums.squares += weight * residual * residual;
                           for (std::size_t i = 0; i < 6; ++i) {
                             const double weighted = weight * row[i];
                             sums.slope[i] -= residual * weighted;
                             for (std::size_t j = 0; j <= i; ++j) sums.information[i][j] += weighted * row[j];
                           }
                         });
  return sums;
}

Vector3 mean_of(std::span<const double> points) {
  Vector3 mean{};
  for (std::size_t k = 0; k < points.size(); ++k) mean[k % 3] += points[k];
  for (double& m : mean) m /= std::max(1.0, static_cast<double>(points.size() / 3));
  return mean;
}

}  // namespace

Overlap measure_overlap(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                        const PairRule& rule) {
  Overlap result;
  result.near = for_each_pair<false>(
      target, source, motion, rule,
      [&](std::size_t number, const Vector3&, const Vector3& d, const Vector3& normal, double) {
        const double distance = dot(d, normal), bend = source.bends.empty() ? 0.0 : source.bends[number];
        ++result.agreeing;
        result.detail += bend;
        result.squares += bend * distance * distance;
      });
  return result;
}

std::size_t count_explained(std::span<const double> source, std::span<const double> target, const RigidMotion& motion,
                            double distance) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < source.size(); k += 3) {
    const Vector3 d = minus(motion.apply(&source[k]), {target[k], target[k + 1], target[k + 2]});
    count += dot(d, d) < distance * distance ? 1 : 0;
  }
  return count;
}

NormalEquations measure_fit(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                            const PairRule& rule) {
  std::vector<double> places;
  for_each_pair<false>(target, source, motion, rule,
                       [&](std::size_t, const Vector3& place, const Vector3&, const Vector3&, double) {
                         places.insert(places.end(), place.begin(), place.end());
                       });
  return accumulate<true>(target, source, motion, rule, mean_of(places), [](double) { return 1.0; });
}

namespace {

constexpr double kSmallStep = 2e-3;  // times the distance of the rule: a step that moves points by less is the last

template <bool Precise>
RigidMotion refine(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion, const PairRule& rule,
                   int steps) {
  const Vector3 middle = mean_of(source.points);
  double squares = 0.0;
  for (std::size_t k = 0; k < source.points.size(); ++k) {
    squares += (source.points[k] - middle[k % 3]) * (source.points[k] - middle[k % 3]);
  }
  const double radius = std::sqrt(squares / std::max(1.0, static_cast<double>(source.points.size() / 3)));
  for (int step = 0; step < steps; ++step) {
    // Turns are taken about a point amid the cloud: far from it they would be hard to tell from shifts.
    NormalEquations sums =
        accumulate<Precise>(target, source, motion, rule, motion.apply(middle.data()), [&](double square) {
          const double rest = 1.0 - square / (rule.distance * rule.distance);
          return rest * rest;
        });
    if (sums.weights < 6.0) return motion;
    for (std::size_t i = 0; i < 6; ++i) sums.information[i][i] *= 1.0 + 1e-6;
    if (!solve_positive(sums.information, sums.slope)) return motion;
    motion = moved(motion, sums.slope, sums.centre);
    const Vector3 turn{sums.slope[0], sums.slope[1], sums.slope[2]}, shift{sums.slope[3], sums.slope[4], sums.slope[5]};
    if (std::sqrt(dot(turn, turn)) * radius + std::sqrt(dot(shift, shift)) < kSmallStep * rule.distance) break;
  }
  return motion;
}

}  // namespace

RigidMotion refine_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps) {
  return refine<false>(target, source, motion, rule, steps);
}

RigidMotion polish_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps) {
  return refine<true>(target, source, motion, rule, steps);
}

}  // namespace clipperplus
