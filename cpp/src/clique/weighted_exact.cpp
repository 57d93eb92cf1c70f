// The heaviest clique, with proof, where vertices have weights.
//
// S. Held, W. Cook and E. Sewell, "Maximum-weight stable sets and safe lower bounds for graph coloring", 2012;
// Z. Fang, C.-M. Li and K. Xu, "An exact algorithm based on MaxSAT reasoning for the maximum weight clique problem",
// 2016; Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
#include <algorithm>
#include <array>

#include "clique/labels.h"
#include "clique/tabu_clique.h"
#include "clique/weighted_local_search.h"
#include "clique/weighted_methods.h"
#include "clique/weighted_part.h"
#include "clique/weighted_search.h"

namespace clipperplus::inline v0 {

namespace {

// Patience of the local search and nodes of the branch and bound.
struct Round {
  std::size_t patience;
  std::uint64_t nodes;
};

constexpr Round kFirst{1'000, 100}, kSecond{4'000, 2'000};

// The last local search, before the search that runs to the end: where that end will hardly be reached, the clique is
// what counts.
constexpr std::size_t kLastPatience = 20'000, kLastPatienceUnderLimit = 1'000'000;

// Looks for a heavier clique by local search.
void look_around(SearchState& state, const WeightedPart& part, std::size_t patience, std::uint64_t seed) {
  if (!can_look_around(*part.graph)) return;
  const auto start = clique_in_part(*part.graph, part.vertices, state.clique());
  auto control = state.watch().control();
  const auto [clique, steps] = weighted_local_search(*part.graph, part.weights, start,
                                                     {patience, state.upper_bound(), seed}, state.kernels(), control);
  state.offer("local search", original(part.vertices, clique), {.vertices = part.size(), .count = steps});
}

void branch_and_bound(SearchState& state, const WeightedPart& part, std::uint64_t nodes) {
  auto control = state.watch().control();
  const auto tell = [&](Weight weight, Weight upper_bound) {
    state.progress(weight, upper_bound);
    if (state.watch().stopped()) control.stop();
  };
  const WeightedSearchOptions options{std::min(nodes, state.nodes_left()), state.limits().threads};
  const auto found = search_weighted_clique(*part.graph, part.weights, part.cores, state.weight(), options, tell,
                                            state.kernels(), control);
  state.count_nodes(found.nodes);
  const StageFacts facts{.vertices = part.size(), .count = found.nodes};
  if (found.clique.empty()) {
    state.record("search", facts);
  } else {
    state.offer("search", original(part.vertices, found.clique), facts);
  }
  state.bound(found.complete ? state.weight() : std::max(found.upper_bound, state.weight()), Certificate::Search);
}

}  // namespace

void find_weighted_exact(SearchState& state, const SearchOptions& search) {
  WeightedPart part = order_by_weighted_core(state);
  if (search.core_bound) bound_by_cores(state, part);
  grow_greedily(state, part);
  if (search.colour_bound) bound_by_cover(state, part);
  const Round last{state.limits().time_limit ? kLastPatienceUnderLimit : kLastPatience, state.nodes_left()};
  std::uint64_t seed = 0;
  for (const auto [patience, nodes] : {kFirst, kSecond, last}) {
    if (!state.go_on()) return;
    if (search.reduction) part = part.prune(state.weight(), state);
    if (search.local_search) look_around(state, part, patience, seed++);
    if (state.go_on()) branch_and_bound(state, search.reduction ? part.prune(state.weight(), state) : part, nodes);
  }
}

}  // namespace clipperplus::inline v0
