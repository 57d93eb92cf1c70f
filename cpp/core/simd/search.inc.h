// Branch and bound on a small dense graph, compiled per instruction set; see search.h for the algorithm around it.
//
// A node holds a clique and the set P of vertices adjacent to all of it. P is coloured with as many classes as the
// clique lacks to match the best one (its need): a vertex in one of them cannot lead to a larger clique by itself. The
// others must be branched on, unless
//   re-colouring (Tomita et al., 2010) makes room: v takes the place of its only neighbour w in a class, w moves on; or
//   v and some classes are inconsistent (Li and Quan, 2010; San Segundo et al., 2015): v leaves one vertex of a class,
//   that one leaves one of another, and so on until a class has none. Together they add at most as many vertices as
//   the classes did without v. Such classes are then used up.
// Row length in words is a template argument where it is small, so that loops over a row are a few vector instructions.

template <std::size_t FixedWords>
class BranchAndBound {
 public:
  explicit BranchAndBound(LocalSearch& task) : task_(task) {}

  void run() {
    Word* all = level(0);
    for (std::size_t w = 0; w < words(); ++w) all[w] = 0;
    for (std::size_t v = 0; v < task_.n; ++v) all[v / kWordBits] |= Word{1} << (v % kWordBits);
    expand(0);
  }

 private:
  std::size_t words() const { return FixedWords != 0 ? FixedWords : task_.words; }
  const Word* row(std::size_t v) const { return task_.rows + v * words(); }
  Word* level(std::size_t depth) const { return task_.levels + 2 * depth * words(); }
  Word* colour_class(std::size_t k) const { return task_.classes + k * words(); }
  static void insert(Word* set, std::size_t v) { set[v / kWordBits] |= Word{1} << (v % kWordBits); }
  static void erase(Word* set, std::size_t v) { set[v / kWordBits] &= ~(Word{1} << (v % kWordBits)); }

  std::size_t count(const Word* set) const {
    std::size_t total = 0;
    for (std::size_t w = 0; w < words(); ++w) total += bit_count(set[w]);
    return total;
  }
  bool intersects(const Word* a, const Word* b) const {
    Word any = 0;
    for (std::size_t w = 0; w < words(); ++w) any |= a[w] & b[w];
    return any != 0;
  }
  // Explores the clique of `size` vertices whose candidates are at level(size).
  void expand(std::size_t size) {
    if (++task_.nodes >= task_.node_limit || (task_.nodes % 256 == 0 && task_.stop(task_.context))) {
      task_.stopped = true;
      return;
    }
    Word* candidates = level(size);
    Word* branching = candidates + words();
    for (std::size_t w = 0; w < words(); ++w) branching[w] = candidates[w];
    colour(branching, task_.must_beat - size);

    for (std::size_t w = words(); w-- > 0;) {
      while (branching[w] != 0) {
        const std::size_t bit = kWordBits - 1 - static_cast<std::size_t>(__builtin_clzll(branching[w]));
        const std::size_t v = w * kWordBits + bit;
        branching[w] &= ~(Word{1} << bit);
        Word* next = level(size + 1);
        const Word* neighbours = row(v);
        for (std::size_t k = 0; k < words(); ++k) next[k] = candidates[k] & neighbours[k];
        erase(candidates, v);
        task_.clique[size] = static_cast<Vertex>(v);
        const std::size_t left = count(next);
        if (size + 1 + left <= task_.must_beat) continue;
        if (size + 1 > task_.must_beat) {
          task_.must_beat = size + 1;
          for (std::size_t k = 0; k <= size; ++k) task_.best[k] = task_.clique[k];
        }
        if (left == 0) continue;
        expand(size + 1);
        if (task_.stopped) return;
      }
    }
  }

