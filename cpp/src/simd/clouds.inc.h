// The inner loops over a point's neighbours: which are near, and in which bins of a histogram they fall.

// Keeps the candidates within a squared distance of a point, without the point itself.
#ifndef CLIPPERPLUS_OWN_SELECT_NEAR
std::size_t select_near(const NearCandidates& candidates, const double* point, std::int32_t self, double square,
                        std::int32_t* near) {
  const double px = point[0], py = point[1], pz = point[2];
  std::size_t count = 0;
  for (std::size_t k = 0; k < candidates.count; ++k) {  // without a branch
    const double dx = candidates.x[k] - px, dy = candidates.y[k] - py, dz = candidates.z[k] - pz;
    near[count] = candidates.indices[k];
    count += static_cast<std::size_t>(dx * dx + dy * dy + dz * dz <= square) &
             static_cast<std::size_t>(candidates.indices[k] != self);
  }
  return count;
}
#endif

// The bin of a number from -1 to 1 among 11 of equal width, once its fraction is cut off.
inline double bin_of(double cosine) {
  const double place = (cosine + 1.0) * 5.5, least = place > 0.0 ? place : 0.0;
  return least < 10.0 ? least : 10.0;
}

// Up to kBlock neighbours of a point with their normals, and in which bins of a histogram the angles of each pair fall:
// kPairBins an angle, the last for pairs that have none.
struct PairBatch {
  alignas(64) double x[kBlock], y[kBlock], z[kBlock], nx[kBlock], ny[kBlock], nz[kBlock];
  alignas(64) double places[3][kBlock];  // bins with fractions
  alignas(64) std::int32_t bins[3][kBlock];
};
constexpr std::size_t kPairBins = 12;

#ifndef CLIPPERPLUS_OWN_GATHER_PAIRS
template <class Batch>
inline void gather_pairs(const double* oriented, const std::int32_t* near, std::size_t count, Batch& batch) {
  for (std::size_t k = 0; k < count; ++k) {
    const double* other = oriented + static_cast<std::size_t>(near[k]) * kOriented;
    batch.x[k] = other[0], batch.y[k] = other[1], batch.z[k] = other[2];
    batch.nx[k] = other[3], batch.ny[k] = other[4], batch.nz[k] = other[5];
  }
}
#endif

// See fpfh.h for the angles. Products of d with either normal, of the normals, and their triple product are all that is
// needed; the loop is left to the compiler, and has numbers of one width only.
inline void sort_pairs(const double* point, PairBatch& batch, std::size_t count) {
  // cos and sin of (2 m + 1) π / 11
  constexpr double kCosines[5] = {0.9594929736144974, 0.6548607339452851, 0.14231483827328512, -0.4154150130018863,
                                  -0.8412535328311811};
  constexpr double kSines[5] = {0.28173255684142967, 0.7557495743542583, 0.9898214418809327, 0.9096319953545184,
                                0.5406408174555978};
  const double px = point[0], py = point[1], pz = point[2], mx = point[3], my = point[4], mz = point[5];
  for (std::size_t k = 0; k < count; ++k) {
    const double dx = batch.x[k] - px, dy = batch.y[k] - py, dz = batch.z[k] - pz;
    const double ox = batch.nx[k], oy = batch.ny[k], oz = batch.nz[k];
    const double square = dx * dx + dy * dy + dz * dz;
    const double mine = mx * dx + my * dy + mz * dz, theirs = ox * dx + oy * dy + oz * dz;
    const double both = mx * ox + my * oy + mz * oz;
    // Taking the other point first turns d, n1 and n2 around: n1 · d = -theirs, n2 · d = -mine, and the triple product
    // (d × n1) · n2 stays.
    const bool swap = magnitude(mine) < magnitude(theirs);
    const double first = swap ? -theirs : mine, second = swap ? -mine : theirs;
    const double across = square - first * first;  // ‖d × n1‖²
    const bool valid = across > 1e-12 * square;
    const double triple = (dy * mz - dz * my) * ox + (dz * mx - dx * mz) * oy + (dx * my - dy * mx) * oz;
    const double root = square_root(valid ? across : 1.0), length = square_root(valid ? square : 1.0);
    const double signed_up = second - first * both, up = magnitude(signed_up), along = both * root;
    double sector = 0.0;
    for (int m = 0; m < 5; ++m) sector += up * kCosines[m] > along * kSines[m] ? 1.0 : 0.0;
    constexpr double kNone = kPairBins - 1;
    batch.places[0][k] = valid ? (signed_up < 0.0 ? 5.0 - sector : 5.0 + sector) : kNone;
    batch.places[1][k] = valid ? bin_of(triple / root) : kNone;
    batch.places[2][k] = valid ? bin_of(first / length) : kNone;
  }
  for (std::size_t angle = 0; angle < 3; ++angle) {
    for (std::size_t k = 0; k < count; ++k) {
      batch.bins[angle][k] = static_cast<std::int32_t>(batch.places[angle][k]);
    }
  }
}

