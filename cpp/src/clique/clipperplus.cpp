#include "clique/clipperplus.h"

#include <algorithm>

#include "ascent/relaxation.h"
#include "clique/labels.h"
#include "clique/methods.h"

namespace clipperplus {

void find_greedy(SearchState& state) {
  CoreOrder ordered(state);
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);
  bound_by_colours(state, ordered);
}

// Line numbers are those of the paper's listing.
void find_clipperplus(SearchState& state, const RelaxationOptions& relaxation) {
  CoreOrder ordered(state);  // line 3: K
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);  // line 4: C
  bound_by_colours(state, ordered);
  if (state.proven() || state.out_of_time()) return;  // line 7: maximum clique found
  relax_outside_clique(state, ordered, relaxation);
}

void relax_outside_clique(SearchState& state, CoreOrder& ordered, const RelaxationOptions& options) {
  const Graph& pruned = ordered.prune(state.size());  // lines 5 and 6: A' is the part with K ≥ |C|
  std::vector<double> start = options.start;
  if (start.empty()) {  // line 9: 0 on C, else 1
    start.assign(state.graph().num_vertices(), 1.0);
    for (const Vertex v : state.clique()) start[static_cast<std::size_t>(v)] = 0.0;
  }
  std::vector<double> guess;
  guess.reserve(pruned.num_vertices());
  for (const Vertex v : ordered.order().first(pruned.num_vertices()))
    guess.push_back(start[static_cast<std::size_t>(v)]);
  // A start vector of the caller's may be zero on all of A'.
  if (std::all_of(guess.begin(), guess.end(), [](double entry) { return entry == 0.0; })) return;
  auto control = state.watch().control();
  const auto solution = relax(pruned, nullptr, guess, options, state.kernels(), control);  // line 10
  const std::size_t size_before = state.size();
  state.offer("relaxation", original(ordered.order(), solution.support),  // line 11
              {.vertices = pruned.num_vertices(), .count = solution.inner_steps, .converged = solution.finished});
  if (state.size() > size_before) bound_by_colours(state, ordered);
}

}  // namespace clipperplus
