#include "clique/clipperplus.h"

#include "ascent/relaxation.h"
#include "clique/labels.h"
#include "clique/methods.h"
#include "clique/weighted_methods.h"

namespace clipperplus::inline v0 {

void find_greedy(SearchState& state) {
  if (!state.vertex_weights().empty()) return find_weighted_greedy(state);
  CoreOrder ordered(state);
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);
  bound_by_colours(state, ordered);
}

// Line numbers are those of the paper's listing.
void find_clipperplus(SearchState& state, const RelaxationOptions& relaxation) {
  if (!state.vertex_weights().empty()) return find_weighted_clipperplus(state, relaxation);
  if (state.edge_weights() != nullptr) return find_edge_weighted(state, relaxation);
  CoreOrder ordered(state);  // line 3: K
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);  // line 4: C
  bound_by_colours(state, ordered);
  if (state.proven() || state.out_of_time()) return;  // line 7: maximum clique found
  relax_outside_clique(state, ordered, relaxation);
}

void relax_outside_clique(SearchState& state, CoreOrder& ordered, const RelaxationOptions& options) {
  const Graph& pruned = ordered.prune(state.size());  // lines 5 and 6: A' is the part with K ≥ |C|
  const auto outside = options.start.empty() ? ones_outside_clique(state.graph(), state.clique()) : options.start;
  const auto guess = values_at<double>(outside, ordered.order().first(pruned.num_vertices()));  // line 9
  if (all_zero(guess)) return;  // a start vector of the caller's that is zero on all of A'
  auto control = state.watch().control();
  const auto solution = relax(pruned, nullptr, guess, options, state.kernels(), control);  // line 10
  const std::size_t size_before = state.size();
  state.offer("relaxation", original(ordered.order(), solution.support),  // line 11
              {.vertices = pruned.num_vertices(), .count = solution.inner_steps, .converged = solution.finished});
  if (state.size() > size_before) bound_by_colours(state, ordered);
}

}  // namespace clipperplus::inline v0
