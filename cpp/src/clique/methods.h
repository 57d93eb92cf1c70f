// The methods of find_clique, one a file. Each runs on a state until there is nothing left for it to do; what it found
// is in the state then, and what there was if it is stopped. With weights in the state they look for heavy cliques.
#pragma once

#include "clique/search_state.h"

namespace clipperplus::inline v0 {

// Algorithm 1 of CLIPPER+ alone, with the bounds that come cheap.
void find_greedy(SearchState& state);

// Algorithm 3: CLIPPER+.
void find_clipperplus(SearchState& state, const RelaxationOptions& relaxation);

// The maximum clique, with proof.
void find_exact(SearchState& state, const RelaxationOptions& relaxation, const SearchOptions& search);

}  // namespace clipperplus::inline v0
