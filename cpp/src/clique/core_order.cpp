#include "clique/core_order.h"

#include <algorithm>
#include <utility>

#include "clique/colouring.h"
#include "clique/greedy.h"
#include "clique/labels.h"
#include "graph/cores.h"

namespace clipperplus::inline v0 {

CoreOrder::CoreOrder(SearchState& state) : state_(state) {
  auto control = state.watch().control_to_the_end();
  auto ordered = order_by_core(state.searched(), state.kernels(), control);
  graph_ = std::move(ordered.graph);
  cores_ = std::move(ordered.cores);
  order_ = std::move(ordered.order);
  state.record("order", {.vertices = order_.size()});
}

const Graph& CoreOrder::prune(std::size_t size) {
  const auto end = std::partition_point(cores_.begin(), cores_.end(),
                                        [size](Vertex core) { return static_cast<std::size_t>(core) >= size; });
  const auto kept = static_cast<std::size_t>(end - cores_.begin());
  auto control = state_.watch().control_to_the_end();
  if (!graph_) {
    graph_ = state_.searched().subgraph(order().first(kept), state_.kernels(), control);
  } else if (kept < graph_->num_vertices()) {
    graph_ = graph_->prefix(kept, state_.kernels(), control);
  }
  return *graph_;
}

Graph CoreOrder::give_away(std::size_t size) {
  prune(size);
  Graph pruned = std::move(*graph_);
  graph_.reset();
  return pruned;
}

void bound_by_cores(SearchState& state, const CoreOrder& ordered) {
  state.bound(ordered.cores().empty() ? 0 : Weight{ordered.cores().front()} + 1, Certificate::CoreBound);
}

void grow_greedily(SearchState& state, CoreOrder& ordered) {
  auto control = state.watch().control();
  const auto [clique, starts] =
      greedy_clique(ordered.prune(0), ordered.cores(), state.limits().threads, state.kernels(), control);
  state.offer("greedy", original(ordered.order(), clique), {.vertices = ordered.cores().size(), .count = starts});
}

void bound_by_colours(SearchState& state, CoreOrder& ordered) {
  if (state.proven() || state.out_of_time()) return;
  const Graph& pruned = ordered.prune(state.size());
  auto control = state.watch().control();
  const auto colours = greedy_colours(pruned, state.kernels(), control);
  if (colours) state.bound(static_cast<Weight>(std::max(state.size(), *colours)), Certificate::ColourBound);
  state.record("colouring", {.vertices = pruned.num_vertices(), .count = colours});
}

void bound_afterwards(SearchState& state) {
  CoreOrder ordered(state);
  bound_by_cores(state, ordered);
  bound_by_colours(state, ordered);
}

}  // namespace clipperplus::inline v0
