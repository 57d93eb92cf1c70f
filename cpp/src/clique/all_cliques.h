// More than one clique: all maximum ones, or all above a size (listing.h has the enumeration).
#pragma once

#include <cstdint>
#include <vector>

#include "clique/search_state.h"

namespace clipperplus::inline v0 {

struct CliqueList {
  std::vector<std::vector<std::int64_t>> cliques;  // each sorted, in the order in which they are found
  bool complete = false;                           // whether these are all there are
};

// The maximal cliques of more than `size` vertices, or the maximum ones alone, which have size + 1; at most `limit`.
CliqueList find_cliques(SearchState& state, std::size_t size, bool maximum, std::size_t limit);

}  // namespace clipperplus::inline v0
