#include "clouds/alignment.h"

#include <algorithm>
#include <cmath>

#include "clouds/pair_sums.h"

namespace clipperplus::inline v0 {

namespace {

using simd::kBlock;

// Calls add(block of pairs) for all points, each with what is near it after the motion.
template <class Add>
void for_each_block_of_pairs(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                             const PairRule& rule, bool precise, const simd::Kernels& kernels, Add add) {
  const auto numbers = numbers_of(motion);
  const simd::GridFrame frame = target.frame(precise);
  alignas(64) double places[3 * kBlock];
  alignas(64) std::int32_t cells[3 * kBlock], found[kBlock];
  for (std::size_t b = 0; b < source.blocks(); ++b) {
    kernels.move_points(source.block(b), numbers.data(), frame, places, cells);
    target.find(precise, places, cells, std::min(kBlock, source.size() - b * kBlock), found);
    add(simd::PairBlock{.source = source.block(b),
                        .motion = numbers.data(),
                        .places = places,
                        .target = target.oriented(),
                        .found = found,
                        .square = rule.distance * rule.distance,
                        .least_cosine = rule.least_cosine});
  }
}

struct WeightedEquations : NormalEquations {
  Vector3 mean;  // of the arms
};

// Weights are (1 - fall · squared distance)².
WeightedEquations accumulate(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                             const PairRule& rule, const Vector3& centre, double fall, bool precise,
                             const simd::Kernels& kernels) {
  PairSums<simd::kEquationSums> sums;
  for_each_block_of_pairs(target, source, motion, rule, precise, kernels, [&](const simd::PairBlock& block) {
    kernels.add_equations(block, centre.data(), fall, sums.lanes);
  });
  WeightedEquations result;
  result.centre = centre;
  std::size_t next = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j <= i; ++j) result.information[i][j] = sums[next++];
  }
  for (double& slope : result.slope) slope = -sums[next++];
  for (double& mean : result.mean) mean = sums[next++];
  result.weights = sums[next++];
  result.squares = sums[next++];
  result.arms = sums[next++];
  for (double& mean : result.mean) mean /= std::max(result.weights, 1e-300);
  return result;
}

}  // namespace

Overlap measure_overlap(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                        const PairRule& rule, const simd::Kernels& kernels) {
  PairSums<simd::kOverlapSums> sums;
  for_each_block_of_pairs(target, source, motion, rule, false, kernels,
                          [&](const simd::PairBlock& block) { kernels.add_overlap(block, sums.lanes); });
  return {.near = static_cast<std::size_t>(sums[0]),
          .agreeing = static_cast<std::size_t>(sums[1]),
          .detail = sums[2],
          .squares = sums[3]};
}

std::size_t count_explained(const OrientedPoints& matched, const RigidMotion& motion, double distance,
                            const simd::Kernels& kernels) {
  const auto numbers = numbers_of(motion);
  std::size_t explained = 0;
  for (std::size_t b = 0; b < matched.blocks(); ++b) {
    const std::size_t count = std::min(kBlock, matched.size() - b * kBlock);
    explained += kernels.count_explained(matched.block(b), numbers.data(), count, distance * distance);
  }
  return explained;
}

NormalEquations measure_fit(const SurfaceGrid& target, const OrientedPoints& source, const RigidMotion& motion,
                            const PairRule& rule, const simd::Kernels& kernels) {
  Vector3 centre = motion.apply(source.mean().data());
  const auto rough = accumulate(target, source, motion, rule, centre, 0.0, false, kernels);
  for (std::size_t a = 0; a < 3; ++a) centre[a] = rough.weights > 0.0 ? centre[a] + rough.mean[a] : 0.0;
  return accumulate(target, source, motion, rule, centre, 0.0, true, kernels);
}

namespace {

constexpr double kSmallStep = 2e-3;  // times the distance of the rule: a step that moves points by less is the last

RigidMotion refine(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion, const PairRule& rule,
                   int steps, bool precise, const simd::Kernels& kernels, const MotionModel& model) {
  const double fall = 1.0 / (rule.distance * rule.distance);
  for (int step = 0; step < steps; ++step) {
    // Turns are taken about a point amid the cloud: far from it they would be hard to tell from shifts.
    const Vector3 centre = motion.apply(source.mean().data());
    NormalEquations sums = accumulate(target, source, motion, rule, centre, fall, precise, kernels);
    if (sums.weights < 6.0) return motion;
    for (std::size_t i = 0; i < 6; ++i) sums.information[i][i] *= 1.0 + 1e-6;
    model.restrict(sums.information, sums.slope);
    if (!solve_positive(sums.information, sums.slope)) return motion;
    motion = moved(motion, sums.slope, sums.centre);
    const Vector3 turn{sums.slope[0], sums.slope[1], sums.slope[2]}, shift{sums.slope[3], sums.slope[4], sums.slope[5]};
    const double farthest = std::sqrt(dot(turn, turn)) * source.radius() + std::sqrt(dot(shift, shift));
    if (farthest < kSmallStep * rule.distance) break;
  }
  return motion;
}

}  // namespace

RigidMotion refine_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps, const simd::Kernels& kernels, const MotionModel& model) {
  return refine(target, source, motion, rule, steps, false, kernels, model);
}

RigidMotion polish_motion(const SurfaceGrid& target, const OrientedPoints& source, RigidMotion motion,
                          const PairRule& rule, int steps, const simd::Kernels& kernels, const MotionModel& model) {
  return refine(target, source, motion, rule, steps, true, kernels, model);
}

}  // namespace clipperplus::inline v0
