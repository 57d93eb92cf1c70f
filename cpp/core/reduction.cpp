#include "reduction.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "colour_degrees.h"
#include "colouring.h"
#include "threads.h"

namespace clipperplus {

namespace {

struct Edge {
  Vertex u, v;
};

// The graph while it loses edges and vertices. A vertex that falls is no longer present, its bits stay in the rows of
// the others: clearing them would touch a cache line each.
class Shrinking {
 public:
  Shrinking(const Graph& graph, std::size_t size, std::size_t threads, const simd::Kernels& kernels)
      : n_(graph.num_vertices()),
        stride_(graph.stride()),
        size_(size),
        threads_(threads),
        kernels_(kernels),
        rows_(graph.row(0), graph.row(0) + n_ * stride_),
        degree_(n_),
        weak_count_(n_, 0),
        present_(stride_, 0),
        changed_(stride_, 0),
        changing_(stride_, 0) {
    edges_ = kernels.count_rows(rows_.data(), stride_, n_, degree_.data()) / 2;
    set_prefix(present_.data(), n_);
    set_prefix(changed_.data(), n_);
    for (std::size_t v = 0; v < n_; ++v) remove_if_below(v);
  }

  std::size_t edges() const { return edges_; }

  // Looks at every edge next to a change since the last round.
  void do_round(Control& control) {
    for (std::size_t end = stride_; end > 0 && !control.expired(); end -= kBlockWords) {
      drop(find_weak(end - kBlockWords, end, control));
    }
    changed_.swap(changing_);
    std::fill(changing_.begin(), changing_.end(), 0);
  }

  std::vector<Vertex> kept() const {
    std::vector<Vertex> vertices;
    for_each_bit(present_.data(), stride_, [&](std::size_t v) { vertices.push_back(static_cast<Vertex>(v)); });
    return vertices;
  }

  // With the vertices that fell still in it.
  Graph take() { return Graph::from_bit_rows(n_, std::move(rows_), kernels_); }

 private:
  static constexpr std::size_t kBlockWords = kRowAlignWords;  // 512 vertices: their rows stay in the cache
  static constexpr std::size_t kVerticesATurn = 64;
  static constexpr std::size_t kEdgesWorthThreads = 200'000;

  Word* row(std::size_t v) { return rows_.data() + v * stride_; }
  bool present(std::size_t v) const { return test_bit(present_.data(), v); }

  // Weak edges between the vertices of some words and lower vertices.
  std::vector<Edge> find_weak(std::size_t first_word, std::size_t end_word, Control& control) {
    const std::size_t limit = std::min(n_, end_word * kWordBits);
    std::vector<Edge> found;
    std::mutex found_mutex;
    std::atomic<std::size_t> next{0};
    const auto work = [&](bool) {
      std::vector<Edge> edges;
      std::vector<Vertex> asked(kBlockWords * kWordBits), weak(asked.size());
      AlignedVector<Word> mine(stride_);
      for (std::size_t begin = next.fetch_add(kVerticesATurn); begin < limit && !control.stopped();
           begin = next.fetch_add(kVerticesATurn)) {
        for (std::size_t v = begin; v < std::min(begin + kVerticesATurn, limit); ++v) {
          if (!present(v)) continue;
          const std::size_t count = neighbours_to_ask(v, first_word, end_word, asked.data());
          if (count == 0) continue;
          for (std::size_t w = 0; w < stride_; ++w) mine[w] = row(v)[w] & present_[w];
          const std::size_t bad =
              kernels_.find_weak_edges(rows_.data(), stride_, mine.data(), asked.data(), count, size_ - 1, weak.data());
          for (std::size_t i = 0; i < bad; ++i) edges.push_back({weak[i], static_cast<Vertex>(v)});
        }
      }
      const std::lock_guard lock(found_mutex);
      found.insert(found.end(), edges.begin(), edges.end());
    };
    run_on_threads(edges_ >= kEdgesWorthThreads ? threads_ : 1, control, work, [] {});
    return found;
  }

