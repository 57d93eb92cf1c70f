#include "clique/reduction.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <span>

#include "clique/colour_degrees.h"
#include "clique/colouring.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

struct Edge {
  Vertex u, v;
};
using EdgeLists = std::vector<std::vector<Edge>>;  // one of each thread

// The graph while it loses edges and vertices. A vertex that falls is no longer present, its bits stay in the rows of
// the others: clearing them would touch a cache line each.
class Shrinking {
 public:
  // Begins with the vertices `kept`.
  Shrinking(Graph graph, std::span<const Vertex> kept, std::size_t size, std::size_t threads,
            const simd::Kernels& kernels)
      : n_(graph.num_vertices()),
        stride_(graph.stride()),
        size_(size),
        threads_(threads),
        kernels_(kernels),
        rows_(std::move(graph).take_rows()),
        degree_(n_),
        weak_count_(n_, 0),
        present_(stride_, 0),
        changed_(stride_, 0),
        changing_(stride_, 0) {
    edges_ = kernels.count_rows(rows_.data(), stride_, n_, degree_.data()) / 2;
    set_prefix(present_.data(), n_);
    set_prefix(changed_.data(), n_);
    std::size_t next = 0;
    for (std::size_t v = 0; v < n_; ++v) {
      if (next < kept.size() && static_cast<std::size_t>(kept[next]) == v) {
        ++next;
        remove_if_below(v);
      } else {
        remove(v);
      }
    }
  }

  std::size_t edges() const { return edges_; }

  // Looks at every edge next to a change since the last round.
  void do_round(Control& control) {
    for (std::size_t end = stride_; end > 0 && !control.stopped(); end -= kBlockWords) {
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
  EdgeLists find_weak(std::size_t first_word, std::size_t end_word, Control& control) {
    const std::size_t limit = std::min(n_, end_word * kWordBits);
    EdgeLists found;
    std::mutex found_mutex;
    std::atomic<std::size_t> next{0};
    const auto work = [&](bool owner) {
      std::vector<Edge> edges;
      std::vector<Vertex> asked(kBlockWords * kWordBits), weak(asked.size());
      AlignedVector<Word> mine(stride_);
      for (std::size_t begin = next.fetch_add(kVerticesATurn); begin < limit; begin = next.fetch_add(kVerticesATurn)) {
        if (owner ? control.expired() : control.stopped()) break;
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
      found.push_back(std::move(edges));
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
  void drop(const EdgeLists& weak) {
    for_each_edge(weak, [&](std::size_t u, std::size_t v) {
      ++weak_count_[u];
      ++weak_count_[v];
    });
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
    for_each_edge(weak, [&](std::size_t u, std::size_t v) {
      if (!present(u) || !present(v)) return;
      clear_bit(row(u), v);
      clear_bit(row(v), u);
      --edges_;
      lose_neighbour(u);
      lose_neighbour(v);
      remove_if_below(u);
      remove_if_below(v);
    });
  }

  template <class Visit>
  static void for_each_edge(const EdgeLists& lists, Visit visit) {
    for (const auto& list : lists) {
      for (const auto [u, v] : list) visit(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
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
    falling_.assign(1, v);
    while (!falling_.empty()) {
      const std::size_t u = falling_.back();
      falling_.pop_back();
      if (!present(u)) continue;
      clear_bit(present_.data(), u);
      for (std::size_t w = 0; w < stride_; ++w) {
        for (Word rest = row(u)[w] & present_[w]; rest != 0; rest &= rest - 1) {
          const std::size_t neighbour = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
          --edges_;
          lose_neighbour(neighbour);
          if (static_cast<std::size_t>(degree_[neighbour]) + 1 == size_) falling_.push_back(neighbour);
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
Reduction drop_weak_edges(Graph graph, std::span<const Vertex> kept, std::size_t size, std::size_t threads,
                          const simd::Kernels& kernels, Control& control) {
  Shrinking shrinking(std::move(graph), kept, size, threads, kernels);
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

Reduction reduce(Graph graph, std::size_t size, std::size_t threads, const simd::Kernels& kernels, Control& control) {
  std::vector<Vertex> original(graph.num_vertices());  // vertices of `graph` in the graph that came
  std::iota(original.begin(), original.end(), Vertex{0});
  std::vector<Vertex> kept = original;  // of those
  for (bool again = size >= 1; again && !control.expired();) {
    const std::size_t before = original.size();
    const auto colours = colour_vertices(graph, kernels, control);
    if (!colours) break;
    kept = keep_by_colours(graph, *colours, size, control);
    again = kept.size() * 4 < before * 3;  // fewer vertices may need fewer colours, and are worth a smaller graph
    if (again) {
      graph = graph.subgraph(kept, kernels, control);
      original = choose(original, kept);
      kept.resize(original.size());
      std::iota(kept.begin(), kept.end(), Vertex{0});
    }
  }
  Reduction result;
  if (size >= 2 && graph.has_bits() && !control.stopped()) {
    result = drop_weak_edges(std::move(graph), kept, size, threads, kernels, control);
  } else {
    result = {graph.subgraph(kept, kernels, control), kept};
  }
  result.vertices = choose(original, result.vertices);
  return result;
}

}  // namespace clipperplus::inline v0
