#include "ascent/belachew.h"

#include <algorithm>
#include <cmath>

#include "ascent/complement_sums.h"

namespace clipperplus::inline v0 {

namespace {

// The largest root of w³ + p w + q, by Newton's method from a point at or above it: the cubic is convex there, so the
// steps go down without passing it, until rounding stops them.
double descend_to_root(double p, double q, double w) {
  constexpr int kMaxSteps = 100;  // for roots that nearly coincide
  for (int step = 0; step < kMaxSteps; ++step) {
    const double slope = 3.0 * w * w + p;
    if (!(slope > 0.0)) break;
    const double next = w - ((w * w + p) * w + q) / slope;
    if (!(next < w) || next < 0.0) break;
    w = next;
  }
  return w;
}

class Descent {
 public:
  Descent(const Graph& graph, const BelachewOptions& options, const simd::Kernels& kernels, Control& control)
      : graph_(graph),
        options_(options),
        kernels_(kernels),
        control_(control),
        n_(graph.num_vertices()),
        padded_(round_up(n_, simd::kBlock)),
        sums_(graph, kernels, control),
        w_(padded_, 0.0),
        y_(padded_, 0.0) {}

  BelachewResult run(std::span<const double> start) {
    const double largest = *std::max_element(start.begin(), start.end());
    std::transform(start.begin(), start.end(), w_.begin(), [=](double value) { return value / largest; });
    const double highest = static_cast<double>(n_);
    for (;;) {
      descend();
      if (control_.stopped()) break;
      refresh();
      if (result_.d >= highest || is_clique()) {
        result_.finished = true;
        break;
      }
      result_.d = std::min(highest, std::max(options_.first_d, options_.growth * result_.d));
    }
    result_.w.assign(w_.begin(), w_.begin() + static_cast<std::ptrdiff_t>(n_));
    return std::move(result_);
  }

 private:
  // Computes the sums anew: updates one by one leave rounding errors behind.
  void refresh() {
    const auto [sum, nonzeros] = kernels_.scale(w_.data(), 1.0, padded_);
    sums_.settle(w_.data(), nonzeros);
    sums_.compute(w_.data(), sum, nonzeros, y_.data());
    sum_ = sum;
    common_ = 0.0;
    squares_ = 0.0;
    for (std::size_t k = 0; k < n_; ++k) squares_ += w_[k] * w_[k];
  }

  void descend() {
    constexpr std::size_t kVerticesPerPoll = 1024;
    refresh();
    for (int sweep = 0; sweep < options_.max_sweeps; ++sweep) {
      double change = 0.0;
      for (std::size_t k = 0; k < n_; ++k) {
        if (k % kVerticesPerPoll == 0 && control_.expired()) return;
        const double old = w_[k];
        const double p = squares_ - old * old - 1.0;
        const double q = (1.0 + result_.d) * (y_[k] + common_) + old - sum_;
        const double found = minimise_quartic(p, q);
        if (found == old) continue;
        w_[k] = found;
        squares_ += found * found - old * old;
        sum_ += found - old;
        change_sums(k, found - old);
        change = std::max(change, std::abs(found - old));
      }
      ++result_.sweeps;
      if (change < options_.tolerance) return;
    }
  }

  // w_k has changed by delta, and with it the sums of all vertices that are no neighbours of k.
  void change_sums(std::size_t k, double delta) {
    const double own = y_[k];
    if (graph_.has_bits()) {
      kernels_.add_to_others(y_.data(), graph_.row(k), padded_ / kWordBits, delta);
      y_[k] = own;
    } else {  // the same for all, less for the neighbours
      common_ += delta;
      for (Vertex v : graph_.neighbours(k)) y_[static_cast<std::size_t>(v)] -= delta;
      y_[k] = own - delta;
    }
  }

  bool is_clique() const {
    for (std::size_t k = 0; k < n_; ++k) {
      if (w_[k] > options_.epsilon && y_[k] > options_.epsilon) return false;
    }
    return true;
  }

  const Graph& graph_;
  const BelachewOptions& options_;
  const simd::Kernels& kernels_;
  Control& control_;
  std::size_t n_, padded_;
  ComplementSums sums_;
  AlignedVector<double> w_, y_;  // M̄ w is y + common
  double common_ = 0.0, sum_ = 0.0, squares_ = 0.0;
  BelachewResult result_;
};

}  // namespace

double minimise_quartic(double p, double q) {
  if (q < 0.0) {  // one positive root, at most the sum of those without q and without p
    return descend_to_root(p, q, std::sqrt(std::max(0.0, -p)) + std::cbrt(-q));
  }
  // Two positive roots or none; the larger one is a minimum, but zero may be a lower one.
  if (p >= 0.0 || 27.0 * q * q + 4.0 * p * p * p > 0.0) return 0.0;
  const double w = descend_to_root(p, q, std::sqrt(-p));
  return p * w + 3.0 * q < 0.0 ? w : 0.0;
}

BelachewResult approximate_by_rank_one(const Graph& graph, std::span<const double> start,
                                       const BelachewOptions& options, const simd::Kernels& kernels, Control& control) {
  return Descent(graph, options, kernels, control).run(start);
}

}  // namespace clipperplus::inline v0
