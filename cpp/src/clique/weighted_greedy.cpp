#include "clique/weighted_greedy.h"

#include <algorithm>

namespace clipperplus::inline v0 {

namespace {

// The vertices adjacent to all that were taken, in increasing order.
std::vector<Vertex> neighbours_of(const Graph& graph, std::size_t v) {
  std::vector<Vertex> result;
  graph.for_each_neighbour(v, [&](Vertex u) { result.push_back(u); });
  return result;
}

void keep_neighbours(const Graph& graph, std::size_t v, std::vector<Vertex>& candidates) {
  if (graph.has_bits()) {
    std::erase_if(candidates, [row = graph.row(v)](Vertex u) { return !test_bit(row, static_cast<std::size_t>(u)); });
    return;
  }
  const auto list = graph.neighbours(v);
  auto it = list.begin();
  std::erase_if(candidates, [&](Vertex u) {
    it = std::lower_bound(it, list.end(), u);
    return it == list.end() || *it != u;
  });
}

}  // namespace

WeightedGreedyResult weighted_greedy_clique(const Graph& ordered, std::span<const Weight> weights,
                                            std::span<const Weight> cores, Control& control) {
  WeightedGreedyResult result;
  Weight best = -1;
  for (std::size_t v = 0; v < ordered.num_vertices(); ++v) {
    if (cores[v] <= best || (v > 0 && control.expired())) break;  // nor can any later vertex: cores do not increase
    ++result.starts;
    std::vector<Vertex> candidates = neighbours_of(ordered, v), clique{static_cast<Vertex>(v)};
    std::erase_if(candidates, [&](Vertex u) { return cores[static_cast<std::size_t>(u)] <= best; });
    Weight left = 0, weight = weights[v];
    const auto weigh = [&] {
      left = 0;
      for (const Vertex u : candidates) left += weights[static_cast<std::size_t>(u)];
    };
    for (weigh(); !candidates.empty() && weight + left > best; weigh()) {
      const Vertex next = candidates.front();
      clique.push_back(next);
      weight += weights[static_cast<std::size_t>(next)];
      keep_neighbours(ordered, static_cast<std::size_t>(next), candidates);
    }
    if (candidates.empty() && weight > best) {
      best = weight;
      result.clique = std::move(clique);
    }
  }
  return result;
}

}  // namespace clipperplus::inline v0
