// From matched points to a rigid motion, however many of the matches are wrong: consistency graph, largest clique,
// robust fit to what it explains.
//
//   std::vector<std::array<double, 3>> source, target;  // point k of one is matched with point k of the other
//   const Solution found = solve(source, target, {.epsilon = 0.05});
//   if (found.status == Status::Found) moved = found.T_target_source->apply(source[0]);
//   found.clique.optimal();  // whether no larger set of matches agrees
//
// Inliers, clique and alternatives are those of Python's solve(..., motion="rigid"), and so is the transform, up to
// rounding. What that has beside them is not here: whether chance would bring as many agreeing matches, whether the
// target is scaled or a mirror image, the covariance, and the confidence that follows. So Status::Found says that there
// is one answer, not that it is right: three or four matches that agree among hundreds may well be chance.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "clipperplus/consistency_graph.h"
#include "clipperplus/export.h"
#include "clipperplus/find_clique.h"
#include "clipperplus/views.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

// A point x goes to R x + t.
struct RigidTransform {
  std::array<double, 16> matrix{1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0,
                                0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0};  // 4 x 4, row by row

  double operator()(std::size_t row, std::size_t column) const noexcept { return matrix[4 * row + column]; }

  // Of a point with x, y and z, or with [0], [1] and [2].
  template <class Point>
  std::array<double, 3> apply(const Point& point) const noexcept {
    if constexpr (requires { point.x + point.y + point.z; }) {
      return apply(std::array<double, 3>{point.x, point.y, point.z});
    } else {
      static_assert(detail::fixed_size<Point>() == 3 || detail::fixed_size<Point>() == 0, "points are in space");
      std::array<double, 3> moved{};
      for (std::size_t a = 0; a < 3; ++a) {
        moved[a] =
            matrix[4 * a] * point[0] + matrix[4 * a + 1] * point[1] + matrix[4 * a + 2] * point[2] + matrix[4 * a + 3];
      }
      return moved;
    }
  }
};

enum class Status {
  Found,          // one transform explains the largest set of matches that agree
  Ambiguous,      // another one explains at least nine tenths as many: see alternatives
  Degenerate,     // these matches lie on a line, or close together: the turns about some axes are not determined
  TooFewInliers,  // fewer than three matches agree: there is no transform
};

struct SolveOptions {
  double epsilon = 0.05;              // by how much distances may differ, in the unit of the points, or
  std::vector<double> epsilons = {};  // one noise bound per association, of which a pair has the sum
  CliqueOptions clique = {};          // how the clique is found: `stop`, limits and callback are for this step, threads
                                      // for all; there are no weights
  std::size_t max_alternatives = 5;
};

// Another motion that a large set of agreeing matches suggests.
struct Alternative {
  RigidTransform T_target_source;
  std::vector<Vertex> inliers;  // sorted
  double score = 0.0;           // how many there are, by those of the answer
};

struct Solution {
  Status status = Status::TooFewInliers;
  std::optional<RigidTransform> T_target_source;       // moves the source onto the target
  std::vector<Vertex> inliers;                         // numbers of the associations of the clique, sorted
  std::vector<double> residuals;                       // how far each source point is moved from its match; else empty
  std::vector<std::array<double, 3>> degenerate_axes;  // unit vectors in the target's frame
  std::vector<Alternative> alternatives;               // the best first
  CliqueResult clique;                                 // with its certificate
  Graph graph;                                         // the consistency graph
};

// Point k of the source is associated with point k of the target. Points are in space. Wrong input throws
// std::invalid_argument.
CLIPPERPLUS_API Solution solve(const PointsView& source, const PointsView& target, const SolveOptions& options = {});

// The same for pairs of a source and a target point.
CLIPPERPLUS_API Solution solve(const PointsView& source, const PointsView& target, const Associations& associations,
                               const SolveOptions& options = {});

// For {}, which could be associations, too.
inline Solution solve(const PointsView& source, const PointsView& target, detail::Nothing) {
  return solve(source, target, SolveOptions());
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
