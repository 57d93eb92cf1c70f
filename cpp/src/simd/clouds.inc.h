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

// The bin of a number from -1 to 1 among 11 of equal width.
inline std::int32_t bin_of(double cosine) {
  const auto bin = static_cast<std::int32_t>((cosine + 1.0) * 5.5);
  const std::int32_t least = bin < 0 ? 0 : bin;
  return least > 10 ? 10 : least;
}

// See fpfh.h for the angles. Products of d with either normal, of the normals, and their triple product are all that is
// needed; the loop is left to the compiler.
void sort_pairs(const double* point, const double* normal, PairBatch& batch, std::size_t count) {
  // cos and sin of (2 m + 1) π / 11
  constexpr double kCosines[5] = {0.9594929736144974, 0.6548607339452851, 0.14231483827328512, -0.4154150130018863,
                                  -0.8412535328311811};
  constexpr double kSines[5] = {0.28173255684142967, 0.7557495743542583, 0.9898214418809327, 0.9096319953545184,
                                0.5406408174555978};
  const double px = point[0], py = point[1], pz = point[2], mx = normal[0], my = normal[1], mz = normal[2];
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
    std::int32_t sector = 0;
    for (int m = 0; m < 5; ++m) sector += up * kCosines[m] > along * kSines[m] ? 1 : 0;
    batch.squares[k] = square;
    batch.bins[0][k] = 5 + (signed_up < 0.0 ? -sector : sector);
    batch.bins[1][k] = bin_of(triple / root);
    batch.bins[2][k] = bin_of(first / length);
    batch.valid[k] = valid ? 1 : 0;
  }
}

void add_histograms(const float* histograms, const std::int32_t* indices, const float* weights, std::size_t count,
                    float* sum) {
  constexpr std::size_t kVectors = kHistogram / kFloatLanes;
  Floats sums[kVectors];
  for (Floats& part : sums) part = broadcast(0.0F);
  for (std::size_t k = 0; k < count; ++k) {
    const float* histogram = histograms + static_cast<std::size_t>(indices[k]) * kHistogram;
    const Floats weight = broadcast(weights[k]);
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] += weight * load(histogram + v * kFloatLanes);
  }
  for (std::size_t v = 0; v < kVectors; ++v) store(sum + v * kFloatLanes, sums[v]);
}
