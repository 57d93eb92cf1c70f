// Branch and bound for the heaviest clique of a small dense graph, compiled per instruction set; see
// clique/weighted_search.h for the algorithm around it.
//
// A node holds a clique and the set P of vertices adjacent to all of it. What the clique lacks to match the best one is
// its need. The weights of P are covered by independent sets of a weight each, which every member pays: a clique has at
// most one vertex of each, so that one of vertices that are all paid for weighs no more than the sets together (Held,
// Cook and Sewell, 2012; Tavares et al., 2015). Sets are made until they weigh as much as the need. The other vertices
// must be branched on, unless the rest of what they weigh can be paid by
//   a set without a neighbour of v: v joins it; or
//   inconsistent sets (Li and Quan, 2010; Fang, Li and Xu, 2016): with v in the clique, one set has a single vertex u
//   left, and with u another has none. Of v and these sets, one adds nothing.
// A set pays once with each part of its weight.
//
// Cost: a set is tested against a vertex in one intersection of rows. A vertex may ask so many sets as are a few times
// those that there are: what is bounded costs n² words a node.

template <std::size_t FixedWords>
class WeightedBranchAndBound {
 public:
  explicit WeightedBranchAndBound(WeightedTask& task) : task_(task), start_(task.size) {}
  void run() { expand(start_, task_.weight); }

 private:
  std::size_t words() const { return FixedWords != 0 ? FixedWords : task_.words; }
  const Word* row(std::size_t v) const { return task_.rows + v * words(); }
  Word* set(std::size_t k) const { return task_.sets + k * words(); }
  Word* level(std::size_t size) const { return task_.levels + kSearchSets * (size - start_) * words(); }
  static bool contains(const Word* some, std::size_t v) { return ((some[v / kWordBits] >> (v % kWordBits)) & 1U) != 0; }
  static void insert(Word* some, std::size_t v) { some[v / kWordBits] |= Word{1} << (v % kWordBits); }
  static void erase(Word* some, std::size_t v) { some[v / kWordBits] &= ~(Word{1} << (v % kWordBits)); }

  bool ends_here() {
    const std::uint64_t poll_every = words() > 16 ? 1 : 16;
    ++task_.nodes;
    if (task_.nodes >= task_.node_limit || (task_.nodes % poll_every == 0 && task_.stop(task_.context))) {
      task_.stopped = true;
    }
    return task_.stopped;
  }

  // Explores the clique of `size` vertices whose candidates are at level(size).
  void expand(std::size_t size, Weight weight) {
    if (ends_here()) return;
    Weight to_beat = task_.to_beat(task_.context);
    Word* candidates = level(size);
    Word* branching = candidates + words();
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w];
    cover(branching, to_beat - weight);
    if (task_.stopped) return;

