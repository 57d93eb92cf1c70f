#include "clique/weighted_part.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "clique/colouring.h"
#include "clique/labels.h"
#include "clique/weighted_greedy.h"
#include "clique/weighted_search.h"
#include "graph/weighted_cores.h"

namespace clipperplus::inline v0 {

namespace {

template <class T>
std::vector<T> first(const std::vector<T>& values, std::size_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

// What the sets of a cover weigh together, or on compressed rows the colours of a colouring, each as much as its
// heaviest vertex. Nothing if time is up before.
std::optional<Weight> weight_of_cover(const WeightedPart& part, const simd::Kernels& kernels, Control& control) {
  if (part.size() == 0) return 0;
  if (part.graph->has_bits()) {
    const auto paid_at = weighted_cover(*part.graph, part.weights, kernels, control);
    if (paid_at.empty()) return std::nullopt;
    return *std::max_element(paid_at.begin(), paid_at.end());
  }
  const auto colours = colour_vertices(*part.graph, kernels, control);
  if (!colours) return std::nullopt;
  std::vector<Weight> heaviest(part.size(), 0);
  for (std::size_t v = 0; v < part.size(); ++v) {
    Weight& most = heaviest[static_cast<std::size_t>((*colours)[v])];
    most = std::max(most, part.weights[v]);
  }
  return std::reduce(heaviest.begin(), heaviest.end());
}

}  // namespace

WeightedPart WeightedPart::prune(Weight weight, const SearchState& state) const {
  const auto end = std::partition_point(cores.begin(), cores.end(), [weight](Weight core) { return core > weight; });
  const auto kept = static_cast<std::size_t>(end - cores.begin());
  if (kept == size()) return *this;
  auto control = state.watch().control_to_the_end();
  return {std::make_shared<const Graph>(graph->prefix(kept, state.kernels(), control)), first(cores, kept),
          first(weights, kept), first(vertices, kept)};
}

WeightedPart order_by_weighted_core(SearchState& state) {
  const auto weights = state.vertex_weights();
  auto control = state.watch().control_to_the_end();
  auto ordered = order_by_weighted_core(state.searched(), weights, state.kernels(), control);
  WeightedPart all{std::make_shared<const Graph>(std::move(ordered.graph)), std::move(ordered.cores), {}, {}};
  for (const Vertex v : ordered.order) all.weights.push_back(weights[static_cast<std::size_t>(v)]);
  all.vertices = std::move(ordered.order);
  state.record("order", {.vertices = all.size()});
  return all;
}

void bound_by_cores(SearchState& state, const WeightedPart& ordered) {
  state.bound(ordered.cores.empty() ? 0 : ordered.cores.front(), Certificate::CoreBound);
}

void grow_greedily(SearchState& state, const WeightedPart& ordered) {
  auto control = state.watch().control();
  const auto [clique, starts] = weighted_greedy_clique(*ordered.graph, ordered.weights, ordered.cores, control);
  state.offer("greedy", original(ordered.vertices, clique), {.vertices = ordered.size(), .count = starts});
}

void bound_by_cover(SearchState& state, const WeightedPart& ordered) {
  if (state.proven() || state.out_of_time()) return;
  const WeightedPart pruned = ordered.prune(state.weight(), state);
  auto control = state.watch().control();
  const auto cover = weight_of_cover(pruned, state.kernels(), control);
  if (cover) state.bound(std::max(state.weight(), *cover), Certificate::ColourBound);
  state.record("cover", {.vertices = pruned.size()});
}

}  // namespace clipperplus::inline v0
