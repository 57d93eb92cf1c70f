// Inner products of 64 rows with 64 columns, and which of them are below a limit of their row or of their column.
// Uses Floats of the instruction set: tiles of kTileRows × kTileVectors registers stay in registers over all
// dimensions, so a step is one load for each vector, one broadcast for each row and a fused operation for each of the
// tile.

void compare_features(const FeatureBlock& block, float* products, Word* hits) {
  constexpr std::size_t kTileRows = 4, kTileVectors = kFloatLanes == 16 ? 4 : 2;
  constexpr std::size_t kTileColumns = kTileVectors * kFloatLanes;
  for (std::size_t i = 0; i < kBlock; ++i) hits[i] = 0;
  for (std::size_t c = 0; c < kBlock; c += kTileColumns) {
    for (std::size_t r = 0; r < kBlock; r += kTileRows) {
      Floats sums[kTileRows][kTileVectors];
      for (auto& row : sums) {
        for (Floats& sum : row) sum = broadcast(0.0F);
      }
      for (std::size_t d = 0; d < block.dimensions; ++d) {
        Floats columns[kTileVectors];
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          columns[v] = load(block.columns + d * kBlock + c + v * kFloatLanes);
        }
        for (std::size_t i = 0; i < kTileRows; ++i) {
          const Floats value = broadcast(block.rows[(r + i) * block.dimensions + d]);
          for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] = fused(value, columns[v], sums[i][v]);
        }
      }
      for (std::size_t i = 0; i < kTileRows; ++i) {
        const Floats row_limit = broadcast(block.row_limits[r + i]);
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          const std::size_t j = c + v * kFloatLanes;
          store(products + (r + i) * kBlock + j, sums[i][v]);
          hits[r + i] |= less(sums[i][v], larger(row_limit, load(block.column_limits + j))) << j;
        }
      }
    }
  }
}
