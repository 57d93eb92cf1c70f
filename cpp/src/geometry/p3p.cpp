#include "geometry/p3p.h"

#include <algorithm>
#include <cmath>

namespace clipperplus::inline v0 {

namespace {

constexpr double kSameDirection = 1e-12;  // 1 - cosine
constexpr double kOnLine = 1e-12;         // squared sine of the angle at a point
constexpr double kSameDepths = 1e-7;      // of the largest

Vector3 minus(const Vector3& a, const Vector3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector3 times(double factor, const Vector3& a) { return {factor * a[0], factor * a[1], factor * a[2]}; }

double form(const Matrix<3>& q, const Vector3& a, const Vector3& b) {
  return dot(a, {dot(q[0], b), dot(q[1], b), dot(q[2], b)});
}

double determinant(const Matrix<3>& q) { return dot(q[0], cross(q[1], q[2])); }

// The coefficient of γ in det(b + γ a).
double mixed(const Matrix<3>& b, const Matrix<3>& a) {
  return dot(a[0], cross(b[1], b[2])) + dot(b[0], cross(a[1], b[2])) + dot(b[0], cross(b[1], a[2]));
}

Matrix<3> combined(const Matrix<3>& a, double factor, const Matrix<3>& b) {
  Matrix<3> result;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i][j] = a[i][j] + factor * b[i][j];
  }
  return result;
}

double squared_size(const Matrix<3>& q) { return dot(q[0], q[0]) + dot(q[1], q[1]) + dot(q[2], q[2]); }

Matrix<3> normalised(Matrix<3> q) {
  const double size = std::sqrt(squared_size(q));
  for (auto& row : q) row = times(1.0 / size, row);
  return q;
}

// Real roots of x³ + a x² + b x + c; one or three, with a step of Newton's method or two.
std::size_t cubic_roots(double a, double b, double c, std::array<double, 3>& roots) {
  const double q = (a * a - 3.0 * b) / 9.0, r = (2.0 * a * a * a - 9.0 * a * b + 27.0 * c) / 54.0;
  std::size_t count = 1;
  if (r * r < q * q * q) {
    const double angle = std::acos(std::clamp(r / std::sqrt(q * q * q), -1.0, 1.0));
    constexpr double kThird = 2.0943951023931953;  // of a full turn
    for (std::size_t k = 0; k < 3; ++k) {
      roots[k] = -2.0 * std::sqrt(q) * std::cos(angle / 3.0 + kThird * static_cast<double>(k)) - a / 3.0;
    }
    count = 3;
  } else {
    const double large = -std::copysign(std::cbrt(std::abs(r) + std::sqrt(std::max(0.0, r * r - q * q * q))), r);
    roots[0] = large + (large != 0.0 ? q / large : 0.0) - a / 3.0;
  }
  for (std::size_t k = 0; k < count; ++k) {
    for (int step = 0; step < 2; ++step) {
      const double x = roots[k], slope = (3.0 * x + 2.0 * a) * x + b;
      if (slope != 0.0) roots[k] -= (((x + a) * x + b) * x + c) / slope;
    }
  }
  return count;
}

// A conic of the pencil of two that is a pair of real lines, as well conditioned as there is one.
Matrix<3> line_pair(const Matrix<3>& one, const Matrix<3>& two) {
  // det(one + γ two); the roots of the reversed cubic are 1 / γ.
  const double c3 = determinant(two), c2 = mixed(two, one), c1 = mixed(one, two), c0 = determinant(one);
  const bool reversed = std::abs(c3) < std::abs(c0);
  const Matrix<3>&first = reversed ? two : one, &second = reversed ? one : two;
  const double lead = reversed ? c0 : c3;
  std::array<double, 3> roots{};
  std::size_t count = 1;
  if (lead != 0.0) {
    count = reversed ? cubic_roots(c1 / c0, c2 / c0, c3 / c0, roots) : cubic_roots(c2 / c3, c1 / c3, c0 / c3, roots);
  }
  Matrix<3> best{};
  double least = INFINITY;
  for (std::size_t k = 0; k < count; ++k) {
    const Matrix<3> conic = normalised(combined(first, roots[k], second));
    // The product of the eigenvalues that are not zero: negative where the lines are real.
    double product = 0.0;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t j = (i + 1) % 3;
      product += conic[i][i] * conic[j][j] - conic[i][j] * conic[i][j];
    }
    if (product < least) least = product, best = conic;
  }
  return best;
}

