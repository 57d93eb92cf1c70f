#include "subproblem.h"

#include <algorithm>

#include "cores.h"

namespace clipperplus {

Subproblem make_subproblem(const Graph& graph, std::span<const Vertex> candidates, std::size_t must_beat,
                           const simd::Kernels& kernels, Control& control) {
  Subproblem result;
  if (candidates.size() <= must_beat) return result;
  const auto [local, cores, order] = order_by_core(graph.subgraph(candidates, kernels, control), kernels, control);
  const auto kept = static_cast<std::size_t>(std::count_if(
      cores.begin(), cores.end(), [=](Vertex core) { return static_cast<std::size_t>(core) >= must_beat; }));
  if (kept <= must_beat) return result;
  result.graph = local.prefix(kept, kernels, control);
  result.largest = static_cast<std::size_t>(cores.front()) + 1;
  for (std::size_t i = 0; i < kept; ++i) {
    result.vertices.push_back(candidates[static_cast<std::size_t>(order[i])]);
  }
  return result;
}

simd::CliqueTask TaskMemory::prepare(const Graph& graph, std::size_t size, std::size_t largest,
                                     std::size_t sets_a_level) {
  const std::size_t n = graph.num_vertices(), words = graph.stride();
  clique_.resize(std::max(clique_.size(), largest + 1));
  levels_.resize(std::max(levels_.size(), sets_a_level * words * (largest - size + 2)));
  classes_.resize(std::max(classes_.size(), words * n));
  pool_.resize(std::max(pool_.size(), words));
  if (used_size_ < n) {
    used_ = std::make_unique<bool[]>(n);
    used_size_ = n;
  }
  unused_.resize(std::max(unused_.size(), n));
  forced_.resize(std::max(forced_.size(), n));
  std::fill_n(levels_.begin(), sets_a_level * words, 0);
  simd::CliqueTask task{};
  task.rows = graph.row(0);
  task.n = n;
  task.words = words;
  task.clique = clique_.data();
  task.size = size;
  task.levels = levels_.data();
  task.classes = classes_.data();
  task.pool = pool_.data();
  task.used = used_.get();
  task.unused = unused_.data();
  task.forced = forced_.data();
  return task;
}

}  // namespace clipperplus
