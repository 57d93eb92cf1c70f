// Planes through the neighbours of points: see clouds/normals.h.

constexpr std::size_t kPlaneLanes = 8;  // partial sums over neighbours, and planes that are fitted at once

// Up to kBlock points, coordinates apart, filled up to a multiple of kPlaneLanes by points that are infinitely far
// away.
struct NearPoints {
  alignas(64) double x[kBlock], y[kBlock], z[kBlock];
};

#ifndef CLIPPERPLUS_OWN_GATHER_POINTS
template <class Points>
inline void gather_points(const double* points, const std::int32_t* near, std::size_t count, Points& gathered) {
  for (std::size_t k = 0; k < count; ++k) {
    const double* other = points + static_cast<std::size_t>(near[k]) * 4;
    gathered.x[k] = other[0], gathered.y[k] = other[1], gathered.z[k] = other[2];
  }
}
#endif

// How many points are within a distance of another, and the sums of their differences from it and of their products.
struct SpreadSums {
  static constexpr std::size_t kSums = 10;
  alignas(64) double lanes[kSums][kPlaneLanes];

  double sum(std::size_t s) const {
    static_assert(kPlaneLanes == 8);
    const double* l = lanes[s];
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
  }
};

#if defined(__AVX512F__)
constexpr std::size_t kDoubleLanes = 8;
#elif defined(__AVX__)
constexpr std::size_t kDoubleLanes = 4;
#else
constexpr std::size_t kDoubleLanes = 2;
#endif
using Doubles = Vector<double, kDoubleLanes>;

// A register's share of the lanes at a time, so that all sums stay in registers.
inline void add_near(const NearPoints& near, std::size_t padded, const double* self, double most, SpreadSums& sums) {
  const Doubles zero = {};
  for (std::size_t lane = 0; lane < kPlaneLanes; lane += kDoubleLanes) {
    const auto at = [](auto* numbers) -> auto& { return *reinterpret_cast<Doubles*>(const_cast<double*>(numbers)); };
    Doubles s[SpreadSums::kSums];
    for (std::size_t t = 0; t < SpreadSums::kSums; ++t) s[t] = at(sums.lanes[t] + lane);
    for (std::size_t k = lane; k < padded; k += kPlaneLanes) {
      const Doubles dx = at(near.x + k) - self[0], dy = at(near.y + k) - self[1], dz = at(near.z + k) - self[2];
      const auto inside = dx * dx + dy * dy + dz * dz <= zero + most;
      const Doubles x = choose(inside, dx, zero), y = choose(inside, dy, zero), z = choose(inside, dz, zero);
      s[0] += choose(inside, zero + 1.0, zero);
      s[1] += x, s[2] += y, s[3] += z;
      s[4] += x * x, s[5] += x * y, s[6] += x * z;
      s[7] += y * y, s[8] += y * z, s[9] += z * z;
    }
    for (std::size_t t = 0; t < SpreadSums::kSums; ++t) at(sums.lanes[t] + lane) = s[t];
  }
}

// kPlaneLanes symmetric matrices, their upper triangles row by row, and their eigenvectors.
struct Spreads {
  alignas(64) double a[6][kPlaneLanes];
  alignas(64) double vectors[3][3][kPlaneLanes];
};

