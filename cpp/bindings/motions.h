// Rigid motions as 4 × 4 matrices, in and out.
#pragma once

#include <vector>

#include "common.h"
#include "geometry/rigid.h"

namespace clipperplus::bindings {

using MotionsIn = nb::ndarray<const double, nb::shape<-1, 4, 4>, nb::c_contig, nb::device::cpu>;
using MotionsOut = nb::ndarray<nb::numpy, double, nb::shape<-1, 4, 4>>;

inline std::vector<RigidMotion> as_motions(const MotionsIn& array) {
  std::vector<RigidMotion> motions(array.shape(0));
  for (std::size_t k = 0; k < motions.size(); ++k) {
    const double* matrix = array.data() + 16 * k;
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) motions[k].rotation[a][b] = matrix[4 * a + b];
      motions[k].translation[a] = matrix[4 * a + 3];
    }
  }
  return motions;
}

template <class Motions, class MotionOf>
MotionsOut to_matrices(const Motions& motions, MotionOf motion_of) {
  auto* owned = new std::vector<double>(16 * motions.size(), 0.0);
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  for (std::size_t k = 0; k < motions.size(); ++k) {
    double* matrix = owned->data() + 16 * k;
    const RigidMotion& motion = motion_of(motions[k]);
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) matrix[4 * a + b] = motion.rotation[a][b];
      matrix[4 * a + 3] = motion.translation[a];
    }
    matrix[15] = 1.0;
  }
  return MotionsOut(owned->data(), {motions.size(), 4, 4}, owner);
}

inline MotionsOut to_matrices(const std::vector<RigidMotion>& motions) {
  return to_matrices(motions, [](const RigidMotion& motion) -> const RigidMotion& { return motion; });
}

}  // namespace clipperplus::bindings
