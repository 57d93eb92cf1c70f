#include "clique/greedy.h"

#include <algorithm>
#include <atomic>

#include "clique/shared_best.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

// Grows one clique at a time; owns the scratch space of one thread.
class Grower {
 public:
  Grower(const Graph& graph, const simd::Kernels& kernels)
      : graph_(graph),
        kernels_(kernels),
        candidate_bits_(graph.has_bits() ? graph.stride() : 0),
        clique_(graph.num_vertices() + 1) {}

  // The clique grown from v inside the vertices below `limit`, or an empty one if it has at most `must_beat` vertices.
  std::span<const Vertex> grow(std::size_t v, std::size_t limit, std::size_t must_beat) {
    clique_[0] = static_cast<Vertex>(v);
    const std::size_t size = graph_.has_bits() ? grow_bits(v, limit, must_beat) : grow_csr(v, limit, must_beat);
    return {clique_.data(), size};
  }

 private:
  std::size_t grow_bits(std::size_t v, std::size_t limit, std::size_t must_beat) {
    const Word* row = graph_.row(v);
    std::copy(row, row + graph_.stride(), candidate_bits_.begin());
    if (limit < graph_.num_vertices()) {
      std::size_t w = limit / kWordBits;
      candidate_bits_[w] &= (Word{1} << (limit % kWordBits)) - 1;
      while (++w < graph_.stride()) candidate_bits_[w] = 0;
    }
    return kernels_.extend_greedily(graph_.row(0), graph_.stride(), candidate_bits_.data(), clique_.data(), 1,
                                    must_beat);
  }

  std::size_t grow_csr(std::size_t v, std::size_t limit, std::size_t must_beat) {
    const auto below = [limit](std::span<const Vertex> list) {
      return std::lower_bound(list.begin(), list.end(), limit,
                              [](Vertex u, std::size_t bound) { return static_cast<std::size_t>(u) < bound; });
    };
    const auto first = graph_.neighbours(v);
    candidate_list_.assign(first.begin(), below(first));
    std::size_t size = 1, next = 0;
    while (next < candidate_list_.size()) {
      if (size + candidate_list_.size() - next <= must_beat) return 0;
      const Vertex u = candidate_list_[next++];
      clique_[size++] = u;
      intersect(graph_.neighbours(static_cast<std::size_t>(u)), next);
      next = 0;
    }
    return size > must_beat ? size : 0;
  }

  // candidate_list_ = candidate_list_[from:] ∩ list, both sorted.
  void intersect(std::span<const Vertex> list, std::size_t from) {
    std::size_t kept = 0;
    auto it = list.begin();
    const bool gallop = list.size() > 16 * (candidate_list_.size() - from);
    for (std::size_t k = from; k < candidate_list_.size() && it != list.end(); ++k) {
      const Vertex u = candidate_list_[k];
      if (gallop) {
        it = std::lower_bound(it, list.end(), u);
      } else {
        while (it != list.end() && *it < u) ++it;
      }
      if (it != list.end() && *it == u) candidate_list_[kept++] = u;
    }
    candidate_list_.resize(kept);
  }

  const Graph& graph_;
  const simd::Kernels& kernels_;
  AlignedVector<Word> candidate_bits_;
  std::vector<Vertex> candidate_list_, clique_;
};

}  // namespace

GreedyResult greedy_clique(const Graph& ordered, std::span<const Vertex> cores, std::size_t threads,
                           const simd::Kernels& kernels, Control& control) {
  const std::size_t n = ordered.num_vertices();
  SharedBest best;
  std::atomic<std::size_t> next{0}, grown{0};

  // Starts are handed out in order. `owner` is the calling thread, the only one that may poll.
  const std::size_t poll_every = ordered.has_bits() && ordered.stride() < 64 ? 16 : 1;
  const auto work = [&](bool owner) {
    Grower grower(ordered, kernels);
    std::size_t limit = n, mine = 0;
    for (std::size_t v = next.fetch_add(1); v < n; v = next.fetch_add(1)) {
      if (owner && mine > 0 && mine % poll_every == 0 ? control.expired() : control.stopped()) break;
      const std::size_t must_beat = best.must_beat(v);
      if (static_cast<std::size_t>(cores[v]) < must_beat) break;  // nor can any later vertex: cores do not increase
      // A vertex of core number k is in no clique larger than k + 1.
      while (limit > 0 && static_cast<std::size_t>(cores[limit - 1]) < must_beat) --limit;
      ++mine;
      if (const auto clique = grower.grow(v, limit, must_beat); !clique.empty()) best.offer(v, clique);
    }
    grown += mine;
  };

  run_on_threads(std::min(threads, std::max<std::size_t>(n / 64, 1)), control, work, [] {});
  return {best.take(), grown};
}

}  // namespace clipperplus::inline v0
