// Which candidates of a node must be branched on, compiled per instruction set.
//
// A node holds a clique and the set P of vertices adjacent to all of it. P is coloured with as many classes as the
// clique lacks to match the best one (its need): a vertex in one of them cannot lead to a larger clique by itself. The
// others must be branched on, unless
//   re-colouring (Tomita et al., 2010) makes room: v takes the place of its only neighbour w in a class, w moves on; or
//   v and some classes are inconsistent (Li and Quan, 2010; San Segundo et al., 2015): v leaves one vertex of a class,
//   that one leaves one of another, and so on until a class has none. Together they add at most as many vertices as
//   the classes did without v. Such classes are then used up.
// Row length in words is a template argument where it is small, so that loops over a row are a few vector instructions.
//
// Cost: a class is tested against a vertex in one intersection and two tests for zero (AVX-512: 4 cycles a 512-bit
// block), without branches but one: branches on the outcome, which nothing predicts, took two thirds of the time.

#ifndef CLIPPERPLUS_OWN_SHARED_WORDS
inline SharedWords shared_words(const Word* a, const Word* b) {
  SharedWords shared{0, 0};
  for (unsigned w = 0; w < kRowAlignWords; ++w) {
    const Word common = a[w] & b[w];
    shared.some |= static_cast<unsigned>(common != 0) << w;
    shared.several |= static_cast<unsigned>((common & (common - 1)) != 0) << w;
  }
  return shared;
}
#endif

// The only member that two sets share; kNone or kMany if that is not one.
inline constexpr std::size_t kNone = ~std::size_t{0}, kMany = kNone - 1;

inline std::size_t only_common(const Word* a, const Word* b, std::size_t words) {
  std::size_t found = kNone;
  for (std::size_t block = 0; block < words; block += kRowAlignWords) {
    const auto [some, several] = shared_words(a + block, b + block);
    // One branch that is mostly taken: most classes have more than one neighbour.
    if (((some & (some - 1)) | several) != 0) return kMany;
    if (some == 0) continue;
    if (found != kNone) return kMany;
    const std::size_t w = block + lowest_bit(some);
    found = w * kWordBits + lowest_bit(a[w] & b[w]);
  }
  return found;
}

template <std::size_t FixedWords>
class ColourBound {
 protected:
  explicit ColourBound(CliqueTask& task) : task_(task) {}

  std::size_t words() const { return FixedWords != 0 ? FixedWords : task_.words; }
  const Word* row(std::size_t v) const { return task_.rows + v * words(); }
  Word* colour_class(std::size_t k) const { return task_.classes + k * words(); }
  static bool contains(const Word* set, std::size_t v) { return ((set[v / kWordBits] >> (v % kWordBits)) & 1U) != 0; }
  static void insert(Word* set, std::size_t v) { set[v / kWordBits] |= Word{1} << (v % kWordBits); }
  static void erase(Word* set, std::size_t v) { set[v / kWordBits] &= ~(Word{1} << (v % kWordBits)); }

  // Removes and returns the highest member of a set in its word w, which has one.
  static std::size_t take_highest(Word* set, std::size_t w) {
    const std::size_t bit = highest_bit(set[w]);
    set[w] &= ~(Word{1} << bit);
    return w * kWordBits + bit;
  }

  // Counts a node; true if the task ends here.
  bool visit_node() {
    // Large nodes take milliseconds, small ones much less than a look at the clock.
    const std::uint64_t poll_every = words() > 16 ? 1 : 64;
    ++task_.nodes;
    if (task_.nodes >= task_.node_limit || (task_.nodes % poll_every == 0 && task_.stop(task_.context))) {
      task_.stopped = true;
    }
    return task_.stopped;
  }

  // Removes from `open` the vertices that `need` colour classes, re-colouring and inconsistent subsets take care of.
  void colour(Word* open, std::size_t need) {
    for (std::size_t k = 0; k < need; ++k) {
      if (!take_class(open, colour_class(k))) return;
    }
    if (need < 2 || !(task_.recolour || task_.propagate)) return;
    for (std::size_t k = 0; k < need; ++k) {
      task_.used[k] = false;
      task_.unused[k] = k;
    }
    unused_count_ = need;
    for (std::size_t w = 0; w < words(); ++w) {
      for (Word rest = open[w]; rest != 0; rest &= rest - 1) {
        const std::size_t v = w * kWordBits + lowest_bit(rest);
        if (settle(v)) erase(open, v);
      }
    }
  }

  // Moves a maximal independent set from `open` to `members`, lowest vertices first; false if nothing was left.
  bool take_class(Word* open, Word* members) const {
    Word* pool = task_.pool;
    Word any = 0;
    for (std::size_t w = 0; w < words(); ++w) {
      pool[w] = open[w];
      any |= open[w];
    }
    if (any == 0) return false;
    for (std::size_t w = 0; w < words(); ++w) members[w] = 0;
    for (std::size_t w = 0; w < active_words_; ++w) {
      // The word in work stays in a register: through memory, every vertex would wait for the store before it.
      Word here = pool[w], taken = 0;
      while (here != 0) {
        const std::size_t bit = lowest_bit(here);
        const Word* neighbours = row(w * kWordBits + bit);
        taken |= Word{1} << bit;
        here &= (here - 1) & ~neighbours[w];
        // The words behind need no change, but a loop of known length is a few instructions.
        for (std::size_t k = FixedWords != 0 ? 0 : w; k < words(); ++k) pool[k] &= ~neighbours[k];
      }
      members[w] = taken;
      open[w] &= ~taken;
    }
    return true;
  }

