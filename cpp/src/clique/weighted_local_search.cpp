#include "clique/weighted_local_search.h"

#include <limits>

#include "clique/tabu_clique.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kRestartAfter = 1000;  // steps without a heavier clique, times luby

class WeightedTabuSearch {
 public:
  WeightedTabuSearch(const Graph& graph, std::span<const Weight> weights, std::uint64_t seed,
                     const simd::Kernels& kernels)
      : weights_(weights), clique_(graph, kernels), random_(seed) {}

  void add(std::size_t v) {
    clique_.add(v);
    weight_ += weights_[v];
  }

  void step(std::size_t now) {
    gain_ = kNothing;
    equal_ = 0;
    clique_.find(0, now, choices_);
    for (const std::size_t v : choices_) consider(weights_[v], v, kNobody);
    clique_.find(1, now, choices_);
    const std::size_t swaps = choices_.size();
    for (const std::size_t v : choices_) {
      // To look up whom it replaces costs more than the rest: not where even the lightest would be too heavy.
      if (weights_[v] < gain_) continue;
      const std::size_t u = clique_.missed_by(v);
      consider(weights_[v] - weights_[u], v, u);
    }
    if (gain_ < 0) {  // also where there is no step of these kinds
      clique_.members(choices_);
      for (const std::size_t u : choices_) consider(-weights_[u], kNobody, u);
    }
    if (gain_ == kNothing) return;
    constexpr std::size_t kTenure = 7;
    if (out_ != kNobody) {
      clique_.drop(out_, now + kTenure + (in_ != kNobody ? random_.below(swaps) : 0));
      weight_ -= weights_[out_];
    }
    if (in_ != kNobody) add(in_);
  }

  // Begins anew from a single vertex.
  void restart() {
    clique_.clear();
    weight_ = 0;
    add(random_.below(weights_.size()));
  }

  Weight weight() const { return weight_; }
  std::vector<Vertex> clique() const { return clique_.vertices(); }

 private:
  static constexpr std::size_t kNobody = ~std::size_t{0};
  static constexpr Weight kNothing = std::numeric_limits<Weight>::min();

  // Of steps that gain the same, each is taken with the same probability.
  void consider(Weight gain, std::size_t in, std::size_t out) {
    if (gain < gain_) return;
    if (gain > gain_) equal_ = 0;
    gain_ = gain;
    if (random_.below(++equal_) == 0) in_ = in, out_ = out;
  }

  std::span<const Weight> weights_;
  TabuClique clique_;
  Weight weight_ = 0, gain_ = 0;
  std::size_t equal_ = 0, in_ = kNobody, out_ = kNobody;
  std::vector<std::size_t> choices_;
  Random random_;
};

}  // namespace

WeightedLocalSearchResult weighted_local_search(const Graph& graph, std::span<const Weight> weights,
                                                std::span<const std::int64_t> start,
                                                const WeightedLocalSearchOptions& options, const simd::Kernels& kernels,
                                                Control& control) {
  WeightedLocalSearchResult result;
  result.clique.assign(start.begin(), start.end());
  if (graph.num_vertices() == 0) return result;
  WeightedTabuSearch search(graph, weights, options.seed, kernels);
  for (const std::int64_t v : start) search.add(static_cast<std::size_t>(v));
  Weight best = search.weight(), heaviest = best;  // ever, and since the last restart
  std::size_t heaviest_at = 0, restarts = 0;
  for (std::size_t improved_at = 0; result.steps - improved_at < options.patience && !control.expired();) {
    const std::size_t now = ++result.steps;
    search.step(now);
    if (search.weight() > heaviest) {
      heaviest = search.weight();
      heaviest_at = now;
      if (heaviest > best) {
        best = heaviest;
        result.clique = search.clique();
        improved_at = now;
        if (best >= options.target) break;
      }
    } else if (now - heaviest_at > kRestartAfter * luby(restarts)) {
      ++restarts;
      search.restart();
      heaviest = search.weight();
      heaviest_at = now;
    }
  }
  return result;
}

}  // namespace clipperplus::inline v0
