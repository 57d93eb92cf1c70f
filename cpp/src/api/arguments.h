// Checks of what a C++ program passes: each names the argument, what was expected and what came, as in Python.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "clipperplus/views.h"

namespace clipperplus::inline v0::api {

void check_integer(const char* name, std::size_t value, std::int64_t low, std::int64_t high);

// Finite, and at least 0 or above 0.
void check_number(const char* name, double value, bool above_zero);

// Points as the kernels want them: copied, x y (z) of each, finite.
struct Points {
  std::size_t dimension = 3;
  std::vector<double> coordinates;

  std::size_t count() const { return coordinates.size() / dimension; }
};
Points read_points(const char* name, const PointsView& view, bool plane_too);

// Pairs to be compared: those that are given, or point k with point k.
struct Matches {
  Points source, target;
  std::vector<std::int64_t> pairs;  // empty: point k with point k
  std::size_t count = 0;
};
Matches read_matches(const PointsView& source, const PointsView& target, const Associations* associations,
                     bool plane_too);

// One bound for all, or one for each.
void check_epsilon(double epsilon, std::span<const double> epsilons, std::size_t count);

}  // namespace clipperplus::inline v0::api
