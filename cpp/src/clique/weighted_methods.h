// The methods of find_clique where vertices or edges have weights.
#pragma once

#include "clique/search_state.h"

namespace clipperplus::inline v0 {

// Algorithm 1 with weighted core numbers, with the bounds that come cheap.
void find_weighted_greedy(SearchState& state);

// Algorithm 3 with weighted core numbers: the relaxation begins with the weights outside the greedy clique.
void find_weighted_clipperplus(SearchState& state, const RelaxationOptions& relaxation);

// The heaviest clique: cheap bounds first, then rounds of more and more effort until it is proven. There is no
// relaxation, and the bounds of the search have no parts that could be switched off: those options do nothing here.
void find_weighted_exact(SearchState& state, const SearchOptions& search);

// Algorithm 3 for the weighted objective, where edges have weights.
void find_edge_weighted(SearchState& state, const RelaxationOptions& relaxation);

}  // namespace clipperplus::inline v0
