// All maximal cliques of more than a given size, compiled per instruction set; see listing.h.
//
// A node also holds X, the vertices adjacent to all of its clique that were branched on before: a clique that one of
// them could join is not maximal, or was listed already. Two sets of candidates are enough to branch on, and the
// smaller is taken: those that are not joined to a pivot, as every maximal clique has the pivot or one of them (Bron
// and Kerbosch, 1973; Tomita, Tanaka and Takahashi, 2006); and while the clique is small those outside the colour
// classes, as in the search. Where all cliques in demand are known to be maximal, X is not needed.

template <std::size_t FixedWords>
class Listing : ColourBound<FixedWords> {
  using Base = ColourBound<FixedWords>;
  using Base::colour, Base::erase, Base::insert, Base::row, Base::task_, Base::words;

 public:
  explicit Listing(CliqueTask& task) : Base(task), start_(task.size) {}
  void run() { expand(start_); }

 private:
  Word* level(std::size_t size) const { return task_.levels + kListingSets * (size - start_) * words(); }

  void expand(std::size_t size) {
    if (Base::visit_node()) return;
    Word* candidates = level(size);
    Word* branching = candidates + words();
    Word* excluded = branching + words();
    choose_branching(size);
    for (std::size_t w = words(); w-- > 0;) {
      while (branching[w] != 0) {
        const std::size_t v = Base::take_highest(branching, w);
        Word* next = level(size + 1);
        Word* next_excluded = next + 2 * words();
        const Word* neighbours = row(v);
        std::size_t left = 0;
        Word barred = 0;
        for (std::size_t k = 0; k < words(); ++k) {
          next[k] = candidates[k] & neighbours[k];
          next_excluded[k] = excluded[k] & neighbours[k];
          left += bit_count(next[k]);
          barred |= next_excluded[k];
        }
        erase(candidates, v);
        if (!task_.all_maximal) insert(excluded, v);
        if (size + 1 + left <= task_.must_beat) continue;
        task_.clique[size] = static_cast<Vertex>(v);
        if (left > 0) {
          expand(size + 1);
        } else if (barred == 0 && !task_.found(task_.context, task_.clique, size + 1)) {
          task_.stopped = true;
        }
        if (task_.stopped) return;
      }
    }
  }

  void choose_branching(std::size_t size) {
    const Word* candidates = level(size);
    Word* branching = level(size) + words();
    const Word* excluded = level(size) + 2 * words();
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w];
    const bool small = size < task_.must_beat;
    if (small) colour(branching, task_.must_beat - size);
    Word any_excluded = 0;
    for (std::size_t w = 0; w < words(); ++w) any_excluded |= excluded[w];
    if (small && any_excluded == 0) return;
    const Word* pivot = find_pivot(candidates, excluded);
    if (pivot == nullptr) return;
    std::size_t coloured = 0, apart = 0;
    for (std::size_t w = 0; w < words(); ++w) {
      coloured += bit_count(branching[w]);
      apart += bit_count(candidates[w] & ~pivot[w]);
    }
    if (small && coloured <= apart) return;
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w] & ~pivot[w];
  }

  // The row of the candidate or excluded vertex with most neighbours among the candidates.
  const Word* find_pivot(const Word* candidates, const Word* excluded) const {
    const Word* pivot = nullptr;
    std::size_t most = 0;
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = candidates[w] | excluded[w]; rest != 0; rest &= rest - 1) {
        const Word* neighbours = row(w * kWordBits + lowest_bit(rest));
        std::size_t joined = 0;
        for (std::size_t k = 0; k < words(); ++k) joined += bit_count(candidates[k] & neighbours[k]);
        if (pivot == nullptr || joined > most) {
          most = joined;
          pivot = neighbours;
        }
      }
    }
    return pivot;
  }

  std::size_t start_;
};

void list_cliques(CliqueTask& task) { run_with_fixed_words<Listing>(task); }