// The same pairs in single precision: differences from a point, of at most about 1, and normals.
struct QuickPairs {
  alignas(64) float x[kBlock], y[kBlock], z[kBlock], nx[kBlock], ny[kBlock], nz[kBlock];
  alignas(64) float squares[kBlock];
  alignas(64) std::int32_t bins[3][kBlock], doubts[kBlock];
};
constexpr std::size_t kQuickPadding = 16;  // numbers are filled up to a multiple of this, by the last again

#ifndef CLIPPERPLUS_OWN_GATHER_QUICK_PAIRS
template <class Pairs>
inline void gather_quick_pairs(const double* oriented, const double* self, double scale, const std::int32_t* near,
                               std::size_t count, Pairs& pairs) {
  for (std::size_t k = 0; k < (count + kQuickPadding - 1) / kQuickPadding * kQuickPadding; ++k) {
    const double* other = oriented + static_cast<std::size_t>(near[k < count ? k : count - 1]) * kOriented;
    pairs.x[k] = static_cast<float>((other[0] - self[0]) * scale);
    pairs.y[k] = static_cast<float>((other[1] - self[1]) * scale);
    pairs.z[k] = static_cast<float>((other[2] - self[2]) * scale);
    pairs.nx[k] = static_cast<float>(other[3]);
    pairs.ny[k] = static_cast<float>(other[4]);
    pairs.nz[k] = static_cast<float>(other[5]);
  }
}
#endif

// Sorts as sort_pairs does, where single precision is enough to say what double precision does; the rest are doubts.
// With u = 2⁻²⁴ and ‖d × n1‖ > 0.2 ‖d‖, inner products are off by at most 8 u ‖d‖, ‖d × n1‖ by 40 u ‖d‖, f2 by 300 u
// and what f1's bounds are compared with by 60 u ‖d‖: the margins are more than twice as wide.
inline void sort_quick_pairs(const double* point, QuickPairs& pairs, std::size_t count) {
  constexpr float kCosines[5] = {0.9594929736144974F, 0.6548607339452851F, 0.14231483827328512F, -0.4154150130018863F,
                                 -0.8412535328311811F};
  constexpr float kSines[5] = {0.28173255684142967F, 0.7557495743542583F, 0.9898214418809327F, 0.9096319953545184F,
                               0.5406408174555978F};
  constexpr float kOrderMargin = 2e-6F, kSectorMargin = 8e-6F, kPlaceMargin = 2e-4F, kLeastAcross = 0.04F;
  constexpr float kShortest = 1e-20F, kLongest = 1e20F;
  const auto mx = static_cast<float>(point[3]), my = static_cast<float>(point[4]), mz = static_cast<float>(point[5]);
  for (std::size_t k = 0; k < (count + kQuickPadding - 1) / kQuickPadding * kQuickPadding; ++k) {
    const float dx = pairs.x[k], dy = pairs.y[k], dz = pairs.z[k];
    const float ox = pairs.nx[k], oy = pairs.ny[k], oz = pairs.nz[k];
    const float square = dx * dx + dy * dy + dz * dz, length = square_root(square);
    const float mine = mx * dx + my * dy + mz * dz, theirs = ox * dx + oy * dy + oz * dz;
    const float both = mx * ox + my * oy + mz * oz;
    const float larger = magnitude(mine) - magnitude(theirs);
    const bool swap = larger < 0.0F;
    const float first = swap ? -theirs : mine, second = swap ? -mine : theirs;
    const float across = square - first * first, root = square_root(across);
    const float triple = (dy * mz - dz * my) * ox + (dz * mx - dx * mz) * oy + (dx * my - dy * mx) * oz;
    const float signed_up = second - first * both, up = magnitude(signed_up), along = both * root;
    float nearest = along > 0.0F ? length : up;  // the border between the first bin and the last
    std::int32_t sector = 0;
    for (int m = 0; m < 5; ++m) {
      const float beyond = up * kCosines[m] - along * kSines[m];
      sector += beyond > 0.0F ? 1 : 0;
      nearest = magnitude(beyond) < nearest ? magnitude(beyond) : nearest;
    }
    const auto cut = [](float cosine) {
      const float place = (cosine + 1.0F) * 5.5F, least = place > 0.0F ? place : 0.0F;
      return least < 10.5F ? least : 10.5F;
    };
    const float second_place = cut(triple / root), third_place = cut(first / length);
    const auto second_bin = static_cast<std::int32_t>(second_place), third_bin = static_cast<std::int32_t>(third_place);
    const float second_off = magnitude(second_place - static_cast<float>(second_bin) - 0.5F);
    const float third_off = magnitude(third_place - static_cast<float>(third_bin) - 0.5F);
    pairs.squares[k] = square;
    pairs.bins[0][k] = signed_up < 0.0F ? 5 - sector : 5 + sector;
    pairs.bins[1][k] = second_bin;
    pairs.bins[2][k] = third_bin;
    const bool sure = (square > kShortest) & (square < kLongest) & (across > kLeastAcross * square) &
                      (magnitude(larger) > kOrderMargin * length) & (nearest > kSectorMargin * length) &
                      (second_off < 0.5F - kPlaceMargin) & (third_off < 0.5F - kPlaceMargin);
    pairs.doubts[k] = sure ? 0 : 1;
  }
}

