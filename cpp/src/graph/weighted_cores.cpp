#include "graph/weighted_cores.h"

#include <algorithm>
#include <numeric>

namespace clipperplus::inline v0 {

namespace {

// Vertices by what they weigh with their neighbours that are left: the one that weighs least is on top, of several that
// of the highest index. A binary heap that knows where each vertex is.
class Lightest {
 public:
  explicit Lightest(const std::vector<Weight>& sums) : sums_(sums), heap_(sums.size()), place_(sums.size()) {
    std::iota(heap_.begin(), heap_.end(), std::size_t{0});
    std::iota(place_.begin(), place_.end(), std::size_t{0});
    for (std::size_t k = heap_.size() / 2; k-- > 0;) sink(k);
  }

  std::size_t take() {
    const std::size_t top = heap_.front();
    put(0, heap_.back());
    heap_.pop_back();
    if (!heap_.empty()) sink(0);
    return top;
  }

  // The sum of v has become less.
  void rise(std::size_t v) {
    std::size_t k = place_[v];
    for (; k > 0 && before(v, heap_[(k - 1) / 2]); k = (k - 1) / 2) put(k, heap_[(k - 1) / 2]);
    put(k, v);
  }

 private:
  bool before(std::size_t u, std::size_t v) const { return sums_[u] != sums_[v] ? sums_[u] < sums_[v] : u > v; }
  void put(std::size_t k, std::size_t v) {
    heap_[k] = v;
    place_[v] = k;
  }
  void sink(std::size_t k) {
    const std::size_t v = heap_[k];
    for (std::size_t child; (child = 2 * k + 1) < heap_.size(); k = child) {
      if (child + 1 < heap_.size() && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], v)) break;
      put(k, heap_[child]);
    }
    put(k, v);
  }

  const std::vector<Weight>& sums_;
  std::vector<std::size_t> heap_, place_;
};

}  // namespace

WeightedOrder order_by_weighted_core(const Graph& graph, std::span<const Weight> weights, const simd::Kernels& kernels,
                                     Control& control) {
  const std::size_t n = graph.num_vertices();
  std::vector<Weight> sums(weights.begin(), weights.end());  // of a vertex and its neighbours that are left
  for (std::size_t v = 0; v < n; ++v) {
    if (v % 256 == 0) control.expired();
    graph.for_each_neighbour(v, [&](Vertex u) { sums[v] += weights[static_cast<std::size_t>(u)]; });
  }
  Lightest left(sums);
  WeightedOrder result;
  result.order.resize(n);
  result.cores.resize(n);
  std::vector<bool> gone(n);
  Weight level = 0;
  for (std::size_t k = n; k-- > 0;) {
    if (k % 256 == 0) control.expired();
    const std::size_t v = left.take();
    level = std::max(level, sums[v]);
    gone[v] = true;
    result.cores[k] = level;
    result.order[k] = static_cast<Vertex>(v);
    if (weights[v] == 0) continue;
    graph.for_each_neighbour(v, [&](Vertex neighbour) {
      const auto u = static_cast<std::size_t>(neighbour);
      if (gone[u]) return;
      sums[u] -= weights[v];
      left.rise(u);
    });
  }
  result.graph = graph.subgraph(result.order, kernels, control);
  return result;
}

}  // namespace clipperplus::inline v0
