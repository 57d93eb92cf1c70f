// Symmetric matrices of a few rows: eigenvalues by cyclic Jacobi rotations, and linear systems by Cholesky.
//
// Jacobi finds small eigenvectors to full precision, which closed formulas do not, and is done after a handful of
// sweeps at these sizes: about 0.2 µs for 3 × 3.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace clipperplus::inline v0 {

template <std::size_t N>
using Matrix = std::array<std::array<double, N>, N>;

template <std::size_t N>
struct EigenDecomposition {
  std::array<double, N> values;  // ascending
  Matrix<N> vectors;             // vectors[k]: unit length, of values[k]
};

// Of a finite, symmetric matrix; its upper triangle is read.
template <std::size_t N>
EigenDecomposition<N> decompose_symmetric(Matrix<N> a) {
  EigenDecomposition<N> result{};
  double largest = 0.0;
  for (std::size_t i = 0; i < N; ++i) {
    result.vectors[i][i] = 1.0;
    for (std::size_t j = i; j < N; ++j) largest = std::max(largest, std::abs(a[i][j]));
  }
  if (largest == 0.0) return result;
  for (auto& row : a) {
    for (double& value : row) value /= largest;  // so that no square overflows or vanishes
  }
  constexpr int kMostSweeps = 30;
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    double off = 0.0, diagonal = 0.0;
    for (std::size_t p = 0; p < N; ++p) {
      diagonal += a[p][p] * a[p][p];
      for (std::size_t q = p + 1; q < N; ++q) off += a[p][q] * a[p][q];
    }
    if (off <= 1e-32 * diagonal) break;
    for (std::size_t p = 0; p < N; ++p) {
      for (std::size_t q = p + 1; q < N; ++q) {
        if (a[p][q] == 0.0) continue;
        const double theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
        const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        a[p][p] -= t * a[p][q];
        a[q][q] += t * a[p][q];
        a[p][q] = 0.0;
        for (std::size_t r = 0; r < N; ++r) {
          if (r != p && r != q) {
            double& rp = r < p ? a[r][p] : a[p][r];
            double& rq = r < q ? a[r][q] : a[q][r];
            const double old = rp;
            rp = c * old - s * rq;
            rq = s * old + c * rq;
          }
          const double old = result.vectors[p][r];
          result.vectors[p][r] = c * old - s * result.vectors[q][r];
          result.vectors[q][r] = s * old + c * result.vectors[q][r];
        }
      }
    }
  }
  for (std::size_t i = 0; i < N; ++i) result.values[i] = a[i][i] * largest;
  for (std::size_t i = 1; i < N; ++i) {  // insertion sort, with the vectors
    for (std::size_t j = i; j > 0 && result.values[j] < result.values[j - 1]; --j) {
      std::swap(result.values[j], result.values[j - 1]);
      std::swap(result.vectors[j], result.vectors[j - 1]);
    }
  }
  return result;
}

// Solves a x = b for a positive definite matrix, of which the lower triangle is read; false where it is not.
template <std::size_t N>
bool solve_positive(Matrix<N> a, std::array<double, N>& b) {
  for (std::size_t j = 0; j < N; ++j) {
    double pivot = a[j][j];
    for (std::size_t k = 0; k < j; ++k) pivot -= a[j][k] * a[j][k];
    if (!(pivot > 1e-12 * a[j][j])) return false;
    a[j][j] = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < N; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = N; i-- > 0;) {
    for (std::size_t k = i + 1; k < N; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return true;
}

}  // namespace clipperplus::inline v0
