// A clique that changes a vertex at a time, and what tabu searches need to know to choose the next change: what
// local_search.cpp and weighted_local_search.cpp share.
//
// For every vertex the number of clique vertices that it misses is kept up to date: a change costs n/32 vector
// operations, and so does a look for those that miss none, or one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "clipperplus/graph.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

// xorshift64*: small, fast and the same everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_((2 * seed + 1) * 0x9E3779B97F4A7C15ULL) {}  // odd, so never zero

  std::size_t below(std::size_t limit) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::size_t>((state_ * 0x2545F4914F6CDD1DULL) >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …: within a constant factor of the best restarts for any problem (Luby, Sinclair and
// Zuckerman, 1993). Small graphs want many short runs, hard ones a few long ones.
inline std::size_t luby(std::size_t i) {
  for (;;) {
    const std::size_t block = std::bit_floor(i + 2) - 1;  // the longest complete block that begins the sequence
    if (i + 1 == block) return (block + 1) / 2;
    i -= block;
  }
}

// Whether the local searches take a graph.
inline bool can_look_around(const Graph& graph) { return graph.has_bits() && graph.num_vertices() <= 0x7FFF; }

// Bit rows only, at most 32 767 vertices.
class TabuClique {
 public:
  TabuClique(const Graph& graph, const simd::Kernels& kernels)
      : graph_(graph),
        kernels_(kernels),
        n_(graph.num_vertices()),
        misses_(graph.stride() * kWordBits),
        clique_(graph.stride(), 0),
        free_at_(n_, 0) {
    clear();
  }

  void add(std::size_t v) {
    set_bit(clique_.data(), v);
    ++size_;
    kernels_.count_misses(misses_.data(), graph_.row(v), graph_.stride(), 1);
    --misses_[v];  // v does not miss itself
  }

  // Takes v out; it may not return before a step.
  void drop(std::size_t v, std::size_t until) {
    clear_bit(clique_.data(), v);
    --size_;
    kernels_.count_misses(misses_.data(), graph_.row(v), graph_.stride(), static_cast<std::uint16_t>(-1));
    ++misses_[v];
    free_at_[v] = until;
  }

  void clear() {
    std::fill_n(misses_.begin(), n_, std::uint16_t{0});
    std::fill(misses_.begin() + static_cast<std::ptrdiff_t>(n_), misses_.end(), kNever);
    std::fill(clique_.begin(), clique_.end(), 0);
    std::fill(free_at_.begin(), free_at_.end(), 0);
    size_ = 0;
  }

  // Vertices outside the clique that miss this many of its vertices and may enter now.
  void find(std::uint16_t misses, std::size_t now, std::vector<std::size_t>& found) const {
    found.clear();
    for (std::size_t w = 0; w < graph_.stride(); ++w) {
      const Word some = kernels_.find_misses(misses_.data() + w * kWordBits, misses) & ~clique_[w];
      for (Word rest = some; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
        if (free_at_[v] <= now) found.push_back(v);
      }
    }
  }

  // The one vertex of the clique that v misses.
  std::size_t missed_by(std::size_t v) const {
    for (std::size_t w = 0;; ++w) {
      if (const Word missed = clique_[w] & ~graph_.row(v)[w]; missed != 0) {
        return w * kWordBits + static_cast<std::size_t>(std::countr_zero(missed));
      }
    }
  }

  void members(std::vector<std::size_t>& found) const {
    found.clear();
    for_each_bit(clique_.data(), graph_.stride(), [&](std::size_t v) { found.push_back(v); });
  }
  std::vector<Vertex> vertices() const {
    std::vector<Vertex> result;
    for_each_bit(clique_.data(), graph_.stride(), [&](std::size_t v) { result.push_back(static_cast<Vertex>(v)); });
    return result;
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint16_t kNever = 0x7FFF;  // padding: misses more than any vertex can

  const Graph& graph_;
  const simd::Kernels& kernels_;
  std::size_t n_, size_ = 0;
  AlignedVector<std::uint16_t> misses_;
  AlignedVector<Word> clique_;
  std::vector<std::size_t> free_at_;
};

}  // namespace clipperplus::inline v0
