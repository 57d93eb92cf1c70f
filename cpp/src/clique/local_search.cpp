#include "clique/local_search.h"

#include <algorithm>

#include "clique/tabu_clique.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kRestartAfter = 250;  // steps without a larger clique, times luby

class TabuSearch {
 public:
  TabuSearch(const Graph& graph, std::uint64_t seed, const simd::Kernels& kernels)
      : n_(graph.num_vertices()), clique_(graph, kernels), random_(seed) {}

  void add(std::size_t v) { clique_.add(v); }

  void step(std::size_t now) {
    constexpr std::size_t kTenure = 7;
    if (clique_.find(0, now, choices_); !choices_.empty()) {
      clique_.add(draw());
    } else if (clique_.find(1, now, choices_); !choices_.empty()) {
      const std::size_t v = draw();
      clique_.drop(clique_.missed_by(v), now + kTenure + random_.below(choices_.size()));
      clique_.add(v);
    } else if (clique_.size() > 0) {
      clique_.members(choices_);
      clique_.drop(choices_[random_.below(choices_.size())], now + kTenure);
    }
  }

  // Begins anew from a single vertex.
  void restart() {
    clique_.clear();
    prefer_late_ = !prefer_late_;
    clique_.add(random_.below(n_));
  }

  std::size_t size() const { return clique_.size(); }
  std::vector<Vertex> clique() const { return clique_.vertices(); }

 private:
  // One of the choices; in every other run the last of several: a clique may hide among vertices of low degree, which
  // come last in a graph ordered by core number, and a search that goes where there are many edges misses it.
  std::size_t draw() {
    constexpr int kSeveral = 5;
    std::size_t chosen = choices_[random_.below(choices_.size())];
    for (int more = prefer_late_ ? kSeveral - 1 : 0; more > 0; --more) {
      chosen = std::max(chosen, choices_[random_.below(choices_.size())]);
    }
    return chosen;
  }

  std::size_t n_;
  bool prefer_late_ = false;
  TabuClique clique_;
  std::vector<std::size_t> choices_;
  Random random_;
};

}  // namespace

LocalSearchResult local_search(const Graph& graph, std::span<const std::int64_t> start,
                               const LocalSearchOptions& options, const simd::Kernels& kernels, Control& control) {
  LocalSearchResult result;
  result.clique.assign(start.begin(), start.end());
  if (graph.num_vertices() == 0) return result;
  TabuSearch search(graph, options.seed, kernels);
  for (const std::int64_t v : start) search.add(static_cast<std::size_t>(v));
  std::size_t largest = search.size(), largest_at = 0;  // since the last restart
  std::size_t restarts = 0;
  for (std::size_t improved_at = 0; result.steps - improved_at < options.patience && !control.expired();) {
    const std::size_t now = ++result.steps;
    search.step(now);
    if (search.size() > largest) {
      largest = search.size();
      largest_at = now;
      if (largest > result.clique.size()) {
        result.clique = search.clique();
        improved_at = now;
        if (largest >= options.target) break;
      }
    } else if (now - largest_at > kRestartAfter * luby(restarts)) {
      ++restarts;
      search.restart();
      largest = 1;
      largest_at = now;
    }
  }
  return result;
}

}  // namespace clipperplus::inline v0
