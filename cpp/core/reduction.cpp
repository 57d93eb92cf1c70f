#include "reduction.h"

#include <algorithm>
#include <numeric>

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

// CSR: whole vertices fall, edges stay. Fewer than s neighbours with s - 1 common neighbours each are too few.
class ShrinkingCsr {
 public:
  ShrinkingCsr(const Graph& graph, std::size_t size, const simd::Kernels& kernels)
      : graph_(graph),
        size_(size),
        degree_(graph.degrees(kernels)),
        present_(graph.num_vertices(), true),
        changed_(graph.num_vertices(), true),
        marked_(row_words(graph.num_vertices()), 0),
        vertices_(graph.num_vertices()) {
    for (std::size_t v = 0; v < present_.size(); ++v) {
      if (present_[v] && degree_of(v) < size_) remove(v);
    }
  }

  std::size_t vertices() const { return vertices_; }

  void examine(std::size_t u) {
    if (!present_[u] || !changed_[u]) return;
    changed_[u] = false;
    mine_.clear();
    for (Vertex v : graph_.neighbours(u)) {
      if (present_[static_cast<std::size_t>(v)]) mine_.push_back(v);
    }
    for (Vertex v : mine_) set_bit(marked_.data(), static_cast<std::size_t>(v));
    std::size_t left = mine_.size();  // neighbours that hold, or have not been tested
    for (auto v = mine_.rbegin(); v != mine_.rend() && left >= size_; ++v) {
      if (!shares_enough(static_cast<std::size_t>(*v))) --left;
    }
    for (Vertex v : mine_) clear_bit(marked_.data(), static_cast<std::size_t>(v));
    if (left < size_) remove(u);
  }

  std::vector<Vertex> kept() const {
    std::vector<Vertex> result;
    for (std::size_t v = 0; v < present_.size(); ++v) {
      if (present_[v]) result.push_back(static_cast<Vertex>(v));
    }
    return result;
  }

 private:
  std::size_t degree_of(std::size_t v) const { return static_cast<std::size_t>(degree_[v]); }

  // Whether size - 1 marked vertices are joined to v. Stops as soon as that is decided.
  bool shares_enough(std::size_t v) const {
    const auto list = graph_.neighbours(v);
    const std::size_t needed = size_ - 1;
    std::size_t shared = 0;
    if (list.size() / 16 > mine_.size()) {  // a hub: look up the marked ones in its long list
      for (std::size_t i = 0; i < mine_.size() && shared < needed && shared + mine_.size() - i >= needed; ++i) {
        shared += graph_.has_edge(v, static_cast<std::size_t>(mine_[i])) ? 1 : 0;
      }
      return shared >= needed;
    }
    constexpr std::size_t kBlock = 32;
    for (std::size_t begin = 0; begin < list.size(); begin += kBlock) {
      if (shared >= needed || shared + (list.size() - begin) < needed) break;
      const std::size_t end = std::min(begin + kBlock, list.size());
      for (std::size_t i = begin; i < end; ++i) {
        shared += test_bit(marked_.data(), static_cast<std::size_t>(list[i])) ? 1 : 0;
      }
    }
    return shared >= needed;
  }

  void remove(std::size_t v) {
    falling_.assign(1, v);
    present_[v] = false;
    while (!falling_.empty()) {
      const std::size_t u = falling_.back();
      falling_.pop_back();
      --vertices_;
      for (Vertex neighbour : graph_.neighbours(u)) {
        const auto w = static_cast<std::size_t>(neighbour);
        if (!present_[w]) continue;
        changed_[w] = true;
        if (static_cast<std::size_t>(--degree_[w]) < size_) {
          present_[w] = false;
          falling_.push_back(w);
        }
      }
    }
  }

  const Graph& graph_;
  std::size_t size_;
  std::vector<Vertex> degree_, mine_;
  std::vector<char> present_, changed_;
  AlignedVector<Word> marked_;
  std::vector<std::size_t> falling_;
  std::size_t vertices_;
};

// Examines every vertex, last first, until a round takes away less than a hundredth of what `left` counts.
template <class Shrinks, class Left, class EndRound>
void shrink(Shrinks& graph, std::size_t n, Control& control, Left left, EndRound end_round) {
  for (bool again = true; again;) {
    const std::size_t before = left();
    for (std::size_t u = n; u-- > 0 && !control.expired();) graph.examine(u);
    end_round();
    // A round that hardly drops anything costs more than it saves the search.
    again = (before - left()) * 100 > before && !control.stopped();
  }
}

Reduction reduce_csr(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control) {
  ShrinkingCsr shrinking(graph, size, kernels);
  shrink(shrinking, graph.num_vertices(), control, [&] { return shrinking.vertices(); }, [] {});
  Reduction result;
  result.vertices = shrinking.kept();
  result.graph = graph.subgraph(result.vertices, kernels, control);
  return result;
}

Reduction reduce_bits(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control) {
  Shrinking shrinking(graph, size, kernels);
  shrink(shrinking, graph.num_vertices(), control, [&] { return shrinking.edges(); }, [&] { shrinking.end_round(); });
  Reduction result;
  result.vertices = shrinking.kept();
  result.graph = shrinking.take().subgraph(result.vertices, kernels, control);
  return result;
}

}  // namespace

Reduction reduce(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control) {
  if (size < 2 || graph.num_vertices() == 0) {  // every edge is a clique of two
    Reduction all{graph, std::vector<Vertex>(graph.num_vertices())};
    std::iota(all.vertices.begin(), all.vertices.end(), Vertex{0});
    return all;
  }
  if (graph.has_bits()) return reduce_bits(graph, size, kernels, control);
  Reduction result = reduce_csr(graph, size, kernels, control);
  if (result.graph.has_bits() && !control.stopped()) {  // small enough by now
    Reduction rest = reduce_bits(result.graph, size, kernels, control);
    for (Vertex& v : rest.vertices) v = result.vertices[static_cast<std::size_t>(v)];
    return rest;
  }
  return result;
}

}  // namespace clipperplus
