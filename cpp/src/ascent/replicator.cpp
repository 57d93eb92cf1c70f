#include "ascent/replicator.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ascent/complement_sums.h"

namespace clipperplus::inline v0 {

ReplicatorResult replicate(const Graph& graph, std::span<const double> start, const ReplicatorOptions& options,
                           const simd::Kernels& kernels, Control& control) {
  const std::size_t n = graph.num_vertices();
  const std::size_t padded = round_up(n, simd::kBlock);
  const double power = 1.0 / options.beta;
  ComplementSums sums(graph, kernels, control);
  AlignedVector<double> x(padded, 0.0), next(padded, 0.0), y(padded, 0.0);
  ReplicatorResult result;

  const double largest_start = *std::max_element(start.begin(), start.end());
  double total = 0.0;
  for (double value : start) total += std::pow(value / largest_start, options.beta);
  const double norm = std::pow(total, power);
  std::transform(start.begin(), start.end(), x.begin(), [=](double value) { return value / largest_start / norm; });

  while (result.steps < static_cast<std::size_t>(options.max_steps) && !control.expired()) {
    const auto [sum, nonzeros] = kernels.scale(x.data(), 1.0, padded);
    sums.settle(x.data(), nonzeros);
    sums.compute(x.data(), sum, nonzeros, y.data());
    double value = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = x[i] * std::max(0.0, sum - y[i] - (1.0 - options.regularisation) * x[i]);
      value += next[i];
    }
    // No two vertices of the support are joined: what is left are the rounding errors of the sums.
    if (!(value > 4.0 * static_cast<double>(n) * std::numeric_limits<double>::epsilon() * sum * sum)) {
      result.finished = true;
      break;
    }
    double largest = 0.0, change = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      next[i] /= value;
      if (power != 1.0) next[i] = std::pow(next[i], power);
      largest = std::max(largest, next[i]);
      change = std::max(change, std::abs(next[i] - x[i]));
    }
    const double least = options.epsilon * largest;
    std::transform(next.begin(), next.end(), x.begin(), [=](double entry) { return entry < least ? 0.0 : entry; });
    ++result.steps;
    if (change < options.tolerance * largest) {
      result.finished = true;
      break;
    }
  }
  result.x.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
  return result;
}

}  // namespace clipperplus::inline v0
