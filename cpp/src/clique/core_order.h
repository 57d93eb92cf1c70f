// The searched graph in order of decreasing core number: what Algorithms 1 and 3 start from, and the bounds and the
// clique that come from that order at next to no cost.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "clique/search_state.h"

namespace clipperplus::inline v0 {

// Relabelled so that core numbers do not increase: a reversed degeneracy order. The vertices with core number at least
// k are then the first few, so pruning takes a prefix and keeps labels.
class CoreOrder {
 public:
  explicit CoreOrder(SearchState& state);

  std::span<const Vertex> cores() const { return cores_; }  // core number of every vertex in the new order
  std::span<const Vertex> order() const { return order_; }  // new label → vertex of the input graph

  // The part in which a clique larger than `size` lies: core numbers of at least `size`. Cliques only get larger, so
  // the rest is not needed again and its memory is freed.
  const Graph& prune(std::size_t size);
  // The same part for good: it is made again if it is asked for once more.
  Graph give_away(std::size_t size);

 private:
  SearchState& state_;
  std::optional<Graph> graph_;
  std::vector<Vertex> cores_, order_;
};

// A clique of size c needs vertices of core number c - 1.
void bound_by_cores(SearchState& state, const CoreOrder& ordered);

// Algorithm 1: from every vertex that still matters, grow a clique along decreasing core numbers; offer the largest.
void grow_greedily(SearchState& state, CoreOrder& ordered);

// Colours the part of the graph in which a clique larger than the best one would lie.
void bound_by_colours(SearchState& state, CoreOrder& ordered);

// Looks for a certificate once a method that needs no order has ended.
void bound_afterwards(SearchState& state);

}  // namespace clipperplus::inline v0
