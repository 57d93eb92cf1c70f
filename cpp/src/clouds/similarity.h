// Whether one cloud is a scaled copy of the other: point-to-plane ICP (alignment.h) with the scale as a seventh
// unknown.
#pragma once

#include "clouds/alignment.h"

namespace clipperplus::inline v0 {

struct SimilarityFit {
  double scale = 1.0;        // of the source, to fit the target
  double information = 0.0;  // about the scale, with all of the motion unknown: Σ w of what only it can explain
  double variance = 0.0;     // of a distance along the normals
  double weights = 0.0;      // Σ w over the pairs
};

// Steps from a rigid motion, with weights that fall from 1 to 0 at the distance of the rule. Fewer than seven pairs, or
// pairs that do not determine it, leave the scale where it is.
SimilarityFit fit_similarity(const SurfaceGrid& target, std::span<const double> points, std::span<const double> normals,
                             const RigidMotion& motion, const PairRule& rule, int steps);

}  // namespace clipperplus::inline v0
