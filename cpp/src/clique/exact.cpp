// The maximum clique, with proof: reductions, a good clique from local search, branch and bound on what is left.
//
// P. San Segundo, A. Nikolaev and M. Batsyn, "Infra-chromatic bound for exact maximum clique search", 2015;
// E. Tomita et al., "A simple and faster branch-and-bound algorithm for finding a maximum clique", 2010;
// Q. Wu, J.-K. Hao and F. Glover, "Multi-neighborhood tabu search for the maximum weight clique problem", 2012.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "clique/clipperplus.h"
#include "clique/kernel.h"
#include "clique/labels.h"
#include "clique/local_search.h"
#include "clique/methods.h"
#include "clique/search.h"
#include "clique/tabu_clique.h"
#include "clique/weighted_methods.h"

namespace clipperplus::inline v0 {

namespace {

// Patience of the local search and nodes of the branch and bound.
struct Round {
  double patience, nodes;
};

// Most registration graphs need the first or the second only.
constexpr std::array<Round, 6> kRounds{
    {{0, 20}, {2'000, 20}, {2'000, 100}, {4'000, 400}, {8'000, 4'000}, {20'000, 20'000}}};

// The last local search, before the search that runs to the end: where that end will hardly be reached, the clique is
// what counts.
constexpr std::size_t kLastPatience = 200'000, kLastPatienceUnderLimit = 1'000'000;

// Kernels with more vertices get fewer nodes a round, whose cost grows with the square of that, and more patience.
constexpr double kRoundVertices = 512.0, kLargestScale = 8.0;
constexpr double kFewestNodes = 20.0;

// Of a time limit: the rest is left to the relaxation, so that the clique is not smaller than that of CLIPPER+.
constexpr double kShareBeforeRelaxation = 0.25;

// The steps that the rounds are made of.
class Search {
 public:
  Search(SearchState& state, const SearchOptions& options, Kernel kernel)
      : state_(state), options_(options), kernel_(std::move(kernel)) {}

  void reduce() {
    if (!options_.reduction) return;
    kernel_ = reduce_kernel(std::move(kernel_), state_.size(), state_);
    state_.record("reduction", {.vertices = num_vertices()});
  }

  void round(std::size_t number, const Watch& watch) {
    const double scale = std::clamp(static_cast<double>(num_vertices()) / kRoundVertices, 1.0, kLargestScale);
    const auto [patience, nodes] = kRounds[number];
    look_around(static_cast<std::size_t>(std::nearbyint(patience * scale)), number, watch);
    branch_and_bound(static_cast<std::uint64_t>(std::max(kFewestNodes, std::nearbyint(nodes / (scale * scale)))),
                     watch);
  }

  // Looks for a larger clique by local search; reduces the kernel if there is one.
  void look_around(std::size_t patience, std::uint64_t seed, const Watch& watch) {
    if (patience == 0 || !options_.local_search || !can_look_around(kernel_.graph)) return;
    const std::size_t size_before = state_.size();
    const auto start = clique_in_part(kernel_.graph, kernel_.vertices, state_.clique());
    auto control = watch.control();
    const auto [clique, steps] =
        local_search(kernel_.graph, start, {patience, static_cast<std::size_t>(state_.upper_bound()), seed},
                     state_.kernels(), control);
    state_.offer("local search", original(kernel_.vertices, clique), {.vertices = num_vertices(), .count = steps});
    if (state_.size() > size_before && state_.go_on()) reduce();
  }

  void branch_and_bound(std::uint64_t nodes, const Watch& watch) {
    if (!state_.go_on()) return;
    auto control = watch.control();
    const auto tell = [&](std::size_t size, std::size_t upper_bound) {
      state_.progress(static_cast<Weight>(size), static_cast<Weight>(upper_bound));
      if (watch.stopped()) control.stop();
    };
    const auto found = search_clique(kernel_.graph, state_.size(), branching(std::min(nodes, state_.nodes_left())),
                                     tell, state_.kernels(), control);
    state_.count_nodes(found.nodes);
    const StageFacts facts{.vertices = num_vertices(), .count = found.nodes};
    if (found.clique.empty()) {
      state_.record("search", facts);
    } else {
      state_.offer("search", original(kernel_.vertices, found.clique), facts);
    }
    const std::size_t bound = found.complete ? state_.size() : std::max(found.upper_bound, state_.size());
    state_.bound(static_cast<Weight>(bound), Certificate::Search);
  }

  // Bounds the whole kernel as the search bounds its nodes: for a search that may be cut off.
  void bound_whole() {
    auto control = state_.watch().control();
    const std::size_t bound =
        bound_at_root(kernel_.graph, state_.size(), static_cast<std::size_t>(state_.upper_bound()),
                      branching(kNoNodeLimit), state_.kernels(), control);
    state_.bound(static_cast<Weight>(bound), Certificate::Search);
    state_.record("root bound", {.vertices = num_vertices()});
  }

 private:
  std::size_t num_vertices() const { return kernel_.graph.num_vertices(); }

  BranchOptions branching(std::uint64_t nodes) const {
    return {nodes, state_.limits().threads, options_.recolouring, options_.propagation};
  }

  SearchState& state_;
  const SearchOptions& options_;
  Kernel kernel_;
};

}  // namespace

void find_exact(SearchState& state, const RelaxationOptions& relaxation, const SearchOptions& search) {
  if (!state.vertex_weights().empty()) return find_weighted_exact(state, search);
  CoreOrder ordered(state);
  if (search.core_bound) bound_by_cores(state, ordered);
  grow_greedily(state, ordered);
  if (search.colour_bound) bound_by_colours(state, ordered);
  if (!state.go_on()) return;

  Search steps(state, search, take_kernel(ordered, search.reduction ? state.size() : 0));
  steps.reduce();
  const auto limit = state.limits().time_limit;
  const Watch early = limit ? state.watch().within(kShareBeforeRelaxation * *limit) : state.watch();
  for (std::size_t number = 0; number < kRounds.size() && state.go_on() && !early.expired(); ++number) {
    steps.round(number, early);
  }
  if (state.go_on()) steps.bound_whole();
  if (state.go_on() && search.relaxation) {
    const std::size_t size_before = state.size();
    relax_outside_clique(state, ordered, relaxation);
    if (state.size() > size_before) steps.reduce();
  }
  if (state.go_on()) {
    steps.look_around(limit ? kLastPatienceUnderLimit : kLastPatience, kRounds.size(), state.watch());
  }
  if (state.go_on()) steps.branch_and_bound(state.nodes_left(), state.watch());
}

}  // namespace clipperplus::inline v0
