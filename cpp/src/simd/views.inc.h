// What a surface looks like from a place: see clouds/viewpoints.h. The loops are left to the compiler.

std::size_t count_torn(const PlanePairs& pairs, const double* place) {
  const double px = place[0], py = place[1], pz = place[2];
  const auto in_front = [&](const double* const* plane, std::size_t k) {
    return px * plane[0][k] + py * plane[1][k] + pz * plane[2][k] - plane[3][k];
  };
  std::int64_t torn = 0;
  for (std::size_t k = 0; k < pairs.count; ++k) {
    torn += in_front(pairs.first, k) * in_front(pairs.second, k) < 0.0 ? 1 : 0;
  }
  return static_cast<std::size_t>(torn);
}

void see_points(const double* __restrict points, const double* __restrict place, Sightings& __restrict seen) {
  constexpr double kDensityFloor = 0.05;  // added to cosines whose logarithm is taken
  const double px = place[0], py = place[1], pz = place[2];
  for (std::size_t k = 0; k < kBlock; ++k) {
    const double x = points[k] - px, y = points[kBlock + k] - py, z = points[2 * kBlock + k] - pz;
    const double nx = points[3 * kBlock + k], ny = points[4 * kBlock + k], nz = points[5 * kBlock + k];
    const double square = x * x + y * y + z * z, range = square_root(square);
    const double cosine = magnitude(x * nx + y * ny + z * nz) / range;
    seen.ranges[k] = range;
    seen.cosines[k] = cosine < 1.0 ? cosine : 1.0;
    seen.ratios[k] = square / (seen.cosines[k] + kDensityFloor);
  }
}

void see_slopes(const Sightings& __restrict seen, double angle, double* __restrict reaches) {
  constexpr double kSlopeFloor = 1e-3;  // what is steeper is seen from the side
  for (std::size_t k = 0; k < kBlock; ++k) {
    const double cosine = seen.cosines[k], least = cosine < kSlopeFloor ? kSlopeFloor : cosine;
    reaches[k] = seen.ranges[k] * (1.0 + angle * (square_root(1.0 - cosine * cosine) / least));
  }
}

// log(x) for positive, normal numbers, off by less than a unit in the last place: x = 2ᵉ (1 + f), √½ ≤ 1 + f < √2,
// s = f / (2 + f), and a polynomial for log(1 + f) = 2 artanh s (Sun Microsystems' fdlibm, e_log.c).
inline double logarithm(double x) {
  constexpr std::uint64_t kHalfRoot = 0x3FE6A09E667F3BCDULL, kOne = 0x3FF0000000000000ULL;
  constexpr std::uint64_t kMagic = 0x4330000000000000ULL;  // 2⁵²: a small number in its last bits is added to it
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const std::uint64_t exponent = (bits + (kOne - kHalfRoot)) >> 52;
  const std::uint64_t exponent_bits = exponent | kMagic, mantissa_bits = bits - (exponent << 52) + kOne;
  double e, mantissa;
  std::memcpy(&e, &exponent_bits, sizeof e);
  std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
  e -= 0x1p52 + 1023.0;
  const double f = mantissa - 1.0, s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
  const double odd = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double even =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  return e * 6.93147180369123816490e-01 - ((half - (s * (half + odd + even) + e * 1.90821492927058770002e-10)) - f);
}

void add_sightings(const Sightings& __restrict seen, double divisor, const double* __restrict densities,
                   double* __restrict sums) {
  constexpr double kGrazing = 0.1;  // the cosine of the angle between a normal and a line of sight that grazes
  constexpr double kLeast = 0x1p-1022, kMost = 0x1.fffffffffffffp1023;
  alignas(64) double spreads[kBlock], quotients[kBlock];
  std::int64_t odd = 0;
  for (std::size_t k = 0; k < kBlock; ++k) quotients[k] = seen.ratios[k] / divisor;
  for (std::size_t k = 0; k < kBlock; ++k) odd += ((quotients[k] >= kLeast) & (quotients[k] <= kMost)) ? 0 : 1;
  for (std::size_t k = 0; k < kBlock; ++k) spreads[k] = 0.5 * logarithm(quotients[k]);
  for (std::size_t k = 0; odd != 0 && k < kBlock; ++k) {
    if (!(quotients[k] >= kLeast && quotients[k] <= kMost)) spreads[k] = 0.5 * std::log(quotients[k]);
  }
  double lanes[kSightingSums][kPairLanes];
  for (std::size_t s = 0; s < kSightingSums; ++s) {
    for (std::size_t l = 0; l < kPairLanes; ++l) lanes[s][l] = sums[s * kPairLanes + l];
  }
  for (std::size_t begin = 0; begin < kBlock; begin += kPairLanes) {
    for (std::size_t l = 0; l < kPairLanes; ++l) {
      const std::size_t k = begin + l;
      const bool counts = seen.ranges[k] > 0.0;
      const double spread = counts ? spreads[k] : 0.0, density = counts ? densities[k] : 0.0;
      lanes[0][l] += counts ? 1.0 : 0.0;
      lanes[1][l] += spread;
      lanes[2][l] += spread * spread;
      lanes[3][l] += spread * density;
      lanes[4][l] += density;
      lanes[5][l] += density * density;
      lanes[6][l] += (counts & (seen.cosines[k] < kGrazing)) ? 1.0 : 0.0;
    }
  }
  for (std::size_t s = 0; s < kSightingSums; ++s) {
    for (std::size_t l = 0; l < kPairLanes; ++l) sums[s * kPairLanes + l] = lanes[s][l];
  }
}
