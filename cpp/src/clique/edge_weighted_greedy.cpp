#include "clique/edge_weighted_greedy.h"

#include <algorithm>

namespace clipperplus::inline v0 {

namespace {

class Grower {
 public:
  Grower(const Graph& graph, const EdgeWeights& weights)
      : graph_(graph), weights_(weights), joined_(graph.num_vertices(), 0.0) {}

  // Grows clique() from v; false if it cannot have more than `must_beat` vertices.
  bool grow(std::size_t v, double must_beat) {
    candidates_.clear();
    graph_.for_each_neighbour(v, [&](Vertex u) { candidates_.push_back(u); });
    for (Vertex u : candidates_) joined_[static_cast<std::size_t>(u)] = 0.0;
    clique_.clear();
    total_ = 0.0;
    take(v);
    while (!candidates_.empty()) {
      if (static_cast<double>(clique_.size() + candidates_.size()) <= must_beat) return false;
      const Vertex best = *std::max_element(candidates_.begin(), candidates_.end(), [this](Vertex a, Vertex b) {
        return joined_[static_cast<std::size_t>(a)] < joined_[static_cast<std::size_t>(b)];
      });
      const auto u = static_cast<std::size_t>(best);
      total_ += joined_[u];
      std::erase_if(candidates_, [&](Vertex x) { return !graph_.has_edge(u, static_cast<std::size_t>(x)); });
      take(u);
    }
    return true;
  }

  const std::vector<std::int64_t>& clique() const { return clique_; }
  double value() const { return 1.0 + 2.0 * total_ / static_cast<double>(clique_.size()); }

 private:
  void take(std::size_t v) {
    clique_.push_back(static_cast<std::int64_t>(v));
    weights_.for_each_entry(v, [&](std::size_t u, double weight) { joined_[u] += weight; });
  }

  const Graph& graph_;
  const EdgeWeights& weights_;
  std::vector<double> joined_;  // to the clique; right for the candidates only
  std::vector<Vertex> candidates_;
  std::vector<std::int64_t> clique_;
  double total_ = 0.0;  // weight of its edges
};

}  // namespace

double least_core(double value) { return 0.5 * (value - 1.0) - 1e-9 * value; }

EdgeWeightedClique edge_weighted_greedy(const Graph& ordered, const EdgeWeights& weights, std::span<const double> cores,
                                        Control& control) {
  constexpr std::size_t kStartsPerPoll = 16, kPatience = 8;
  EdgeWeightedClique best;
  double best_value = 0.0;
  Grower grower(ordered, weights);
  std::vector<bool> covered(cores.size(), false);
  std::size_t idle = 0;
  for (std::size_t v = 0; v < cores.size() && idle < kPatience; ++v) {
    if (cores[v] < least_core(best_value)) break;
    if (covered[v]) continue;
    if (best.steps % kStartsPerPoll == kStartsPerPoll - 1 && control.expired()) break;
    ++best.steps;
    ++idle;
    if (!grower.grow(v, best_value)) continue;
    for (const auto u : grower.clique()) covered[static_cast<std::size_t>(u)] = true;
    if (grower.value() > best_value) {
      idle = 0;
      best_value = grower.value();
      best.vertices = grower.clique();
    }
  }
  std::sort(best.vertices.begin(), best.vertices.end());
  return best;
}

}  // namespace clipperplus::inline v0