struct Triangle {
  std::array<double, 3> squares;  // of the distances 1–2, 1–3, 2–3
  std::array<double, 3> cosines;  // of the angles between the same directions
};

constexpr std::array<std::array<std::size_t, 2>, 3> kSides{{{0, 1}, {0, 2}, {1, 2}}};

// The cone of a side: dᵀ M d is the squared distance.
Matrix<3> cone(const Triangle& triangle, std::size_t side) {
  const auto [i, j] = kSides[side];
  Matrix<3> m{};
  m[i][i] = m[j][j] = 1.0;
  m[i][j] = m[j][i] = -triangle.cosines[side];
  return m;
}

// Newton's method on the three distances; false where it does not arrive.
bool polish(const Triangle& triangle, Vector3& depths) {
  double size = 0.0;
  for (int step = 0; step < 5; ++step) {
    Vector3 misses;
    Matrix<3> slopes{};
    size = 0.0;
    for (std::size_t side = 0; side < 3; ++side) {
      const auto [i, j] = kSides[side];
      const double a = depths[i], b = depths[j], cosine = triangle.cosines[side];
      misses[side] = a * a + b * b - 2.0 * cosine * a * b - triangle.squares[side];
      slopes[side][i] = 2.0 * (a - cosine * b);
      slopes[side][j] = 2.0 * (b - cosine * a);
      size = std::max(size, std::abs(misses[side]));
    }
    if (size < 1e-14 * dot(depths, depths)) break;  // as near as rounding lets them
    const double whole = determinant(slopes);
    if (whole == 0.0) break;
    const Vector3 of_rows[] = {cross(slopes[1], slopes[2]), cross(slopes[2], slopes[0]), cross(slopes[0], slopes[1])};
    for (std::size_t k = 0; k < 3; ++k) {
      depths[k] -= (misses[0] * of_rows[0][k] + misses[1] * of_rows[1][k] + misses[2] * of_rows[2][k]) / whole;
    }
  }
  return size < 1e-6 && depths[0] > 0.0 && depths[1] > 0.0 && depths[2] > 0.0;
}

// An orthonormal frame of a triangle, as rows: along its first side, across, normal.
Matrix<3> frame(const Vector3& side, const Vector3& other) {
  const Vector3 along = times(1.0 / std::sqrt(dot(side, side)), side);
  const Vector3 up = cross(along, other);
  const Vector3 normal = times(1.0 / std::sqrt(dot(up, up)), up);
  return {along, cross(normal, along), normal};
}

class Solver {
 public:
  Solver(const std::array<Vector3, 3>& points, const std::array<Vector3, 3>& directions)
      : points_(points), directions_(directions) {}