// One of Jacobi's rotations in the plane of axes P and Q; R is the third.
template <std::size_t P, std::size_t Q>
inline void rotate(Spreads& s) {
  constexpr std::size_t kPlace[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
  constexpr std::size_t R = 3 - P - Q;
  for (std::size_t l = 0; l < kPlaneLanes; ++l) {
    double &pp = s.a[kPlace[P][P]][l], &qq = s.a[kPlace[Q][Q]][l], &pq = s.a[kPlace[P][Q]][l];
    double &rp = s.a[kPlace[R][P]][l], &rq = s.a[kPlace[R][Q]][l];
    const double off = pq, theta = (qq - pp) / (off != 0.0 ? 2.0 * off : 1.0), size = magnitude(theta);
    const double tangent = 1.0 / (size + square_root(theta * theta + 1.0));
    const double t = off != 0.0 ? (theta < 0.0 ? -tangent : tangent) : 0.0;
    const double c = 1.0 / square_root(t * t + 1.0), n = t * c, before_p = rp, before_q = rq;
    pp -= t * off;
    qq += t * off;
    pq = 0.0;
    rp = c * before_p - n * before_q;
    rq = n * before_p + c * before_q;
    for (std::size_t a = 0; a < 3; ++a) {
      double &vp = s.vectors[P][a][l], &vq = s.vectors[Q][a][l];
      const double old_p = vp, old_q = vq;
      vp = c * old_p - n * old_q;
      vq = n * old_p + c * old_q;
    }
  }
}

// Sweeps until every matrix is diagonal but for what rounding leaves; those that are go on with next to no turns.
inline void decompose(Spreads& s) {
  constexpr int kMostSweeps = 30;
  for (std::size_t p = 0; p < 3; ++p) {
    for (std::size_t a = 0; a < 3; ++a) {
      for (std::size_t l = 0; l < kPlaneLanes; ++l) s.vectors[p][a][l] = p == a ? 1.0 : 0.0;
    }
  }
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double open = 0.0;
    for (std::size_t l = 0; l < kPlaneLanes; ++l) {
      const double off = s.a[1][l] * s.a[1][l] + s.a[2][l] * s.a[2][l] + s.a[4][l] * s.a[4][l];
      const double on = s.a[0][l] * s.a[0][l] + s.a[3][l] * s.a[3][l] + s.a[5][l] * s.a[5][l];
      open += off > 1e-32 * on ? 1.0 : 0.0;
    }
    if (open == 0.0) return;
    rotate<0, 1>(s);
    rotate<0, 2>(s);
    rotate<1, 2>(s);
  }
}

void fit_planes(const double* points, const std::int32_t* indices, const std::int64_t* offsets, std::size_t first,
                std::size_t count, double square, FittedPlanes& planes) {
  NearPoints near;
  Spreads spreads;
  for (std::size_t begin = 0; begin < count; begin += kPlaneLanes) {
    double scales[kPlaneLanes];
    for (std::size_t l = 0; l < kPlaneLanes; ++l) {
      for (auto& row : spreads.a) row[l] = 0.0;
      scales[l] = 0.0;
      if (begin + l >= count) continue;
      const std::size_t i = first + begin + l;
      SpreadSums sums = {};
      const std::int32_t* mine = indices + offsets[i];
      const auto all = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
      for (std::size_t k = 0; k < all; k += kBlock) {
        const std::size_t part = all - k < kBlock ? all - k : kBlock;
        const std::size_t padded = (part + kPlaneLanes - 1) / kPlaneLanes * kPlaneLanes;
        gather_points(points, mine + k, part, near);
        for (std::size_t f = part; f < padded; ++f)
          near.x[f] = near.y[f] = near.z[f] = std::numeric_limits<double>::infinity();
        add_near(near, padded, points + 4 * i, square, sums);
      }
      const double counted = sums.sum(0), mean[3] = {sums.sum(1), sums.sum(2), sums.sum(3)};
      double largest = 0.0;
      for (std::size_t t = 0, p = 0; p < 3; ++p) {  // with the point itself
        for (std::size_t q = p; q < 3; ++q, ++t) {
          const double value = sums.sum(4 + t) - mean[p] * mean[q] / (counted + 1.0);
          spreads.a[t][l] = value;
          largest = magnitude(value) > largest ? magnitude(value) : largest;
        }
      }
      scales[l] = largest;
      for (auto& row : spreads.a) row[l] /= largest > 0.0 ? largest : 1.0;  // so that no square overflows or vanishes
      planes.counts[begin + l] = counted;
    }
    decompose(spreads);
    for (std::size_t l = 0; l < kPlaneLanes && begin + l < count; ++l) {
      const double values[3] = {spreads.a[0][l], spreads.a[3][l], spreads.a[5][l]};
      std::size_t least = values[1] < values[0] ? 1 : 0;
      least = values[2] < values[least] ? 2 : least;
      planes.x[begin + l] = spreads.vectors[least][0][l];
      planes.y[begin + l] = spreads.vectors[least][1][l];
      planes.z[begin + l] = spreads.vectors[least][2][l];
      planes.least[begin + l] = values[least] * scales[l];
      planes.total[begin + l] = (values[0] + values[1] + values[2]) * scales[l];
    }
  }
}