  // Neighbours of v above it, in these words, where one of the two has changed.
  std::size_t neighbours_to_ask(std::size_t v, std::size_t first_word, std::size_t end_word, Vertex* asked) const {
    const Word* mine = rows_.data() + v * stride_;
    const bool all = test_bit(changed_.data(), v);
    std::size_t count = 0;
    for (std::size_t w = std::max(first_word, v / kWordBits); w < end_word; ++w) {
      Word rest = mine[w] & present_[w];
      if (!all) rest &= changed_[w];
      if (w == v / kWordBits) rest &= ~Word{0} << (v % kWordBits);
      for (; rest != 0; rest &= rest - 1) {
        asked[count++] = static_cast<Vertex>(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
      }
    }
    return count;
  }

  // Takes away what these edges hold up. What is left does not depend on their order.
  void drop(const std::vector<Edge>& weak) {
    if (weak.empty()) return;
    for (const auto [u, v] : weak) {
      ++weak_count_[static_cast<std::size_t>(u)];
      ++weak_count_[static_cast<std::size_t>(v)];
    }
    // Whole vertices first: that is cheaper than edge by edge. All are chosen before the first falls and takes edges
    // of the others, which may be weak ones, with it.
    std::vector<std::size_t> doomed;
    for (std::size_t v = 0; v < n_; ++v) {
      if (weak_count_[v] > 0 &&
          static_cast<std::size_t>(degree_[v]) < size_ + static_cast<std::size_t>(weak_count_[v])) {
        doomed.push_back(v);
      }
    }
    for (const std::size_t v : doomed) remove(v);
    std::fill(weak_count_.begin(), weak_count_.end(), 0);
    for (const auto [u, v] : weak) {
      const auto a = static_cast<std::size_t>(u), b = static_cast<std::size_t>(v);
      if (!present(a) || !present(b)) continue;
      clear_bit(row(a), b);
      clear_bit(row(b), a);
      --edges_;
      lose_neighbour(a);
      lose_neighbour(b);
      remove_if_below(a);
      remove_if_below(b);
    }
  }

  void lose_neighbour(std::size_t v) {
    --degree_[v];
    set_bit(changing_.data(), v);
  }

  void remove_if_below(std::size_t v) {
    if (static_cast<std::size_t>(degree_[v]) < size_) remove(v);
  }

  // Removes v, and whatever then has too few neighbours.
  void remove(std::size_t v) {
    if (!present(v)) return;
    clear_bit(present_.data(), v);
    falling_.assign(1, v);
    while (!falling_.empty()) {
      const std::size_t u = falling_.back();
      falling_.pop_back();
      for (std::size_t w = 0; w < stride_; ++w) {
        for (Word rest = row(u)[w] & present_[w]; rest != 0; rest &= rest - 1) {
          const std::size_t neighbour = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
          --edges_;
          lose_neighbour(neighbour);
          if (static_cast<std::size_t>(degree_[neighbour]) < size_) {
            clear_bit(present_.data(), neighbour);
            falling_.push_back(neighbour);
          }
        }
      }
    }
  }

  std::size_t n_, stride_, size_, threads_, edges_ = 0;
  const simd::Kernels& kernels_;
  AlignedVector<Word> rows_;
  std::vector<Vertex> degree_, weak_count_;
  std::vector<Word> present_, changed_, changing_;  // changed: rows that lost a bit in the last round, in this one
  std::vector<std::size_t> falling_;
};

// Drops weak edges, and vertices that have too few left.
Reduction drop_weak_edges(const Graph& graph, std::size_t size, std::size_t threads, const simd::Kernels& kernels,
                          Control& control) {
  Shrinking shrinking(graph, size, threads, kernels);
  for (bool again = true; again;) {
    const std::size_t before = shrinking.edges();
    shrinking.do_round(control);
    // A round that hardly drops anything costs more than it saves the search.
    again = (before - shrinking.edges()) * 100 > before && !control.stopped();
  }
  Reduction result;
  result.vertices = shrinking.kept();
  result.graph = shrinking.take().subgraph(result.vertices, kernels, control);
  return result;
}

std::vector<Vertex> choose(const std::vector<Vertex>& from, const std::vector<Vertex>& places) {
  std::vector<Vertex> chosen;
  chosen.reserve(places.size());
  for (const Vertex place : places) chosen.push_back(from[static_cast<std::size_t>(place)]);
  return chosen;
}

}  // namespace

Reduction reduce(const Graph& graph, std::size_t size, std::size_t threads, const simd::Kernels& kernels,
                 Control& control) {
  Reduction result;
  const Graph* current = &graph;  // the first copy is the first that is smaller
  result.vertices.resize(graph.num_vertices());
  std::iota(result.vertices.begin(), result.vertices.end(), Vertex{0});
  for (bool again = size >= 1; again && !control.expired();) {
    const std::size_t before = result.vertices.size();
    const auto colours = colour_vertices(*current, kernels, control);
    if (!colours) break;
    const auto kept = keep_by_colours(*current, *colours, size, control);
    if (kept.size() < before) {
      result.graph = current->subgraph(kept, kernels, control);
      result.vertices = choose(result.vertices, kept);
      current = &result.graph;
    }
    again = kept.size() * 10 < before * 9;  // fewer vertices may need fewer colours
  }
  if (size < 2 || !current->has_bits() || result.vertices.empty() || control.stopped()) {
    if (current == &graph) result.graph = graph;
    return result;
  }
  Reduction rest = drop_weak_edges(*current, size, threads, kernels, control);
  rest.vertices = choose(result.vertices, rest.vertices);
  return rest;
}

}  // namespace clipperplus
