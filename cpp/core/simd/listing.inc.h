// All maximal cliques of more than a given size, compiled per instruction set; see listing.h.
//
// A node also holds X, the vertices adjacent to all of its clique that were branched on before: a clique that one of
// them could join is not maximal, or was listed already. While the clique is small, its candidates are coloured as in
// the search: every clique that is large enough has a vertex outside the classes. Once it is large enough by itself,
// branching leaves out the neighbours of a pivot (Bron and Kerbosch, 1973; Tomita, Tanaka and Takahashi, 2006).

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
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w];
    if (size < task_.must_beat) {
      colour(branching, task_.must_beat - size);
    } else {
      leave_out_neighbours_of_pivot(branching, excluded);
    }
    for (std::size_t w = words(); w-- > 0;) {
      while (branching[w] != 0) {
        const std::size_t bit = kWordBits - 1 - static_cast<std::size_t>(__builtin_clzll(branching[w]));
        const std::size_t v = w * kWordBits + bit;
        branching[w] &= ~(Word{1} << bit);
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
        insert(excluded, v);
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

  // Every maximal clique has the pivot or a vertex that is not joined to it: the pivot is the candidate or excluded
  // vertex with most neighbours among the candidates.
  void leave_out_neighbours_of_pivot(Word* branching, const Word* excluded) const {
    std::size_t most = 0, pivot = 0;
    bool any = false;
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = branching[w] | excluded[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        std::size_t joined = 0;
        for (std::size_t k = 0; k < words(); ++k) joined += bit_count(branching[k] & row(v)[k]);
        if (!any || joined > most) {
          any = true;
          most = joined;
          pivot = v;
        }
      }
    }
    if (!any) return;
    for (std::size_t w = 0; w < words(); ++w) branching[w] &= ~row(pivot)[w];
  }

  std::size_t start_;
};

void list_cliques(CliqueTask& task) { run_with_fixed_words<Listing>(task); }
