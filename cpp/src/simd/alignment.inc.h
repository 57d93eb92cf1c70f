// The inner loops that lay one cloud on another, a block of points at a time: see clouds/alignment.h.

// The loops are left to the compiler; numbers of one width only are in each.
void move_points(const double* __restrict points, const double* __restrict motion, const GridFrame& frame,
                 double* __restrict places, std::int32_t* __restrict cells) {
  const double *x = points, *y = points + kBlock, *z = points + 2 * kBlock;
  const double per_cell = frame.per_cell;
  for (std::size_t a = 0; a < 3; ++a) {
    const double r0 = motion[3 * a], r1 = motion[3 * a + 1], r2 = motion[3 * a + 2], shift = motion[9 + a];
    const double low = frame.low[a], beyond = frame.beyond[a];
    alignas(64) double along[kBlock];
    for (std::size_t k = 0; k < kBlock; ++k) {
      const double place = r0 * x[k] + r1 * y[k] + r2 * z[k] + shift, cell = (place - low) * per_cell;
      places[a * kBlock + k] = place;
      along[k] = cell >= 0.0 ? (cell < beyond ? cell : beyond) : beyond;  // also what is no number
    }
    for (std::size_t k = 0; k < kBlock; ++k) cells[a * kBlock + k] = static_cast<std::int32_t>(along[k]);
  }
}

std::size_t count_explained(const double* __restrict matched, const double* __restrict motion, std::size_t count,
                            double square) {
  double r[12];
  for (std::size_t k = 0; k < 12; ++k) r[k] = motion[k];
  std::int64_t explained = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const double x = matched[k], y = matched[kBlock + k], z = matched[2 * kBlock + k];
    const double dx = (r[0] * x + r[1] * y + r[2] * z + r[9]) - matched[3 * kBlock + k];
    const double dy = (r[3] * x + r[4] * y + r[5] * z + r[10]) - matched[4 * kBlock + k];
    const double dz = (r[6] * x + r[7] * y + r[8] * z + r[11]) - matched[5 * kBlock + k];
    explained += dx * dx + dy * dy + dz * dz < square ? 1 : 0;
  }
  return static_cast<std::size_t>(explained);
}

// The points of a block's pairs, with their normals.
struct PairEnds {
  alignas(64) double x[kBlock], y[kBlock], z[kBlock], nx[kBlock], ny[kBlock], nz[kBlock];
};

// Calls visit(number, whether the points are near, whether the normals agree, too, difference, normal, square) for
// every pair; without a branch.
template <class Visit>
inline void for_each_pair(const PairBlock& block, PairEnds& ends, Visit visit) {
  gather_pairs(block.target, block.found, kBlock, ends);
  const double *mx = block.source + 3 * kBlock, *my = mx + kBlock, *mz = my + kBlock;
  const double *px = block.places, *py = px + kBlock, *pz = py + kBlock;
  const double* r = block.motion;
  const double r0 = r[0], r1 = r[1], r2 = r[2], r3 = r[3], r4 = r[4], r5 = r[5], r6 = r[6], r7 = r[7], r8 = r[8];
  const double most = block.square, least_cosine = block.least_cosine;
  for (std::size_t k = 0; k < kBlock; ++k) {
    const double dx = px[k] - ends.x[k], dy = py[k] - ends.y[k], dz = pz[k] - ends.z[k];
    const double nx = ends.nx[k], ny = ends.ny[k], nz = ends.nz[k];
    const double square = dx * dx + dy * dy + dz * dz;
    const double tx = r0 * mx[k] + r1 * my[k] + r2 * mz[k], ty = r3 * mx[k] + r4 * my[k] + r5 * mz[k],
                 tz = r6 * mx[k] + r7 * my[k] + r8 * mz[k];
    const double cosine = magnitude(tx * nx + ty * ny + tz * nz);
    const bool near = square <= most, agree = near & (cosine >= least_cosine);
    visit(k, near, agree, dx, dy, dz, nx, ny, nz, square);
  }
}

// sums[l] += the sum of x[k] y[k] over k = l, l + kPairLanes, …
inline void add_products(const double* __restrict x, const double* __restrict y, double* __restrict sums) {
  double lanes[kPairLanes];
  for (std::size_t l = 0; l < kPairLanes; ++l) lanes[l] = sums[l];
  for (std::size_t k = 0; k < kBlock; k += kPairLanes) {
    for (std::size_t l = 0; l < kPairLanes; ++l) lanes[l] += x[k + l] * y[k + l];
  }
  for (std::size_t l = 0; l < kPairLanes; ++l) sums[l] = lanes[l];
}

void add_overlap(const PairBlock& block, double* __restrict sums) {
  PairEnds ends;
  alignas(64) double near_ones[kBlock], ones[kBlock], squares[kBlock];
  for_each_pair(block, ends,
                [&](std::size_t k, bool near, bool agree, double dx, double dy, double dz, double nx, double ny,
                    double nz, double) {
                  const double distance = dx * nx + dy * ny + dz * nz;
                  near_ones[k] = near ? 1.0 : 0.0;
                  ones[k] = agree ? 1.0 : 0.0;
                  squares[k] = agree ? distance * distance : 0.0;
                });
  const double* bends = block.source + 6 * kBlock;
  add_products(near_ones, near_ones, sums);
  add_products(ones, ones, sums + kPairLanes);
  add_products(ones, bends, sums + 2 * kPairLanes);
  add_products(squares, bends, sums + 3 * kPairLanes);
}

