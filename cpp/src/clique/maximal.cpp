#include "clique/maximal.h"

#include <algorithm>

namespace clipperplus::inline v0 {

namespace {

// The vertices adjacent to all that were taken.
class CommonNeighbours {
 public:
  explicit CommonNeighbours(const Graph& graph) : graph_(graph) {
    if (graph.has_bits()) {
      bits_.assign(graph.stride(), 0);
      set_prefix(bits_.data(), graph.num_vertices());
    } else {
      hits_.assign(graph.num_vertices(), 0);
    }
  }
  bool contains(std::size_t v) const {
    return graph_.has_bits() ? test_bit(bits_.data(), v) : hits_[v] == static_cast<Vertex>(taken_);
  }
  void take(std::size_t v) {
    ++taken_;
    if (graph_.has_bits()) {
      for (std::size_t w = 0; w < graph_.stride(); ++w) bits_[w] &= graph_.row(v)[w];
    } else {
      hits_[v] = -1;
      for (Vertex u : graph_.neighbours(v)) {
        auto& hits = hits_[static_cast<std::size_t>(u)];
        if (hits >= 0) ++hits;
      }
    }
  }

 private:
  const Graph& graph_;
  std::size_t taken_ = 0;
  AlignedVector<Word> bits_;
  std::vector<Vertex> hits_;  // taken neighbours of each vertex; -1: taken itself
};

}  // namespace

MaximalClique make_maximal(const Graph& graph, std::span<const std::int64_t> claim, std::size_t named,
                           Control& control) {
  const std::size_t n = graph.num_vertices();
  MaximalClique result;
  CommonNeighbours common(graph);
  const auto take = [&](std::size_t v) {
    common.take(v);
    result.vertices.push_back(static_cast<Vertex>(v));
    control.expired();
  };
  for (std::size_t k = 0; k < claim.size(); ++k) {
    const auto v = static_cast<std::size_t>(claim[k]);
    if (common.contains(v)) {
      take(v);
      result.added += k < named ? 0 : 1;
    } else {
      result.removed += k < named ? 1 : 0;
    }
  }
  // Taking v only shrinks the set, so one pass in index order visits every vertex that is still common then.
  for (std::size_t v = 0; v < n; ++v) {
    if (common.contains(v)) {
      take(v);
      ++result.added;
    }
  }
  std::sort(result.vertices.begin(), result.vertices.end());
  return result;
}

}  // namespace clipperplus::inline v0
