// Squared distances of 64 features from 64 others, and which of them are below a limit of their row or of their column.
// Uses Floats of the instruction set: tiles of kTileRows × kTileVectors registers stay in registers over all
// dimensions, so a step is one load for each vector, one broadcast for each row and a fused operation for each of the
// tile.

inline std::size_t feature_stride(std::size_t dimensions) {
  return (dimensions + kFeaturePadding - 1) / kFeaturePadding * kFeaturePadding;
}

void compare_features(const FeatureBlock& block, float* squares, Word* hits) {
  constexpr std::size_t kTileRows = 4, kTileVectors = kFloatLanes == 16 ? 4 : 2;
  constexpr std::size_t kTileColumns = kTileVectors * kFloatLanes;
  const std::size_t stride = feature_stride(block.dimensions);
  for (std::size_t i = 0; i < kBlock; ++i) hits[i] = 0;
  for (std::size_t c = 0; c < kBlock; c += kTileColumns) {
    for (std::size_t r = 0; r < kBlock; r += kTileRows) {
      Floats sums[kTileRows][kTileVectors];
      for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          sums[i][v] = broadcast(block.row_squares[r + i]) + load(block.column_squares + c + v * kFloatLanes);
        }
      }
      for (std::size_t d = 0; d < block.dimensions; ++d) {
        Floats columns[kTileVectors];
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          columns[v] = load(block.columns + d * kBlock + c + v * kFloatLanes);
        }
        for (std::size_t i = 0; i < kTileRows; ++i) {
          const Floats value = broadcast(block.rows[(r + i) * stride + d]);
          for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] = fused(value, columns[v], sums[i][v]);
        }
      }
      for (std::size_t i = 0; i < kTileRows; ++i) {
        const Floats row_limit = broadcast(block.row_limits[r + i]);
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          const std::size_t j = c + v * kFloatLanes;
          store(squares + (r + i) * kBlock + j, sums[i][v]);
          hits[r + i] |= less(sums[i][v], larger(row_limit, load(block.column_limits + j))) << j;
        }
      }
    }
  }
}

// The same tiles, but of bounds: each begins with the squares of both, and most end after the first part, with nothing
// below a limit.
std::size_t bound_features(const BoundBlock& block, Word* hits) {
  constexpr std::size_t kTileRows = 4, kTileVectors = kFloatLanes == 16 ? 4 : 2;
  constexpr std::size_t kTileColumns = kTileVectors * kFloatLanes;
  std::size_t count = 0;
  for (std::size_t r = 0; r < kBlock; r += kTileRows) {
    Word found[kTileRows] = {};
    for (std::size_t c = 0; c < kBlock; c += kTileColumns) {
      Floats sums[kTileRows][kTileVectors];
      const auto add = [&](std::size_t begin, std::size_t end) {
        for (std::size_t d = begin; d < end; ++d) {
          Floats columns[kTileVectors];
          for (std::size_t v = 0; v < kTileVectors; ++v) {
            columns[v] = load(block.columns + d * kBlock + c + v * kFloatLanes);
          }
          for (std::size_t i = 0; i < kTileRows; ++i) {
            const Floats value = broadcast(block.rows[(r + i) * kBoundWidth + d]);
            for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] = fused(value, columns[v], sums[i][v]);
          }
        }
      };
      const auto squares = [&](std::size_t i, std::size_t v, std::size_t part) {
        return broadcast(block.rows[(r + i) * kBoundWidth + part]) +
               load(block.columns + part * kBlock + c + v * kFloatLanes);
      };
      for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] = squares(i, v, 0);
      }
      add(2, 2 + kBoundFirst);
      const auto limit = [&](std::size_t i, std::size_t v) {
        return larger(broadcast(block.row_limits[r + i]), load(block.column_limits + c + v * kFloatLanes));
      };
      Floats least = broadcast(0.0F);
      for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t v = 0; v < kTileVectors; ++v) least = smaller(least, sums[i][v] - limit(i, v));
      }
      if (less(least, broadcast(0.0F)) == 0) continue;
      for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t v = 0; v < kTileVectors; ++v) sums[i][v] += squares(i, v, 1);
      }
      add(2 + kBoundFirst, kBoundWidth);
      for (std::size_t i = 0; i < kTileRows; ++i) {
        for (std::size_t v = 0; v < kTileVectors; ++v) {
          found[i] |= less(sums[i][v], limit(i, v)) << (c + v * kFloatLanes);
        }
      }
    }
    for (std::size_t i = 0; i < kTileRows; ++i) {
      hits[r + i] = found[i];
      count += bit_count(found[i]);
    }
  }
  return count;
}

// Four at a time; the last is measured again where that is more than there are.
void measure_features(const float* feature, const float* others, std::size_t dimensions, Word which, float* squares) {
  constexpr std::size_t kAtOnce = 4;
  const std::size_t stride = feature_stride(dimensions);
  for (; which != 0; squares += kAtOnce) {
    const float* chosen[kAtOnce];
    for (const float*& other : chosen) {
      other = others + lowest_bit(which) * stride;
      which = (which & (which - 1)) != 0 || &other == chosen + kAtOnce - 1 ? which & (which - 1) : which;
    }
    Floats sums[kAtOnce];
    for (Floats& sum : sums) sum = broadcast(0.0F);
    for (std::size_t k = 0; k < dimensions; k += kFloatLanes) {
      const Floats mine = load(feature + k);
      for (std::size_t i = 0; i < kAtOnce; ++i) {
        const Floats difference = mine - load(chosen[i] + k);
        sums[i] = fused(difference, difference, sums[i]);
      }
    }
    totals(sums, squares);
  }
}
