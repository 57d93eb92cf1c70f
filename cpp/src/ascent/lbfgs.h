// Directions of ascent by limited-memory BFGS, for steps on the unit sphere's nonnegative part: the two-metric
// projection of Bertsekas ("Projected Newton methods for optimization problems with simple constraints", 1982) with the
// two-loop recursion of Nocedal ("Updating quasi-Newton matrices with limited storage", 1980).
//
// Entries that are zero and that the gradient would make negative stay as they are; the others are free. The last few
// steps are kept, and the recursion runs over their free entries; what comes out is projected on the tangent space. Of
// a step s it needs what it did to the projected gradient,
//     z = F s - (M s - d M̄ s).
// M s and M̄ s are differences of what is known at the points and do not depend on d: steps stay good when d is raised.
//
// A direction costs some six passes over the free entries for each step kept; no product with M.
#pragma once

#include <array>
#include <vector>

#include "ascent/objective.h"

namespace clipperplus::inline v0 {

class Lbfgs {
 public:
  explicit Lbfgs(std::size_t padded) : direction_(padded, 0.0) {}

  // Keeps the step between two points.
  void learn(const AscentPoint& from, const AscentPoint& to);

  // Finds the free entries of a point whose gradient is projected, and the norm of the gradient there: zero where no
  // step gains anything to first order.
  double look_at(const AscentPoint& point);
  // Makes a direction for the point that was looked at; false if it would be no better than the gradient.
  bool make_direction(const AscentPoint& point, double d);

  const AlignedVector<double>& direction() const { return direction_; }

 private:
  static constexpr std::size_t kMemory = 5;

  struct Step {
    AlignedVector<double> s, m, y;        // s, M s, M̄ s
    std::vector<double> free_s, free_z;   // s and z on the free entries, for the direction that is made
    double curvature = 0.0, share = 0.0;  // s · z; what the first loop takes away
  };
  bool restrict_to_free(Step& step, double value, double d) const;

  std::array<Step, kMemory> steps_;
  std::size_t learned_ = 0;  // step k is at k modulo kMemory
  std::vector<std::size_t> free_;
  std::vector<double> q_;
  AlignedVector<double> direction_;
};

}  // namespace clipperplus::inline v0