    for (std::size_t w = words(); w-- > 0;) {
      while (branching[w] != 0) {
        const std::size_t bit = highest_bit(branching[w]);
        const std::size_t v = w * kWordBits + bit;
        branching[w] &= ~(Word{1} << bit);
        Word* next = level(size + 1);
        const Word* neighbours = row(v);
        Word any = 0;
        for (std::size_t k = 0; k < words(); ++k) any |= next[k] = candidates[k] & neighbours[k];
        erase(candidates, v);
        task_.clique[size] = static_cast<Vertex>(v);
        const Weight heavier = weight + task_.weights[v];
        if (heavier > to_beat) {
          task_.found(task_.context, task_.clique, size + 1);
          to_beat = task_.to_beat(task_.context);
        }
        if (any == 0) continue;
        expand(size + 1, heavier);
        if (task_.stopped) return;
      }
    }
  }

  // Removes from `open` the vertices whose weight is paid by sets that weigh no more than `need` together.
  void cover(Word* open, Weight need) {
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = open[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        task_.unpaid[v] = task_.weights[v];
        if (task_.weights[v] == 0) erase(open, v);  // it adds nothing
      }
    }
    std::size_t count = 0;
    for (Weight total = 0; total < need; ++count) {
      const Weight weight = take_set(open, set(count));
      if (weight < 0) return;
      task_.room[count] = weight < need - total ? weight : need - total;
      total += task_.room[count];
      pay(open, set(count), task_.room[count]);
    }
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = open[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        count = ask_sets(v, count);
        if (task_.unpaid[v] <= 0) erase(open, v);
        if (words() > 16 && task_.stop(task_.context)) {
          task_.stopped = true;
          return;
        }
      }
    }
  }

  // An independent set of open vertices, as many as fit; returns the least that one of them has to pay, or -1 if there
  // are none.
  Weight take_set(const Word* open, Word* members) const {
    Weight least = -1;
    Word* pool = task_.pool;
    for (std::size_t w = 0; w < words(); ++w) pool[w] = open[w], members[w] = 0;
    for (std::size_t w = 0; w < words(); ++w) {
      while (pool[w] != 0) {
        const std::size_t v = w * kWordBits + lowest_bit(pool[w]);
        insert(members, v);
        erase(pool, v);
        const Word* neighbours = row(v);
        for (std::size_t k = 0; k < words(); ++k) pool[k] &= ~neighbours[k];
        if (least < 0 || task_.unpaid[v] < least) least = task_.unpaid[v];
      }
    }
    return least;
  }

  void pay(Word* open, const Word* members, Weight amount) {
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = members[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        task_.unpaid[v] -= amount;
        if (task_.unpaid[v] <= 0) erase(open, v);
      }
    }
  }

  // Lets sets pay for v, as far as they can; returns how many have room left, the others having made way for them.
  std::size_t ask_sets(std::size_t v, std::size_t count) {
    const Word* neighbours = row(v);
    std::size_t asked = 0;
    const std::size_t most = kAskedTimes * count;
    for (std::size_t i = 0; i < count && task_.unpaid[v] > 0 && asked < most;) {
      const std::size_t u = only_common(set(i), neighbours, words());
      std::size_t j = i;                               // the other set, if one is needed
      bool pays = u != kMany && !contains(set(i), v);  // else it pays for v already
      if (pays && u != kNone) {
        const Word* further = row(u);
        // With u and v in the clique, a set that holds neither, and no vertex adjacent to both, has nothing to add.
        const auto is_empty = [&](const Word* some) {
          return apart(some, neighbours, further) && !contains(some, u) && !contains(some, v);
        };
        for (j = 0; j < count && (j == i || !is_empty(set(j)));) ++j;
        asked += j;
        pays = j < count;
      }
      if (!pays) {
        ++i;
        continue;
      }
      Weight amount = task_.room[i] < task_.room[j] ? task_.room[i] : task_.room[j];
      amount = amount < task_.unpaid[v] ? amount : task_.unpaid[v];
      task_.unpaid[v] -= amount;
      task_.room[i] -= amount;
      if (j != i) task_.room[j] -= amount;
      const std::size_t higher = i > j ? i : j, lower = i > j ? j : i;
      count = drop_if_used_up(higher, count);  // first: what makes way for it is not the other one
      if (lower != higher) count = drop_if_used_up(lower, count);
    }
    return count;
  }

  // Puts the last set in the place of one that has no room left.
  std::size_t drop_if_used_up(std::size_t k, std::size_t count) {
    if (task_.room[k] > 0) return count;
    --count;
    task_.room[k] = task_.room[count];
    for (std::size_t w = 0; w < words(); ++w) set(k)[w] = set(count)[w];
    return count;
  }

  // Whether three sets have nothing in common.
  bool apart(const Word* a, const Word* b, const Word* c) const {
    for (std::size_t block = 0; block < words(); block += kRowAlignWords) {
      Word any = 0;
      for (std::size_t w = block; w < block + kRowAlignWords; ++w) any |= a[w] & b[w] & c[w];
      if (any != 0) return false;
    }
    return true;
  }

  static constexpr std::size_t kAskedTimes = 16;
  WeightedTask& task_;
  std::size_t start_;
};

void search_weighted(WeightedTask& task) {
  if (task.words == kRowAlignWords) return WeightedBranchAndBound<kRowAlignWords>(task).run();
  return WeightedBranchAndBound<0>(task).run();
}
