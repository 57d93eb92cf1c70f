// Branch and bound on a small dense graph, compiled per instruction set; see search.h for the algorithm around it.

template <std::size_t FixedWords>
class BranchAndBound : ColourBound<FixedWords> {
  using Base = ColourBound<FixedWords>;
  using Base::colour, Base::erase, Base::row, Base::task_, Base::words;

 public:
  explicit BranchAndBound(CliqueTask& task) : Base(task), start_(task.size) {}
  void run() { expand(start_); }

 private:
  Word* level(std::size_t size) const { return task_.levels + kSearchSets * (size - start_) * words(); }

  // The best clique may have grown on another thread.
  void read_best() {
    const std::uint64_t key = load_relaxed(*task_.best_key);
    const std::size_t size = key >> 32, holder = ~static_cast<std::uint32_t>(key);
    const std::size_t to_beat = size > 0 && task_.index < holder ? size - 1 : size;
    if (to_beat > task_.must_beat + task_.outside) task_.must_beat = to_beat - task_.outside;
  }

  // Explores the clique of `size` vertices whose candidates are at level(size).
  void expand(std::size_t size) {
    if (Base::visit_node()) return;
    read_best();
    Word* candidates = level(size);
    Word* branching = candidates + words();
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w];
    colour(branching, task_.must_beat - size);

    for (std::size_t w = words(); w-- > 0;) {
      while (branching[w] != 0) {
        const std::size_t v = Base::take_highest(branching, w);
        Word* next = level(size + 1);
        const Word* neighbours = row(v);
        std::size_t left = 0;
        for (std::size_t k = 0; k < words(); ++k) {
          next[k] = candidates[k] & neighbours[k];
          left += bit_count(next[k]);
        }
        erase(candidates, v);
        if (size + 1 + left <= task_.must_beat) continue;
        task_.clique[size] = static_cast<Vertex>(v);
        if (size + 1 > task_.must_beat) {
          task_.must_beat = size + 1;
          task_.found(task_.context, task_.clique, size + 1);
        }
        if (left == 0) continue;
        if (left >= kWorthGiving && load_relaxed(*task_.idle) > 0) {
          task_.give(task_.context, size + 1, next);
          continue;
        }
        expand(size + 1);
        if (task_.stopped) return;
      }
    }
  }

  static constexpr std::size_t kWorthGiving = 48;  // candidates: below, handing a node over costs more than the node
  std::size_t start_;
};

void search(CliqueTask& task) { run_with_fixed_words<BranchAndBound>(task); }
