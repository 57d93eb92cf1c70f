#include "clique/edge_weighted_search.h"

#include <algorithm>
#include <limits>

namespace clipperplus::inline v0 {

namespace {

constexpr std::int32_t kMember = 1 << 30;  // what a vertex of the clique has besides its count
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kTenure = 7;   // steps for which a vertex that leaves stays outside, at least
constexpr std::size_t kTenures = 5;  // different numbers of steps, one after the other: against cycles

class Exchange {
 public:
  Exchange(const Graph& graph, const EdgeWeights& weights, Control& control)
      : graph_(graph),
        weights_(weights),
        control_(control),
        n_(graph.num_vertices()),
        counts_(n_, 0),
        index_sums_(n_, 0),
        joined_(n_, 0.0),
        free_from_(n_, 0) {}

  EdgeWeightedClique run(std::span<const std::int64_t> claim, std::size_t patience) {
    for (const auto v : claim) {
      const auto u = static_cast<std::size_t>(v);
      if (counts_[u] == static_cast<std::int32_t>(size_)) put(u, 1);
    }
    for (look(); addable_ != kNone; look()) put(addable_, 1);  // the answer must be maximal, whatever the deadline
    keep();
    for (std::size_t idle = 0; idle < patience && size_ > 0 && !control_.expired(); ++idle) {
      ++best_.steps;
      if (!step()) {
        drop_least();
      } else if (keep()) {
        idle = 0;
      }
    }
    return std::move(best_);
  }

 private:
  // A vertex enters (1) or leaves (-1) the clique.
  void put(std::size_t v, int sign) {
    total_ += sign * joined_[v];
    size_ += static_cast<std::size_t>(static_cast<std::ptrdiff_t>(sign));
    index_sum_ += sign * static_cast<std::int64_t>(v);
    counts_[v] += sign * kMember;
    const std::int64_t change = sign * static_cast<std::int64_t>(v);
    graph_.for_each_neighbour(v, [&](Vertex neighbour) {
      const auto u = static_cast<std::size_t>(neighbour);
      counts_[u] += sign;
      index_sums_[u] += change;
    });
    weights_.for_each_entry(v, [&](std::size_t u, double weight) { joined_[u] += sign * weight; });
    if (sign < 0) free_from_[v] = best_.steps + kTenure + best_.steps % kTenures;
  }

  // Finds the best vertex to add and the best to swap in, of those that may enter, and whether any could be added.
  void look() {
    const auto size = static_cast<std::int32_t>(size_);
    addable_ = swappable_ = kNone;
    maximal_ = true;
    double most = 0.0;
    for (std::size_t u = 0; u < n_; ++u) {
      if (counts_[u] + 1 < size || counts_[u] > size) continue;
      const bool adds = counts_[u] == size;
      maximal_ = maximal_ && !adds;
      if (free_from_[u] > best_.steps) continue;
      if (adds) {
        if (addable_ == kNone || joined_[u] > joined_[addable_]) addable_ = u;
      } else if (const double gain = joined_[u] - joined_[missed_by(u)]; swappable_ == kNone || gain > most) {
        swappable_ = u;
        most = gain;
      }
    }
  }

  // Adds or swaps, as the last look suggests; false if it does not.
  bool step() {
    if (addable_ != kNone) {
      put(addable_, 1);
    } else if (swappable_ != kNone) {
      put(missed_by(swappable_), -1);
      put(swappable_, 1);
    } else {
      return false;
    }
    look();
    return true;
  }

  void drop_least() {
    std::size_t least = kNone;
    for (std::size_t u = 0; u < n_; ++u) {
      if (counts_[u] >= kMember && (least == kNone || joined_[u] < joined_[least])) least = u;
    }
    put(least, -1);
    look();
  }

  std::size_t missed_by(std::size_t u) const { return static_cast<std::size_t>(index_sum_ - index_sums_[u]); }

  // Compares the clique with the best; only maximal ones count.
  bool keep() {
    if (!maximal_) return false;
    const double value = size_ == 0 ? 0.0 : 1.0 + 2.0 * total_ / static_cast<double>(size_);
    if (!(value > best_value_ * (1.0 + 1e-12))) return false;  // less is a rounding error
    best_value_ = value;
    best_.vertices.clear();
    for (std::size_t u = 0; u < n_; ++u) {
      if (counts_[u] >= kMember) best_.vertices.push_back(static_cast<std::int64_t>(u));
    }
    return true;
  }

  const Graph& graph_;
  const EdgeWeights& weights_;
  Control& control_;
  std::size_t n_, size_ = 0;
  std::size_t addable_ = kNone, swappable_ = kNone;  // what the last look found
  bool maximal_ = false;
  std::int64_t index_sum_ = 0;
  double total_ = 0.0, best_value_ = 0.0;  // weight of the edges of the clique; the best value
  std::vector<std::int32_t> counts_;       // neighbours in the clique
  std::vector<std::int64_t> index_sums_;   // of their indices
  std::vector<double> joined_;             // of their weights
  std::vector<std::size_t> free_from_;     // step from which a vertex may enter again
  EdgeWeightedClique best_;
};

}  // namespace

EdgeWeightedClique edge_weighted_search(const Graph& graph, const EdgeWeights& weights,
                                        std::span<const std::int64_t> claim, std::size_t patience, Control& control) {
  return Exchange(graph, weights, control).run(claim, patience);
}

}  // namespace clipperplus::inline v0
