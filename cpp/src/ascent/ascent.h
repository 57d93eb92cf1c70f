// What Algorithm 2 and its predecessor CLIPPER share: maximise u' M_d u for a fixed d, raise d, again, until no entry
// of u violates the clique constraint.
#pragma once

#include <cmath>
#include <cstddef>

#include "clipperplus/control.h"

namespace clipperplus::inline v0 {

struct AscentProgress {
  std::size_t outer_steps = 0, inner_steps = 0;  // values of d, gradient steps
  double d = 0.0;
  bool finished = false;  // no entry violates the constraint; false after a limit on steps or time
};

// `climb()` maximises for the current d, `increment()` says by how much to raise it, or nothing at the end. At most
// `max_outer` values of d.
template <class Climb, class Increment>
void raise_penalty(int max_outer, Control& control, AscentProgress& progress, Climb climb, Increment increment) {
  const auto first = increment();
  if (first && !std::isfinite(*first)) return;
  progress.d = first.value_or(0.0);
  while (progress.outer_steps < static_cast<std::size_t>(max_outer) && !control.expired()) {
    ++progress.outer_steps;
    climb();
    const auto raise = increment();
    progress.finished = !raise;
    if (progress.finished || !std::isfinite(progress.d + *raise)) return;
    progress.d += *raise;
  }
}

}  // namespace clipperplus::inline v0
