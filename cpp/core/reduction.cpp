#include "reduction.h"

#include <algorithm>
#include <memory>

namespace clipperplus {

namespace {

// The graph while it loses edges and vertices.
class Shrinking {
 public:
  Shrinking(const Graph& graph, std::size_t size, const simd::Kernels& kernels)
      : n_(graph.num_vertices()),
        stride_(graph.stride()),
        size_(size),
        kernels_(kernels),
        rows_(graph.row(0), graph.row(0) + n_ * stride_),
        degree_(n_),
        changed_(n_, true),
        changing_(n_, false),
        asked_(n_),
        weak_(n_) {
    edges_ = kernels.count_rows(rows_.data(), stride_, n_, degree_.data()) / 2;
    for (std::size_t v = 0; v < n_; ++v) {
      if (degree_[v] > 0 && below(v)) remove(v);
    }
  }

  std::size_t edges() const { return edges_; }

  // Looks at the edges from u to lower vertices next to a change since the last round; drops the weak ones, or u.
  void examine(std::size_t u) {
    if (degree_[u] == 0) return;
    std::size_t count = 0;
    const Word* mine = row(u);
    for_each_bit(mine, u / kWordBits + 1, [&](std::size_t v) {
      if (v < u && (changed_[u] || changed_[v])) asked_[count++] = static_cast<Vertex>(v);
    });
    // So many weak edges are enough: with fewer neighbours than a larger clique needs, u itself goes.
    const std::size_t enough = static_cast<std::size_t>(degree_[u]) - size_ + 1;
    const std::size_t found =
        kernels_.find_weak_edges(rows_.data(), stride_, u, asked_.data(), count, size_ - 1, enough, weak_.data());
    if (found == enough) {
      remove(u);
      return;
    }
    for (std::size_t i = 0; i < found; ++i) {
      const auto v = static_cast<std::size_t>(weak_[i]);
      if (degree_[v] == 0) continue;  // gone, by the fall of an earlier one
      clear_bit(row(u), v);
      --degree_[u];
      drop_from(v, u);
      changing_[u] = true;
      if (below(v)) remove(v);
      if (degree_[u] == 0) return;
    }
    if (below(u)) remove(u);
  }

  void end_round() {
    changed_.swap(changing_);
    changing_.assign(n_, false);
  }

  std::vector<Vertex> kept() const {
    std::vector<Vertex> vertices;
    for (std::size_t v = 0; v < n_; ++v) {
      if (!below(v)) vertices.push_back(static_cast<Vertex>(v));
    }
    return vertices;
  }

  Graph take() { return Graph::from_bit_rows(n_, std::move(rows_), kernels_); }

 private:
  Word* row(std::size_t v) { return rows_.data() + v * stride_; }
  bool below(std::size_t v) const { return static_cast<std::size_t>(degree_[v]) < size_; }

  // v loses its neighbour u.
  void drop_from(std::size_t v, std::size_t u) {
    clear_bit(row(v), u);
    --degree_[v];
    --edges_;
    changing_[v] = true;
  }

  // Removes v, and whatever is left with too few neighbours by that.
  void remove(std::size_t v) {
    falling_.assign(1, v);
    while (!falling_.empty()) {
      const std::size_t u = falling_.back();
      falling_.pop_back();
      if (degree_[u] == 0) continue;
      degree_[u] = 0;
      for_each_bit(row(u), stride_, [&](std::size_t w) {
        drop_from(w, u);
        if (static_cast<std::size_t>(degree_[w]) + 1 == size_) falling_.push_back(w);
      });
      std::fill_n(row(u), stride_, 0);
    }
  }

  std::size_t n_, stride_, size_, edges_ = 0;
  const simd::Kernels& kernels_;
  AlignedVector<Word> rows_;
  std::vector<Vertex> degree_;
  std::vector<char> changed_, changing_;  // rows that lost a bit in the last round, in this one
  std::vector<Vertex> asked_, weak_;
  std::vector<std::size_t> falling_;
};

}  // namespace

Reduction reduce(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = graph.num_vertices();
  Reduction result;
  Shrinking shrinking(graph, size, kernels);
  for (bool again = size >= 2 && n > 0; again;) {
    const std::size_t before = shrinking.edges();
    for (std::size_t u = n; u-- > 0 && !control.expired();) shrinking.examine(u);
    shrinking.end_round();
    // A round that hardly drops anything costs more than it saves the search.
    again = (before - shrinking.edges()) * 100 > before && !control.stopped();
  }
  result.vertices = shrinking.kept();
  result.graph = shrinking.take().subgraph(result.vertices, kernels, control);
  return result;
}

}  // namespace clipperplus
