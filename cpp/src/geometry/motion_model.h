// Which motions are looked for: all rigid ones, or fewer. Turns may be any, about one axis only, or none; shifts may be
// any, or only across that axis. The small motions of each are a subspace of ξ = (ω, v) that is the same about any
// centre.
#pragma once

#include <algorithm>

#include "geometry/rigid.h"

namespace clipperplus::inline v0 {

struct MotionModel {
  enum class Turns { kAny, kAboutUp, kNone };
  Turns turns = Turns::kAny;
  Vector3 up{0.0, 0.0, 1.0};  // unit length: the axis
  bool level = false;         // no shifts along it

  bool is_rigid() const { return turns == Turns::kAny && !level; }

  // Restricts a problem h ξ = slope, of which the lower triangle is filled in, to the small motions of the model: the
  // others resist by as much as these do on average, and nothing pulls at them.
  void restrict(Matrix<6>& h, std::array<double, 6>& slope) const {
    if (is_rigid()) return;
    double resistance = 0.0;
    for (std::size_t i = 0; i < 6; ++i) resistance += h[i][i] / 6.0;
    const Matrix<6> p = projector();
    Matrix<6> half{}, result{};
    std::array<double, 6> pull{};
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        for (std::size_t k = 0; k < 6; ++k) half[i][j] += p[i][k] * h[std::max(k, j)][std::min(k, j)];
      }
    }
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        for (std::size_t k = 0; k < 6; ++k) result[i][j] += half[i][k] * p[k][j];
        result[i][j] += resistance * ((i == j ? 1.0 : 0.0) - p[i][j]);
        pull[i] += p[i][j] * slope[j];
      }
    }
    h = result;
    slope = pull;
  }

 private:
  Matrix<6> projector() const {
    Matrix<6> p{};
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t b = 0; b < 3; ++b) {
        const double same = a == b ? 1.0 : 0.0, along = up[a] * up[b];
        p[a][b] = turns == Turns::kAny ? same : turns == Turns::kAboutUp ? along : 0.0;
        p[3 + a][3 + b] = level ? same - along : same;
      }
    }
    return p;
  }
};

}  // namespace clipperplus::inline v0
