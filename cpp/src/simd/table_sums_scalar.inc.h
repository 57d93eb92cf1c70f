// table_sums without vector permutes: one look-up in a 256-entry table per row and eight columns. A byte's entry is
// (sum over its low four columns) + (sum over its high four), as the vector path adds them.
//
// Cost: one load of a byte, one of a table entry and one add per eight matrix entries, about a cycle; the floor of the
// AVX-512 path is 0.375 cycles.
void table_sums(const Word* blocks, std::size_t row_blocks, std::size_t column_blocks, const double* tables,
                double* y) {
  constexpr std::size_t kBytes = sizeof(Word);
  constexpr std::size_t kEntries = 256;
  alignas(64) double bytes[kBytes][kEntries];  // 16 KiB: lives in the first-level cache
  for (std::size_t i = 0; i < row_blocks * kBlock; ++i) y[i] = 0.0;
  for (std::size_t c = 0; c < column_blocks; ++c) {
    for (std::size_t b = 0; b < kBytes; ++b) {
      const double* low = tables + (c * kBytes + b) * 32;
      const double* high = low + 16;
      for (std::size_t h = 0; h < 16; ++h) {
        for (std::size_t l = 0; l < 16; ++l) bytes[b][h * 16 + l] = low[l] + high[h];
      }
    }
    for (std::size_t r = 0; r < row_blocks; ++r) {
      const Word* block = blocks + (r * column_blocks + c) * kBlock;
      double* out = y + r * kBlock;
      for (std::size_t i = 0; i < kBlock; i += 4) {
        double sums[4] = {out[i], out[i + 1], out[i + 2], out[i + 3]};
        for (std::size_t b = 0; b < kBytes; ++b) {
          for (std::size_t k = 0; k < 4; ++k) sums[k] += bytes[b][(block[i + k] >> (8 * b)) & 0xFF];
        }
        for (std::size_t k = 0; k < 4; ++k) out[i + k] = sums[k];
      }
    }
  }
}
