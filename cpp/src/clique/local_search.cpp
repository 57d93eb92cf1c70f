#include "clique/local_search.h"

#include <algorithm>

namespace clipperplus {

namespace {

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
std::size_t luby(std::size_t i) {
  for (;;) {
    const std::size_t block = std::bit_floor(i + 2) - 1;  // the longest complete block that begins the sequence
    if (i + 1 == block) return (block + 1) / 2;
    i -= block;
  }
}
constexpr std::size_t kRestartAfter = 250;  // steps without a larger clique, times luby

class TabuSearch {
 public:
  TabuSearch(const Graph& graph, std::uint64_t seed, const simd::Kernels& kernels)
      : graph_(graph),
        kernels_(kernels),
        n_(graph.num_vertices()),
        misses_(graph.stride() * kWordBits),
        clique_(graph.stride(), 0),
        free_at_(n_, 0),
        random_(seed) {
    clear();
  }

  void add(std::size_t v) {
    set_bit(clique_.data(), v);
    ++size_;
    kernels_.count_misses(misses_.data(), graph_.row(v), graph_.stride(), 1);
    --misses_[v];  // v does not miss itself
  }

  void drop(std::size_t v, std::size_t until) {
    clear_bit(clique_.data(), v);
    --size_;
    kernels_.count_misses(misses_.data(), graph_.row(v), graph_.stride(), static_cast<std::uint16_t>(-1));
    ++misses_[v];
    free_at_[v] = until;
  }

  void step(std::size_t now) {
    constexpr std::size_t kTenure = 7;
    if (choose(0, now)) {
      add(draw());
    } else if (choose(1, now)) {
      const std::size_t v = draw();
      drop(missed_by(v), now + kTenure + random_.below(choices_.size()));
      add(v);
    } else if (size_ > 0) {
      choices_.clear();
      for_each_bit(clique_.data(), graph_.stride(), [&](std::size_t v) { choices_.push_back(v); });
      drop(choices_[random_.below(choices_.size())], now + kTenure);
    }
  }

  // Begins anew from a single vertex.
  void restart() {
    clear();
    prefer_late_ = !prefer_late_;
    add(random_.below(n_));
  }

  std::size_t size() const { return size_; }
  std::vector<Vertex> clique() const {
    std::vector<Vertex> vertices;
    for_each_bit(clique_.data(), graph_.stride(), [&](std::size_t v) { vertices.push_back(static_cast<Vertex>(v)); });
    return vertices;
  }

 private:
  static constexpr std::uint16_t kNever = 0x7FFF;  // padding: misses more than any vertex can

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

  void clear() {
    std::fill_n(misses_.begin(), n_, std::uint16_t{0});
    std::fill(misses_.begin() + static_cast<std::ptrdiff_t>(n_), misses_.end(), kNever);
    std::fill(clique_.begin(), clique_.end(), 0);
    std::fill(free_at_.begin(), free_at_.end(), 0);
    size_ = 0;
  }

  // Vertices outside the clique that miss this many of its vertices and may enter now.
  bool choose(std::uint16_t misses, std::size_t now) {
    choices_.clear();
    for (std::size_t w = 0; w < graph_.stride(); ++w) {
      const Word found = kernels_.find_misses(misses_.data() + w * kWordBits, misses) & ~clique_[w];
      for (Word rest = found; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest));
        if (free_at_[v] <= now) choices_.push_back(v);
      }
    }
    return !choices_.empty();
  }

  std::size_t missed_by(std::size_t v) const {
    for (std::size_t w = 0;; ++w) {
      if (const Word missed = clique_[w] & ~graph_.row(v)[w]; missed != 0) {
        return w * kWordBits + static_cast<std::size_t>(std::countr_zero(missed));
      }
    }
  }

  const Graph& graph_;
  const simd::Kernels& kernels_;
  std::size_t n_, size_ = 0;
  bool prefer_late_ = false;
  AlignedVector<std::uint16_t> misses_;
  AlignedVector<Word> clique_;
  std::vector<std::size_t> free_at_, choices_;
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

}  // namespace clipperplus
