#include "clique/edge_weighted_cores.h"

#include <algorithm>
#include <limits>

namespace clipperplus::inline v0 {

namespace {

constexpr double kGone = std::numeric_limits<double>::infinity();

// Keys that only get smaller, until they are taken. Every node above them is the least of its kFan children; levels are
// filled up with infinities.
class Tournament {
 public:
  explicit Tournament(const std::vector<double>& keys) {
    levels_.push_back(keys);
    for (;;) {
      auto& below = levels_.back();
      below.resize((below.size() + kFan - 1) / kFan * kFan, kGone);
      std::vector<double> above(below.size() / kFan);
      for (std::size_t p = 0; p < above.size(); ++p) above[p] = least_of(below, p);
      levels_.push_back(std::move(above));
      if (levels_.back().size() <= 1) break;
    }
  }

  double least() const { return levels_.back()[0]; }

  std::size_t take_least() {  // the last of equals
    std::size_t taken = 0;
    for (std::size_t level = levels_.size() - 1; level-- > 0;) {
      const double* children = levels_[level].data() + taken * kFan;
      std::size_t child = kFan - 1;
      while (children[child] != levels_[level + 1][taken]) --child;
      taken = taken * kFan + child;
    }
    levels_[0][taken] = kGone;
    for (std::size_t level = 1, p = taken / kFan; level < levels_.size(); ++level, p /= kFan) {
      levels_[level][p] = least_of(levels_[level - 1], p);
    }
    return taken;
  }

  void lower(std::size_t place, double by) {  // one that was taken stays at infinity
    const double key = levels_[0][place] -= by;
    for (std::size_t level = 1; level < levels_.size(); ++level) {
      place /= kFan;
      if (!(key < levels_[level][place])) return;
      levels_[level][place] = key;
    }
  }

 private:
  static constexpr std::size_t kFan = 32;

  static double least_of(const std::vector<double>& below, std::size_t p) {
    double lanes[4] = {kGone, kGone, kGone, kGone};
    for (std::size_t k = 0; k < kFan; ++k) lanes[k % 4] = std::min(lanes[k % 4], below[p * kFan + k]);
    return std::min(std::min(lanes[0], lanes[1]), std::min(lanes[2], lanes[3]));
  }

  std::vector<std::vector<double>> levels_;  // keys first
};

}  // namespace

EdgeWeightedCores edge_weighted_cores(const EdgeWeights& weights, Control& control) {
  constexpr std::size_t kRemovalsPerPoll = 256;
  const std::size_t n = weights.num_vertices();
  std::vector<double> degrees(n, 0.0);
  for (std::size_t v = 0; v < n; ++v) {
    weights.for_each_entry(v, [&](std::size_t, double weight) { degrees[v] += weight; });
  }
  if (n == 0) return {};
  Tournament remaining(degrees);
  EdgeWeightedCores cores{std::vector<double>(n), std::vector<Vertex>(n)};
  double core = 0.0;
  for (std::size_t place = n; place-- > 0;) {
    if (place % kRemovalsPerPoll == 0) control.expired();
    core = std::max(core, remaining.least());
    const std::size_t v = remaining.take_least();
    cores.numbers[place] = core;
    cores.order[place] = static_cast<Vertex>(v);
    weights.for_each_entry(v, [&](std::size_t u, double weight) { remaining.lower(u, weight); });
  }
  return cores;
}

}  // namespace clipperplus::inline v0
