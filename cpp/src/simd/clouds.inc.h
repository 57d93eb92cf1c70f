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
  alignas(64) double squares[kBlock];    // of the distances
  alignas(64) double places[3][kBlock];  // bins with fractions
  alignas(64) std::int32_t bins[3][kBlock];
};
constexpr std::size_t kPairBins = 12;

#ifndef CLIPPERPLUS_OWN_GATHER_PAIRS
inline void gather_pairs(const double* oriented, const std::int32_t* near, std::size_t count, PairBatch& batch) {
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
    const bool swap = __builtin_fabs(mine) < __builtin_fabs(theirs);
    const double first = swap ? -theirs : mine, second = swap ? -mine : theirs;
    const double across = square - first * first;  // ‖d × n1‖²
    const bool valid = across > 1e-12 * square;
    const double triple = (dy * mz - dz * my) * ox + (dz * mx - dx * mz) * oy + (dx * my - dy * mx) * oz;
    const double root = __builtin_sqrt(valid ? across : 1.0), length = __builtin_sqrt(valid ? square : 1.0);
    const double signed_up = second - first * both, up = __builtin_fabs(signed_up), along = both * root;
    double sector = 0.0;
    for (int m = 0; m < 5; ++m) sector += up * kCosines[m] > along * kSines[m] ? 1.0 : 0.0;
    constexpr double kNone = kPairBins - 1;
    batch.squares[k] = square;
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

void describe_pairs(const double* oriented, std::size_t self, const std::int32_t* near, std::size_t count,
                    std::int32_t* counts, float* weights) {
  constexpr double kLargestWeight = 1e30;  // of a neighbour that is all but at the same place: no sum overflows
  constexpr std::size_t kCopies = 4;       // a count that is raised again at once would wait for itself
  std::int32_t copies[kCopies][3][kPairBins] = {};
  double unit = 0.0;  // weights are relative to the first neighbour's: their scale is lost in the end
  PairBatch batch;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t part = count - begin < kBlock ? count - begin : kBlock;
    gather_pairs(oriented, near + begin, part, batch);
    sort_pairs(oriented + self * kOriented, batch, part);
    for (std::size_t angle = 0; angle < 3; ++angle) {
      const std::int32_t* bins = batch.bins[angle];
      std::size_t k = 0;
      for (; k + kCopies <= part; k += kCopies) {
        for (std::size_t c = 0; c < kCopies; ++c) ++copies[c][angle][bins[k + c]];
      }
      for (; k < part; ++k) ++copies[0][angle][bins[k]];
    }
    for (std::size_t k = 0; k < part && unit == 0.0; ++k) unit = batch.squares[k];
    for (std::size_t k = 0; k < part; ++k) {
      const double square = batch.squares[k], weight = unit / square;
      weights[begin + k] = square > 0.0 ? static_cast<float>(kLargestWeight < weight ? kLargestWeight : weight) : 0.0F;
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