  // Whether v need not be branched on: it fits into a class, perhaps after another vertex has moved, or it is
  // inconsistent with some classes.
  bool settle(std::size_t v) {
    const Word* neighbours = row(v);
    Forced* forced = task_.forced;
    std::size_t length = 0;
    for (std::size_t i = 0; i < unused_count_; ++i) {
      const std::size_t k = task_.unused[i];
      const std::size_t hit = only_common(colour_class(k), neighbours, words());
      if (hit == kNone) {
        insert(colour_class(k), v);
        return true;
      }
      if (hit != kMany) forced[length++] = {k, hit};
    }
    for (std::size_t i = 0; i < length && task_.recolour; ++i) {
      for (std::size_t j = unused_count_; j-- > 0;) {
        const std::size_t k = task_.unused[j];
        if (k <= forced[i].colour) break;
        if (intersects(colour_class(k), row(forced[i].vertex))) continue;
        erase(colour_class(forced[i].colour), forced[i].vertex);
        insert(colour_class(forced[i].colour), v);
        insert(colour_class(k), forced[i].vertex);
        return true;
      }
    }
    return task_.propagate && length > 0 && make_inconsistent(v, length);
  }

  // Takes v as given and follows what that forces: a class with one neighbour left must give that one, a class with
  // none is a contradiction. The first `length` classes in `forced` are those that v alone forces.
  bool make_inconsistent(std::size_t v, std::size_t length) {
    Word* allowed = task_.pool;  // adjacent to v and to every vertex that was forced
    for (std::size_t w = 0; w < words(); ++w) allowed[w] = row(v)[w];
    Forced* forced = task_.forced;
    for (std::size_t i = 0; i < length; ++i) task_.used[forced[i].colour] = true;
    std::size_t followed = 0;
    for (bool again = true; again;) {
      for (; followed < length; ++followed) {
        const std::size_t u = forced[followed].vertex;
        if (!contains(allowed, u)) return use_up(v, length, followed);
        for (std::size_t w = 0; w < words(); ++w) allowed[w] &= row(u)[w];
      }
      again = false;
      for (std::size_t i = 0; i < unused_count_; ++i) {
        const std::size_t k = task_.unused[i];
        if (task_.used[k]) continue;
        const std::size_t hit = only_common(colour_class(k), allowed, words());
        if (hit == kMany) continue;
        task_.used[k] = true;
        forced[length++] = {k, hit};
        if (hit == kNone) return use_up(v, length, length - 1);
        for (std::size_t w = 0; w < words(); ++w) allowed[w] &= row(hit)[w];
        followed = length;
        again = true;
      }
    }
    for (std::size_t i = 0; i < length; ++i) task_.used[forced[i].colour] = false;
    return false;
  }

  // The class at `conflict` has no vertex left. Marks as used only the classes that this follows from: for every
  // vertex that a class had to give up, v or one forced vertex that is not joined to it.
  bool use_up(std::size_t v, std::size_t length, std::size_t conflict) {
    Forced* forced = task_.forced;
    for (std::size_t i = 0; i < length; ++i) task_.used[forced[i].colour] = false;
    task_.used[forced[conflict].colour] = true;
    for (std::size_t i = conflict + 1; i-- > 0;) {
      if (!task_.used[forced[i].colour]) continue;
      const Word* members = colour_class(forced[i].colour);
      for (std::size_t w = 0; w < words(); ++w) {
        for (Word rest = members[w] & row(v)[w]; rest != 0; rest &= rest - 1) {
          const std::size_t u = w * kWordBits + lowest_bit(rest);
          if (i == conflict || u != forced[i].vertex) task_.used[reason(u, i)] = true;
        }
      }
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < unused_count_; ++i) {
      if (!task_.used[task_.unused[i]]) task_.unused[left++] = task_.unused[i];
    }
    unused_count_ = left;
    return true;
  }

  // The class of a forced vertex before place `end` that is not joined to u; rather one that is used already.
  std::size_t reason(std::size_t u, std::size_t end) const {
    const Forced* forced = task_.forced;
    std::size_t first = kNone;
    for (std::size_t j = 0; j < end; ++j) {
      if (contains(row(u), forced[j].vertex)) continue;
      if (task_.used[forced[j].colour]) return forced[j].colour;
      if (first == kNone) first = forced[j].colour;
    }
    return first;
  }

  CliqueTask& task_;

 private:
  bool intersects(const Word* a, const Word* b) const {
    unsigned any = 0;
    for (std::size_t block = 0; block < words(); block += kRowAlignWords)
      any |= shared_words(a + block, b + block).some;
    return any != 0;
  }

  std::size_t active_words_ = (task_.n + kWordBits - 1) / kWordBits;
  std::size_t unused_count_ = 0;
};

template <template <std::size_t> class Algorithm>
void run_with_fixed_words(CliqueTask& task) {
  switch (task.words) {
    case 8:
      return Algorithm<8>(task).run();
    case 16:
      return Algorithm<16>(task).run();
    case 24:
      return Algorithm<24>(task).run();
    default:
      return Algorithm<0>(task).run();
  }
}
