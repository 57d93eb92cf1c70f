#include "clouds/hypotheses.h"

#include <algorithm>
#include <numeric>

#include "geometry/fitting.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

std::vector<Vertex> grow_clique(const Graph& graph, Vertex start, const simd::Kernels& kernels, Control& control) {
  std::vector<Vertex> members;
  graph.for_each_neighbour(static_cast<std::size_t>(start), [&](Vertex v) { members.push_back(v); });
  std::vector<Vertex> clique(members.size() + 1);
  std::vector<std::uint32_t> shared(members.size());
  std::size_t size = 0;
  if (graph.has_bits()) {
    const Word* row = graph.row(static_cast<std::size_t>(start));
    AlignedVector<Word> candidates(row, row + graph.stride());
    size = kernels.grow_clique(graph.row(0), graph.stride(), candidates.data(), members.data(), members.size(),
                               shared.data(), clique.data());
  } else {
    const std::vector<Vertex> names = members;
    Control following(&control);
    const Graph near = graph.subgraph(names, kernels, following).with_bits();
    std::iota(members.begin(), members.end(), Vertex{0});
    AlignedVector<Word> candidates(near.stride(), 0);
    set_prefix(candidates.data(), names.size());
    if (!names.empty()) {
      size = kernels.grow_clique(near.row(0), near.stride(), candidates.data(), members.data(), members.size(),
                                 shared.data(), clique.data());
    }
    for (std::size_t k = 0; k < size; ++k) clique[k] = names[static_cast<std::size_t>(clique[k])];
  }
  clique[size] = start;
  clique.resize(size + 1);
  std::sort(clique.begin(), clique.end());
  return clique;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::vector<double> without_strays(std::span<const double> points) {
  Vector3 middle;
  for (std::size_t a = 0; a < 3; ++a) {
    std::vector<double> axis;
    for (std::size_t k = a; k < points.size(); k += 3) axis.push_back(points[k]);
    middle[a] = median_of(std::move(axis));
  }
  std::vector<double> squares;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const Vector3 arm{points[k] - middle[0], points[k + 1] - middle[1], points[k + 2] - middle[2]};
    squares.push_back(dot(arm, arm));
  }
  const double limit = 16.0 * median_of(squares);
  std::vector<double> kept;
  for (std::size_t k = 0; k < squares.size(); ++k) {
    if (squares[k] <= limit) kept.insert(kept.end(), &points[3 * k], &points[3 * k] + 3);
  }
  return kept;
}

// Mean and covariance of points: all that the distance between the results of two motions depends on.
struct Spread {
  Vector3 mean{};
  Matrix<3> covariance{};

  // Of all but stray points: those that are several times as far from the middle as half of them are.
  explicit Spread(std::span<const double> all) {
    const std::vector<double> points = without_strays(all);
    const auto count = static_cast<double>(points.size() / 3);
    for (std::size_t k = 0; k < points.size(); ++k) mean[k % 3] += points[k] / count;
    for (std::size_t k = 0; k < points.size(); k += 3) {
      for (std::size_t a = 0; a < 3; ++a) {
        for (std::size_t b = 0; b < 3; ++b) {
          covariance[a][b] += (points[k + a] - mean[a]) * (points[k + b] - mean[b]) / count;
        }
      }
    }
  }

  // The mean of ‖first(p) - second(p)‖².
  double squared_distance(const RigidMotion& first, const RigidMotion& second) const {
    const Vector3 here = first.apply(mean.data()), there = second.apply(mean.data());
    double sum = 0.0;
    for (std::size_t a = 0; a < 3; ++a) {
      sum += (here[a] - there[a]) * (here[a] - there[a]);
      Vector3 row;
      for (std::size_t b = 0; b < 3; ++b) row[b] = first.rotation[a][b] - second.rotation[a][b];
      for (std::size_t b = 0; b < 3; ++b) sum += row[b] * dot(covariance[b], row);
    }
    return sum;
  }
};

RigidMotion motion_of(std::span<const Vertex> clique, std::span<const double> source, std::span<const double> target,
                      const MotionModel& model) {
  std::vector<double> from, to;
  for (const Vertex v : clique) {
    const auto place = static_cast<std::ptrdiff_t>(3 * v);
    from.insert(from.end(), source.begin() + place, source.begin() + place + 3);
    to.insert(to.end(), target.begin() + place, target.begin() + place + 3);
  }
  return fit_motion(from, to, {}, model);
}

}  // namespace

std::vector<Hypothesis> find_hypotheses(const Graph& graph, std::span<const double> source,
                                        std::span<const double> target, std::span<const Vertex> known,
                                        std::span<const Vertex> starts, const HypothesisOptions& options,
                                        const simd::Kernels& kernels, Control& control) {
  std::vector<std::vector<Vertex>> cliques(starts.size());
  for_each_index(
      starts.size(), options.threads, control,
      [&](std::size_t s) { cliques[s] = grow_clique(graph, starts[s], kernels, control); }, 16);
  std::vector<std::size_t> order(cliques.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cliques[a].size() > cliques[b].size(); });

  std::vector<Hypothesis> kept;
  if (source.empty()) return kept;
  const Spread spread(source);
  if (known.size() >= options.least_size) {
    kept.push_back({motion_of(known, source, target, options.model), std::vector<Vertex>(known.begin(), known.end())});
  }
  for (const std::size_t k : order) {
    if (kept.size() >= options.most || cliques[k].size() < options.least_size) break;
    control.expired();
    const auto same = [&](const Hypothesis& other) { return other.clique == cliques[k]; };
    if (std::any_of(kept.begin(), kept.end(), same)) continue;
    const RigidMotion motion = motion_of(cliques[k], source, target, options.model);
    const auto near = [&](const Hypothesis& other) {
      return spread.squared_distance(motion, other.motion) < options.apart * options.apart;
    };
    if (std::none_of(kept.begin(), kept.end(), near)) kept.push_back({motion, std::move(cliques[k])});
  }
  return kept;
}

}  // namespace clipperplus::inline v0