void add_equations(const PairBlock& block, const double* centre, double fall, double* __restrict sums) {
  PairEnds ends;
  // Turns and normals, the same times the weight, and arms.
  alignas(64) double rows[6][kBlock], weighted[6][kBlock], arms[3][kBlock];
  alignas(64) double weights[kBlock], ones[kBlock], residuals[kBlock], reaches[kBlock], squares[kBlock];
  const double *px = block.places, *py = px + kBlock, *pz = py + kBlock;
  const double cx = centre[0], cy = centre[1], cz = centre[2];
  const double* masses = block.source + 6 * kBlock;
  for_each_pair(block, ends,
                [&](std::size_t k, bool, bool agree, double dx, double dy, double dz, double nx, double ny, double nz,
                    double square) {
                  const double rest = 1.0 - square * fall, residual = nx * dx + ny * dy + nz * dz;
                  // What does not count may be infinite.
                  weights[k] = agree ? rest * rest * masses[k] : 0.0;
                  residuals[k] = agree ? residual : 0.0;
                  arms[0][k] = agree ? px[k] - cx : 0.0;
                  arms[1][k] = agree ? py[k] - cy : 0.0;
                  arms[2][k] = agree ? pz[k] - cz : 0.0;
                });
  for (std::size_t k = 0; k < kBlock; ++k) {
    const double ax = arms[0][k], ay = arms[1][k], az = arms[2][k];
    const double nx = ends.nx[k], ny = ends.ny[k], nz = ends.nz[k], weight = weights[k];
    const double tx = ay * nz - az * ny, ty = az * nx - ax * nz, tz = ax * ny - ay * nx;
    rows[0][k] = tx, rows[1][k] = ty, rows[2][k] = tz, rows[3][k] = nx, rows[4][k] = ny, rows[5][k] = nz;
    weighted[0][k] = weight * tx, weighted[1][k] = weight * ty, weighted[2][k] = weight * tz;
    weighted[3][k] = weight * nx, weighted[4][k] = weight * ny, weighted[5][k] = weight * nz;
    reaches[k] = ax * ax + ay * ay + az * az;
    squares[k] = residuals[k] * residuals[k];
    ones[k] = 1.0;
  }
  const auto add = [&sums](const double* x, const double* y) {
    add_products(x, y, sums);
    sums += kPairLanes;
  };
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j <= i; ++j) add(weighted[i], rows[j]);
  }
  for (const auto& row : weighted) add(row, residuals);
  for (const auto& arm : arms) add(weights, arm);
  add(weights, ones);
  add(weights, squares);
  add(weights, reaches);
}

// The cube's face is that of the largest coordinate, the first of equal ones.
void look_at_points(const double* __restrict points, const double* __restrict motion, const double* __restrict place,
                    std::int32_t side, double* __restrict ranges, std::int32_t* __restrict pixels) {
  const double *px = points, *py = points + kBlock, *pz = points + 2 * kBlock;
  double r[12], p[3];
  for (std::size_t k = 0; k < 12; ++k) r[k] = motion[k];
  for (std::size_t a = 0; a < 3; ++a) p[a] = place[a];
  const double half = 0.5 * side, last = side - 1.0;
  alignas(64) double faces[kBlock], across[kBlock], down[kBlock];
  for (std::size_t k = 0; k < kBlock; ++k) {
    const double x = (r[0] * px[k] + r[1] * py[k] + r[2] * pz[k] + r[9]) - p[0];
    const double y = (r[3] * px[k] + r[4] * py[k] + r[5] * pz[k] + r[10]) - p[1];
    const double z = (r[6] * px[k] + r[7] * py[k] + r[8] * pz[k] + r[11]) - p[2];
    const double square = x * x + y * y + z * z, ax = magnitude(x), ay = magnitude(y), az = magnitude(z);
    const bool second = ay > ax;
    const double larger = second ? ay : ax;
    const bool third = az > larger;
    const double largest = third ? az : larger, along = third ? z : (second ? y : x);
    const double scale = half / (square > 0.0 ? largest : 1.0);  // what is at the place is in the middle of the first
    const double u = (third ? x : (second ? z : y)) * scale + half, v = (third ? y : (second ? x : z)) * scale + half;
    faces[k] = (third ? 4.0 : (second ? 2.0 : 0.0)) + (along < 0.0 ? 1.0 : 0.0);
    across[k] = u > 0.0 ? (u < last ? u : last) : 0.0;  // in this order, what is no number is 0
    down[k] = v > 0.0 ? (v < last ? v : last) : 0.0;
    ranges[k] = square_root(square);
  }
  for (std::size_t k = 0; k < kBlock; ++k) {
    pixels[k] = (static_cast<std::int32_t>(faces[k]) * side + static_cast<std::int32_t>(down[k])) * side +
                static_cast<std::int32_t>(across[k]);
  }
}