  // Removes from `open` the vertices that `need` colour classes, re-colouring and inconsistent subsets take care of.
  void colour(Word* open, std::size_t need) {
    Word* pool = task_.scratch;
    for (std::size_t k = 0; k < need; ++k) {
      Word* members = colour_class(k);
      Word any = 0;
      for (std::size_t w = 0; w < words(); ++w) {
        pool[w] = open[w];
        any |= open[w];
        members[w] = 0;
      }
      if (any == 0) return;
      for (std::size_t w = 0; w < words(); ++w) {
        while (pool[w] != 0) {
          const std::size_t v = w * kWordBits + lowest_bit(pool[w]);
          const Word* neighbours = row(v);
          insert(members, v);
          erase(pool, v);
          for (std::size_t k2 = w; k2 < words(); ++k2) pool[k2] &= ~neighbours[k2];
        }
        open[w] &= ~members[w];
      }
    }
    if (need < 2) return;
    for (std::size_t k = 0; k < need; ++k) task_.used[k] = false;
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = open[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        if (recolour(v, need) || make_inconsistent(v, need)) erase(open, v);
      }
    }
  }

  bool recolour(std::size_t v, std::size_t need) {
    const Word* neighbours = row(v);
    for (std::size_t k = 0; k + 1 < need; ++k) {
      if (task_.used[k]) continue;
      Word* members = colour_class(k);
      std::size_t hits = 0, w_hit = 0;
      Word hit = 0;
      for (std::size_t w = 0; w < words(); ++w) {
        const Word common = members[w] & neighbours[w];
        hits += bit_count(common);
        if (common != 0) {
          hit = common;
          w_hit = w;
        }
      }
      if (hits == 0) {
        insert(members, v);
        return true;
      }
      if (hits != 1) continue;
      const std::size_t other = w_hit * kWordBits + lowest_bit(hit);
      for (std::size_t k2 = k + 1; k2 < need; ++k2) {
        if (task_.used[k2] || intersects(colour_class(k2), row(other))) continue;
        erase(members, other);
        insert(members, v);
        insert(colour_class(k2), other);
        return true;
      }
    }
    return false;
  }

  // Takes v as given and follows what that forces: a class with one neighbour left must give that one, a class with
  // none is a contradiction. Together with v, the classes that took part then add at most as many vertices as they are.
  bool make_inconsistent(std::size_t v, std::size_t need) {
    Word* allowed = task_.scratch;  // adjacent to v and to every vertex that was forced
    const Word* neighbours = row(v);
    for (std::size_t w = 0; w < words(); ++w) allowed[w] = neighbours[w];
    std::size_t* chain = task_.chain;
    std::size_t length = 0;
    for (bool forced = true; forced;) {
      forced = false;
      for (std::size_t k = 0; k < need; ++k) {
        if (task_.used[k]) continue;
        const Word* members = colour_class(k);
        std::size_t hits = 0, place = 0;
        Word hit = 0;
        for (std::size_t w = 0; w < words(); ++w) {
          const Word common = members[w] & allowed[w];
          hits += bit_count(common);
          if (common != 0) {
            hit = common;
            place = w;
          }
        }
        if (hits > 1) continue;
        chain[length++] = k;
        task_.used[k] = true;
        if (hits == 0) return true;
        const Word* other = row(place * kWordBits + lowest_bit(hit));
        for (std::size_t w = 0; w < words(); ++w) allowed[w] &= other[w];
        forced = true;
      }
    }
    for (std::size_t k = 0; k < length; ++k) task_.used[chain[k]] = false;
    return false;
  }

  LocalSearch& task_;
};

void search(LocalSearch& task) {
  switch (task.words) {
    case 8:
      return BranchAndBound<8>(task).run();
    case 16:
      return BranchAndBound<16>(task).run();
    case 24:
      return BranchAndBound<24>(task).run();
    default:
      return BranchAndBound<0>(task).run();
  }
}

std::size_t drop_weak_edges(Word* rows, std::size_t stride, std::size_t u, std::size_t common, const bool* changed,
                            bool* changing) {
  std::size_t dropped = 0;
  Word* mine = rows + u * stride;
  for (std::size_t w = u / kWordBits; w < stride; ++w) {
    Word rest = mine[w];
    if (w == u / kWordBits) rest &= ~Word{0} << (u % kWordBits);
    for (; rest != 0; rest &= rest - 1) {
      const std::size_t v = w * kWordBits + lowest_bit(rest);
      if (!changed[u] && !changed[v]) continue;
      Word* other = rows + v * stride;
      std::size_t shared = 0;
      for (std::size_t k = 0; k < stride; ++k) shared += bit_count(mine[k] & other[k]);
      if (shared >= common) continue;
      mine[w] &= ~(Word{1} << (v % kWordBits));
      other[u / kWordBits] &= ~(Word{1} << (u % kWordBits));
      changing[u] = changing[v] = true;
      ++dropped;
    }
  }
  return dropped;
}
