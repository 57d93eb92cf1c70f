// Edges whose ends share too few neighbours, compiled per instruction set: the inner loop of reduction.cpp.
//
// Eight rows are tested against `mine` at a time, so that one pass over it serves eight and the eight sums are added up
// together. Cost: a load, an intersection, a count and an addition per 512 bits of a row, 1.5 cycles on two
// vector ports; the rows come from the second-level cache, which gives a line every two cycles or so.

// Where in a row a test for common neighbours begins, where it may be given up, and where it ends.
struct TestedWords {
  std::size_t first, cut, last;  // multiples of eight words; no bits outside
  std::size_t behind;            // bits from `cut` on
};

inline TestedWords tested_words(const Word* mine, std::size_t stride, std::size_t common) {
  const auto count_block = [mine](std::size_t block) {
    std::size_t bits = 0;
    for (std::size_t k = block; k < block + kRowAlignWords; ++k) bits += bit_count(mine[k]);
    return bits;
  };
  std::size_t first = 0, last = stride;
  while (first < last && count_block(first) == 0) first += kRowAlignWords;
  while (first < last && count_block(last - kRowAlignWords) == 0) last -= kRowAlignWords;
  // Most pairs share next to nothing. What is left behind `cut` is then too little to be worth reading on, unless that
  // is only a short way.
  std::size_t cut = last, behind = 0;
  while (cut > first) {
    const std::size_t block = count_block(cut - kRowAlignWords);
    if (4 * (behind + block) > 3 * common) break;
    behind += block;
    cut -= kRowAlignWords;
  }
  if (4 * (last - cut) < last - first) return {first, last, last, 0};
  return {first, cut, last, behind};
}

#ifndef CLIPPERPLUS_OWN_ADD_SHARED
// totals[i] += bits that `mine` shares with others[i] from word `begin` to word `end`.
inline void add_shared(const Word* mine, const Word* const* others, std::size_t begin, std::size_t end, Word* totals) {
  for (std::size_t i = 0; i < kTestedAtOnce; ++i) {
    for (std::size_t k = begin; k < end; ++k) totals[i] += bit_count(mine[k] & others[i][k]);
  }
}
#endif

std::size_t find_weak_edges(const Word* rows, std::size_t stride, const Word* mine, const Vertex* asked,
                            std::size_t count, std::size_t common, Vertex* weak) {
  const auto [first, cut, last, behind] = tested_words(mine, stride, common);
  std::size_t found = 0;
  for (std::size_t begin = 0; begin < count; begin += kTestedAtOnce) {
    const Word* others[kTestedAtOnce];
    alignas(64) Word totals[kTestedAtOnce] = {};
    for (std::size_t i = 0; i < kTestedAtOnce; ++i) {
      const std::size_t at = begin + i < count ? begin + i : count - 1;  // the last one fills up the last batch
      others[i] = rows + static_cast<std::size_t>(asked[at]) * stride;
    }
    add_shared(mine, others, first, cut, totals);
    Word most = 0;
    for (const Word total : totals) most = total > most ? total : most;
    if (most + behind >= common && cut < last) add_shared(mine, others, cut, last, totals);
    for (std::size_t i = 0; i < kTestedAtOnce && begin + i < count; ++i) {
      weak[found] = asked[begin + i];
      found += totals[i] < common ? 1 : 0;  // no branch: nothing predicts it
    }
  }
  return found;
}