  CameraPoses solve() {
    const Vector3 side = minus(points_[1], points_[0]), other = minus(points_[2], points_[0]);
    const Vector3 normal = cross(side, other);
    unit_ = std::sqrt(std::max({dot(side, side), dot(other, other), 1e-300}));
    if (!(dot(normal, normal) > kOnLine * dot(side, side) * dot(other, other))) return found_;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [i, j] = kSides[k];
      const Vector3 gap = times(1.0 / unit_, minus(points_[i], points_[j]));
      triangle_.squares[k] = dot(gap, gap);
      triangle_.cosines[k] = dot(directions_[i], directions_[j]);
      if (!(triangle_.cosines[k] < 1.0 - kSameDirection)) return found_;
    }
    here_ = frame(side, other);
    const Matrix<3> last = cone(triangle_, 2);
    std::array<Matrix<3>, 2> conics;
    for (std::size_t k = 0; k < 2; ++k) {
      Matrix<3> scaled = cone(triangle_, k);
      for (auto& row : scaled) row = times(triangle_.squares[2], row);
      conics[k] = normalised(combined(scaled, -triangle_.squares[k], last));
    }
    const Matrix<3> lines = line_pair(conics[0], conics[1]);
    // What is farther from the lines themselves meets them better.
    const auto distance = [&](const Matrix<3>& conic) {
      double product = 0.0;
      for (std::size_t i = 0; i < 3; ++i) product += dot(conic[i], lines[i]);
      return std::abs(product);
    };
    const Matrix<3>& conic = conics[distance(conics[0]) < distance(conics[1]) ? 0 : 1];
    // Of lines l and m the conic is l m' + m l', its adjugate - p p' with p = l × m, and adding [p]× leaves 2 l m'.
    const Matrix<3> adjugate{cross(lines[1], lines[2]), cross(lines[2], lines[0]), cross(lines[0], lines[1])};
    std::size_t k = 0;
    for (std::size_t i = 1; i < 3; ++i) {
      if (adjugate[i][i] < adjugate[k][k]) k = i;
    }
    if (!(adjugate[k][k] < 0.0)) return found_;
    const Vector3 p = times(1.0 / std::sqrt(-adjugate[k][k]), adjugate[k]);
    Matrix<3> product = lines;
    product[0][1] -= p[2], product[0][2] += p[1], product[1][2] -= p[0];
    product[1][0] += p[2], product[2][0] -= p[1], product[2][1] += p[0];
    std::size_t row = 0, column = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        if (std::abs(product[i][j]) > std::abs(product[row][column])) row = i, column = j;
      }
    }
    meet(conic, product[row]);
    meet(conic, {product[0][column], product[1][column], product[2][column]});
    return found_;
  }

 private:
  // Where a line, of the plane of depths with this normal, meets a conic.
  void meet(const Matrix<3>& conic, const Vector3& normal) {
    std::size_t smallest = 0;
    for (std::size_t k = 1; k < 3; ++k) {
      if (std::abs(normal[k]) < std::abs(normal[smallest])) smallest = k;
    }
    Vector3 axis{};
    axis[smallest] = 1.0;
    const Vector3 u = cross(normal, axis), v = cross(normal, u);
    const double uu = dot(u, u), vv = dot(v, v);
    if (!(uu > 0.0 && vv > 0.0)) return;
    const Vector3 p = times(1.0 / std::sqrt(uu), u), q = times(1.0 / std::sqrt(vv), v);
    // a α² + 2 b α β + c β² = 0
    const double a = form(conic, p, p), b = form(conic, p, q), c = form(conic, q, q);
    const double under_root = b * b - a * c;
    // A double root that rounding moved off the axis is still there.
    if (!(under_root > -1e-10 * (b * b + std::abs(a * c)))) return;
    const double larger = -(b + std::copysign(std::sqrt(std::max(0.0, under_root)), b));
    add(minus(times(larger, p), times(-a, q)));
    add(minus(times(c, p), times(-larger, q)));
  }

  void add(Vector3 depths) {
    if (depths[0] + depths[1] + depths[2] < 0.0) depths = times(-1.0, depths);
    if (!(std::min({depths[0], depths[1], depths[2]}) > 0.0) || found_.count == 4) return;
    double seen = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      seen += form(cone(triangle_, k), depths, depths);
      squares += triangle_.squares[k];
    }
    depths = times(std::sqrt(squares / seen), depths);
    if (!polish(triangle_, depths)) return;
    const double largest = std::max({depths[0], depths[1], depths[2]});
    for (std::size_t k = 0; k < found_.count; ++k) {
      const Vector3 gap = minus(depths, known_[k]);
      if (dot(gap, gap) < kSameDepths * kSameDepths * largest * largest) return;
    }
    std::array<Vector3, 3> places;
    for (std::size_t k = 0; k < 3; ++k) places[k] = times(unit_ * depths[k], directions_[k]);
    const Matrix<3> there = frame(minus(places[1], places[0]), minus(places[2], places[0]));
    RigidMotion& motion = found_.motions[found_.count];
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        motion.rotation[i][j] = there[0][i] * here_[0][j] + there[1][i] * here_[1][j] + there[2][i] * here_[2][j];
      }
    }
    motion.translation = minus(places[0], motion.turn(points_[0].data()));
    for (double x : motion.translation) {
      if (!std::isfinite(x)) return;
    }
    known_[found_.count++] = depths;
  }

  const std::array<Vector3, 3>&points_, &directions_;
  double unit_ = 1.0;
  Triangle triangle_{};
  Matrix<3> here_{};
  std::array<Vector3, 4> known_{};
  CameraPoses found_;
};

}  // namespace

CameraPoses solve_p3p(const std::array<Vector3, 3>& points, const std::array<Vector3, 3>& directions) {
  return Solver(points, directions).solve();
}

}  // namespace clipperplus::inline v0
