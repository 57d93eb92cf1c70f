#include "ascent/objective.h"

#include <algorithm>
#include <cmath>

namespace clipperplus::inline v0 {

Objective::Objective(const Graph& graph, const EdgeWeights* weights, const simd::Kernels& kernels, Control& control)
    : weights_(weights),
      kernels_(kernels),
      control_(control),
      n_(graph.num_vertices()),
      padded_(round_up(n_, simd::kBlock)),
      sums_(graph, kernels, control) {
  constexpr std::size_t kMostVertices = 1024;  // 8 MiB
  constexpr std::size_t kLeastShare = 8;
  if (weights != nullptr && n_ <= kMostVertices && kLeastShare * weights->num_entries() > n_ * n_) make_dense();
}

void Objective::make_dense() {
  dense_.assign(n_ * padded_, 0.0);
  for (std::size_t v = 0; v < n_; ++v) {
    double* column = dense_.data() + v * padded_;
    column[v] = 1.0;
    weights_->for_each_entry(v, [column](std::size_t u, double weight) { column[u] = weight; });
  }
}

AscentPoint Objective::point() const {
  const AlignedVector<double> zeros(padded_, 0.0);
  return {zeros, zeros, weights_ == nullptr ? AlignedVector<double>() : zeros, zeros};
}

void Objective::begin(std::span<const double> start, AscentPoint& scratch, AscentPoint& point) {
  const double largest = *std::max_element(start.begin(), start.end());
  std::transform(start.begin(), start.end(), scratch.u.begin(), [=](double x) { return x / largest; });
  rescale(scratch, 1.0);
  std::fill(scratch.u.begin(), scratch.u.end(), 0.0);
  for (std::size_t i = 0; i < n_; ++i) {
    scratch.gradient[i] = weights_ == nullptr ? scratch.sum - scratch.y[i] : scratch.m[i];
  }
  std::fill(scratch.gradient.begin() + static_cast<std::ptrdiff_t>(n_), scratch.gradient.end(), 0.0);
  move(scratch, scratch.gradient, 1.0, point);
}

void Objective::move(const AscentPoint& origin, const AlignedVector<double>& direction, double alpha,
                     AscentPoint& target) {
  const double squared_norm = kernels_.step(origin.u.data(), direction.data(), alpha, padded_, target.u.data());
  rescale(target, 1.0 / std::sqrt(squared_norm));
}

void Objective::rescale(AscentPoint& point, double factor) {
  const auto scaled = kernels_.scale(point.u.data(), factor, padded_);
  point.sum = scaled.sum;
  point.nonzeros = scaled.nonzeros;
  sums_.compute(point.u.data(), point.sum, point.nonzeros, point.y.data());
  if (!dense_.empty()) {
    kernels_.add_columns(dense_.data(), point.u.data(), n_, padded_, point.m.data());
  } else if (weights_ != nullptr) {
    weights_->multiply(point.u.data(), point.m.data(), control_);
  }
}

void Objective::evaluate(AscentPoint& point, double d) const {
  if (weights_ == nullptr) {
    point.value = kernels_.gradient(point.y.data(), point.u.data(), point.sum, d, padded_, point.gradient.data());
    return;
  }
  point.value = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    point.gradient[i] = point.m[i] - d * point.y[i];
    point.value += point.u[i] * point.gradient[i];
  }
}

simd::AscentResult Objective::project(AscentPoint& point, const AscentPoint& origin) const {
  return kernels_.project(point.gradient.data(), point.value, point.u.data(), origin.u.data(), origin.gradient.data(),
                          padded_);
}

std::optional<double> Objective::smallest_ratio(const AscentPoint& point, double epsilon) const {
  std::optional<double> smallest;
  for (std::size_t i = 0; i < n_; ++i) {
    const double y = point.y[i];
    if (point.u[i] > epsilon && y > epsilon) {
      const double ratio = std::abs((weights_ == nullptr ? point.sum - y : point.m[i]) / y);
      if (!smallest || ratio < *smallest) smallest = ratio;
    }
  }
  return smallest;
}

}  // namespace clipperplus::inline v0