// Sorts the doubtful pairs again.
inline void settle_doubts(const double* oriented, const double* point, const std::int32_t* near, std::size_t count,
                          QuickPairs& pairs) {
  std::int32_t doubtful[kBlock], which[kBlock];
  std::size_t found = 0;
  constexpr std::size_t kAtOnce = 8;  // most have none
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    std::int32_t any = 0;
    for (std::size_t k = begin; k < begin + kAtOnce; ++k) any |= pairs.doubts[k];
    if (any == 0) continue;
    for (std::size_t k = begin; k < begin + kAtOnce && k < count; ++k) {
      doubtful[found] = near[k];
      which[found] = static_cast<std::int32_t>(k);
      found += static_cast<std::size_t>(pairs.doubts[k]);
    }
  }
  if (found == 0) return;
  PairBatch batch;
  gather_pairs(oriented, doubtful, found, batch);
  sort_pairs(point, batch, found);
  for (std::size_t angle = 0; angle < 3; ++angle) {
    for (std::size_t k = 0; k < found; ++k) pairs.bins[angle][which[k]] = batch.bins[angle][k];
  }
}

void describe_pairs(const double* oriented, double scale, std::size_t self, const std::int32_t* near, std::size_t count,
                    std::int32_t* counts, float* weights) {
  constexpr float kLargestWeight = 1e30F;  // of a neighbour that is all but at the same place: no sum overflows
  constexpr std::size_t kCopies = 4;       // a count that is raised again at once would wait for itself
  std::int32_t copies[kCopies][3][kPairBins] = {};
  float unit = 0.0F;  // weights are relative to the first neighbour's: their scale is lost in the end
  const double* point = oriented + self * kOriented;
  QuickPairs pairs;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t part = count - begin < kBlock ? count - begin : kBlock;
    gather_quick_pairs(oriented, point, scale, near + begin, part, pairs);
    sort_quick_pairs(point, pairs, part);
    settle_doubts(oriented, point, near + begin, part, pairs);
    for (std::size_t angle = 0; angle < 3; ++angle) {
      const std::int32_t* bins = pairs.bins[angle];
      std::size_t k = 0;
      for (; k + kCopies <= part; k += kCopies) {
        for (std::size_t c = 0; c < kCopies; ++c) ++copies[c][angle][bins[k + c]];
      }
      for (; k < part; ++k) ++copies[0][angle][bins[k]];
    }
    for (std::size_t k = 0; k < part && unit == 0.0F; ++k) unit = pairs.squares[k];
    for (std::size_t k = 0; k < part; ++k) {
      const float square = pairs.squares[k], weight = unit / square;
      weights[begin + k] = square > 0.0F ? (kLargestWeight < weight ? kLargestWeight : weight) : 0.0F;
    }
  }
  for (std::size_t angle = 0; angle < 3; ++angle) {
    for (std::size_t b = 0; b < kPairBins - 1; ++b) {
      std::int32_t sum = 0;
      for (const auto& copy : copies) sum += copy[angle][b];
      counts[angle * (kPairBins - 1) + b] = sum;
    }
  }
}

void add_histograms(const float* histograms, const std::int32_t* indices, const float* weights, std::size_t count,
                    float* sum) {
  constexpr std::size_t kVectors = (kHistogramBins + kFloatLanes - 1) / kFloatLanes;
  Floats sums[kVectors];
  for (Floats& part : sums) part = broadcast(0.0F);
  for (std::size_t k = 0; k < count; ++k) {
    const float* histogram = histograms + static_cast<std::size_t>(indices[k]) * kHistogram;
    const Floats weight = broadcast(weights[k]);
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] += weight * load(histogram + v * kFloatLanes);
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(sum + v * kFloatLanes, sums[v]);
}
