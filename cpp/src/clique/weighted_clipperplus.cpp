// Algorithms 1 and 3 of CLIPPER+ where vertices have weights.
#include <algorithm>

#include "ascent/relaxation.h"
#include "clique/labels.h"
#include "clique/weighted_methods.h"
#include "clique/weighted_part.h"

namespace clipperplus::inline v0 {

namespace {

// The weights outside the best clique, 1 the largest of all.
std::vector<double> weights_outside_clique(const SearchState& state, const WeightedPart& part) {
  const auto largest = static_cast<double>(*std::max_element(part.weights.begin(), part.weights.end()));
  std::vector<double> start;
  start.reserve(part.size());
  for (std::size_t v = 0; v < part.size(); ++v) {
    const bool inside = std::binary_search(state.clique().begin(), state.clique().end(), part.vertices[v]);
    start.push_back(inside ? 0.0 : static_cast<double>(part.weights[v]) / largest);
  }
  return start;
}

}  // namespace

void find_weighted_greedy(SearchState& state) {
  const WeightedPart ordered = order_by_weighted_core(state);
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);
  bound_by_cover(state, ordered);
}

void find_weighted_clipperplus(SearchState& state, const RelaxationOptions& relaxation) {
  WeightedPart part = order_by_weighted_core(state);
  bound_by_cores(state, part);
  grow_greedily(state, part);
  bound_by_cover(state, part);
  if (state.proven() || state.out_of_time()) return;
  part = part.prune(state.weight(), state);
  const auto start = relaxation.start.empty() ? weights_outside_clique(state, part)
                                              : values_at<double>(relaxation.start, part.vertices);
  if (all_zero(start)) return;
  auto control = state.watch().control();
  const auto solution = relax(*part.graph, nullptr, start, relaxation, state.kernels(), control);
  state.offer("relaxation", original(part.vertices, solution.support),
              {.vertices = part.size(), .count = solution.inner_steps, .converged = solution.finished});
  bound_by_cover(state, part);
}

}  // namespace clipperplus::inline v0
