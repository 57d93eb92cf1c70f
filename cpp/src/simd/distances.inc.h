// Which of 64 × 64 pairs of associations keep their distance, decided in single precision with a margin for its errors.
// See consistency.h for the test and the margin. Uses Floats of the instruction set: kFloatLanes of them at once.
//
// Offsets, where there are some, must be closer than the threshold; their rounding is that of coordinates.
//
// A pair costs 6 subtractions, 6 fused operations for the squared distances and 9 for the comparison: 21 / kFloatLanes
// instructions, two thirds of a cycle with AVX-512.

template <bool Varying, bool Apart, bool Ids, bool Offsets>
void compare_pairs(const DistanceBlock& block, Word* maybe, Word* surely) {
  const Floats tiny = broadcast(1e-37F);  // products of tiny numbers may have vanished
  const Floats apart_high = broadcast(block.apart_high), apart_low = broadcast(block.apart_low);
  // Where one distance is nearly zero and the other nearly ε, the bound is flat in ε: a margin for ε alone would not
  // cover the rounding of the comparison. So the bound itself grows by 32 u.
  const Floats growth = broadcast(1.0F + 0x1p-19F);
  Floats high_square = broadcast(block.high * block.high), square = high_square * growth;
  Floats twice = square + square, fourth = square * high_square;
  Floats share = broadcast(block.low * block.low) / square;
  for (std::size_t i = 0; i < kBlock; ++i) {
    Floats row[6];
    for (std::size_t k = 0; k < 6; ++k) row[k] = broadcast(block.rows[k][i]);
    Floats offset[3];
    if constexpr (Offsets) {
      for (std::size_t k = 0; k < 3; ++k) offset[k] = broadcast(block.row_offsets[k][i]);
    }
    Word maybe_word = 0, surely_word = 0;
    for (std::size_t j = 0; j < kBlock; j += kFloatLanes) {
      const Floats ax = row[0] - load(block.columns[0] + j), ay = row[1] - load(block.columns[1] + j);
      const Floats az = row[2] - load(block.columns[2] + j), bx = row[3] - load(block.columns[3] + j);
      const Floats by = row[4] - load(block.columns[4] + j), bz = row[5] - load(block.columns[5] + j);
      const Floats p = fused(az, az, fused(ay, ay, ax * ax)), q = fused(bz, bz, fused(by, by, bx * bx));
      const Floats difference = p - q, sum = p + q;
      if constexpr (Varying) {
        const Floats epsilon = broadcast(block.row_epsilons[i]) + load(block.column_epsilons + j);
        const Floats slack = fused(epsilon, broadcast(block.margin), broadcast(block.margin));
        const Floats high = epsilon + slack, low = larger(epsilon - slack, broadcast(0.0F));
        high_square = high * high;
        square = high_square * growth;
        twice = square + square;
        fourth = square * high_square;
        share = low * low / square;
      }
      // (p - q)² against max(ε² s, 2 ε² s - ε⁴), with the larger ε. What is below `share` of that is below the value
      // for the smaller ε, too.
      const Floats bound = larger(fused(square, sum, tiny), fused(twice, sum, tiny - fourth));
      const Floats moved = difference * difference;
      Word may = less(moved, bound), sure = less(moved, bound * share);
      if constexpr (Offsets) {
        const Floats x = offset[0] - load(block.column_offsets[0] + j);
        const Floats y = offset[1] - load(block.column_offsets[1] + j);
        const Floats z = offset[2] - load(block.column_offsets[2] + j);
        const Floats gap = fused(z, z, fused(y, y, x * x));
        may &= less(gap, square + tiny);
        sure &= less(gap, square * share);
      }
      if constexpr (Apart) {
        const Floats closest = smaller(p, q);
        may &= less(apart_low, closest);
        sure &= less(apart_high, closest);
      }
      if constexpr (Ids) {
        const Word same =
            equal(block.row_ids[0][i], block.column_ids[0] + j) | equal(block.row_ids[1][i], block.column_ids[1] + j);
        may &= ~same;
        sure &= ~same;
      }
      maybe_word |= may << j;
      surely_word |= sure << j;
    }
    maybe[i] = maybe_word;
    surely[i] = surely_word;
  }
}

template <bool Varying, bool Apart, bool Offsets>
void compare_pairs(const DistanceBlock& block, Word* maybe, Word* surely) {
  block.row_ids[0] != nullptr ? compare_pairs<Varying, Apart, true, Offsets>(block, maybe, surely)
                              : compare_pairs<Varying, Apart, false, Offsets>(block, maybe, surely);
}

void compare_distances(const DistanceBlock& block, Word* maybe, Word* surely) {
  const bool varying = block.row_epsilons != nullptr, apart = block.apart_high > 0.0F;
  // The rarer kinds share one loop: what is not asked for is compared with what is always true.
  if (block.row_offsets[0] != nullptr) {
    varying ? compare_pairs<true, true, true>(block, maybe, surely)
            : compare_pairs<false, true, true>(block, maybe, surely);
  } else if (varying) {
    compare_pairs<true, true, false>(block, maybe, surely);
  } else if (apart) {
    compare_pairs<false, true, false>(block, maybe, surely);
  } else {
    compare_pairs<false, false, false>(block, maybe, surely);
  }
}
