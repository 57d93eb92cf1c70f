// Algorithm 3: CLIPPER+.
//
// K. Fathian and T. Summers, "CLIPPER+: A Fast Maximal Clique Algorithm for Robust Global Registration", RA-L 2024;
// Algorithm 1 is after R. Rossi et al., "Parallel Maximum Clique Algorithms", 2015.
#pragma once

#include "clique/core_order.h"

namespace clipperplus::inline v0 {

// Lines 5 to 11: prune by core numbers, relax from the complement of the best clique, keep the larger one.
void relax_outside_clique(SearchState& state, CoreOrder& ordered, const RelaxationOptions& options);

}  // namespace clipperplus::inline v0
