#include "clique/subproblem.h"

#include <algorithm>

#include "graph/cores.h"

namespace clipperplus::inline v0 {

namespace {

// Whether at least `wanted` of `list` are in `candidates`; both sorted.
bool shares(std::span<const Vertex> list, const std::vector<Vertex>& candidates, std::size_t wanted) {
  const bool hub = list.size() / 16 > candidates.size();
  std::size_t shared = 0;
  auto it = list.begin();
  for (const Vertex u : candidates) {
    if (shared >= wanted || it == list.end()) break;
    it = hub ? std::lower_bound(it, list.end(), u) : std::find_if(it, list.end(), [u](Vertex v) { return v >= u; });
    shared += it != list.end() && *it == u ? 1 : 0;
  }
  return shared >= wanted;
}

// Candidates that have at least `must_beat` neighbours among each other. Most subproblems of a large sparse graph end
// here, in a microsecond, before a graph is made of them.
std::vector<Vertex> with_enough_neighbours(const Graph& graph, std::span<const Vertex> candidates,
                                           std::size_t must_beat) {
  std::vector<Vertex> kept(candidates.begin(), candidates.end()), next;
  for (bool again = true; again && kept.size() > must_beat; kept.swap(next)) {
    next.clear();
    for (const Vertex u : kept) {
      if (shares(graph.neighbours(static_cast<std::size_t>(u)), kept, must_beat)) next.push_back(u);
    }
    again = next.size() < kept.size();
  }
  return kept;
}

}  // namespace

Subproblem make_subproblem(const Graph& graph, std::span<const Vertex> candidates, std::size_t must_beat,
                           const simd::Kernels& kernels, Control& control) {
  constexpr std::size_t kFew = 256;
  Subproblem result;
  std::vector<Vertex> fewer;
  if (!graph.has_bits() && candidates.size() <= kFew) {
    fewer = with_enough_neighbours(graph, candidates, must_beat);
    candidates = fewer;
  }
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

}  // namespace clipperplus::inline v0
