// CLIPPER+ where edges have weights: what the paper names as future work.
//
// The value of a clique of k vertices is u' M u with u = 1 / √k on it and 0 elsewhere, where M has the weights of the
// edges and ones on the diagonal: CLIPPER's objective. It is one and the mean, over the vertices, of the weight that
// joins them to the others; with weights of one it is k.
//
// Algorithm 1, which does not look at weights, and exchange of vertices give a first clique to prune by. In what is
// left, Algorithm 1 goes along weighted core numbers, and Algorithm 2 starts from the complement of the best clique,
// then from everywhere; all end with exchange of vertices. The clique of best value stays.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "ascent/relaxation.h"
#include "clique/core_order.h"
#include "clique/edge_weighted_search.h"
#include "clique/kernel.h"
#include "clique/labels.h"
#include "clique/reduction.h"
#include "clique/weighted_methods.h"

namespace clipperplus::inline v0 {

namespace {

// Steps of an exchange that bring no better clique, on the whole graph, and on what is left of it, where a step costs
// less.
constexpr std::size_t kPatience = 50, kPatienceInPart = 400;
// Of the relaxation, at least: exchange follows. Closer ones took longer, for values better by 0.0001 on average.
constexpr double kTolerance = 0.03;

// What is left of the graph, with vertices by decreasing weighted core number.
struct Part {
  Graph graph;
  EdgeWeights weights;
  std::vector<double> cores;
  std::vector<Vertex> vertices;  // of the input graph, by index in the part
};

// The part of the graph in which a clique of a value above f lies, that of the best one so far.
//
// - As no weight exceeds 1, a clique of k vertices has a value of at most k. One above f has more than f vertices, so
//   what belongs to no clique of more than ⌊f⌋ vertices goes.
// - Let C be a clique of best value, F, with k vertices and edges of total weight W = k (F - 1) / 2. Without a vertex
//   that is joined to the others by w, the value would be 1 + 2 (W - w) / (k - 1); as that is no better, w is at least
//   W / k = (F - 1) / 2. So C is a subgraph in which every vertex is joined to the others by (F - 1) / 2 or more, and
//   vertices of a lower weighted core number than (f - 1) / 2 go.
Part prune(SearchState& state, CoreOrder& ordered) {
  const auto size = static_cast<std::size_t>(std::floor(state.value()));
  Kernel kernel = take_kernel(ordered, size);
  auto control = state.watch().control();
  const auto [reduced, kept] = reduce(std::move(kernel.graph), size, state.limits().threads, state.kernels(), control);
  const auto vertices = values_at<Vertex>(kernel.vertices, kept);
  auto to_the_end = state.watch().control_to_the_end();
  const EdgeWeights weights = state.edge_weights()->part(reduced, vertices, to_the_end);
  auto [cores, order] = edge_weighted_cores(weights, to_the_end);
  const double least = least_core(state.value());
  cores.erase(std::partition_point(cores.begin(), cores.end(), [least](double core) { return core >= least; }),
              cores.end());
  order.resize(cores.size());
  Graph graph = reduced.subgraph(order, state.kernels(), to_the_end);
  EdgeWeights weights_left = weights.part(graph, order, to_the_end);
  state.record("reduction", {.vertices = order.size()});
  return {std::move(graph), std::move(weights_left), std::move(cores), values_at<Vertex>(vertices, order)};
}

// Looks around the best clique on the whole graph.
void exchange(SearchState& state) {
  auto control = state.watch().control();
  const std::vector<std::int64_t> clique(state.clique().begin(), state.clique().end());
  const auto found = edge_weighted_search(state.searched(), *state.edge_weights(), clique, kPatience, control);
  state.offer("exchange", found.vertices, {.vertices = state.graph().num_vertices(), .count = found.steps});
}

// Looks around a clique of the part.
void exchange_in_part(SearchState& state, const Part& part, std::string_view stage, std::span<const std::int64_t> claim,
                      std::size_t count, std::optional<bool> converged = std::nullopt) {
  auto control = state.watch().control();
  const auto found = edge_weighted_search(part.graph, part.weights, claim, kPatienceInPart, control);
  state.offer(stage, original(part.vertices, found.vertices),
              {.vertices = part.vertices.size(), .count = count, .converged = converged});
}

// From vertices of large weighted core numbers, grows cliques by the vertices that are joined to them best.
void grow_by_weight(SearchState& state, const Part& part) {
  if (part.vertices.empty() || state.out_of_time()) return;
  auto control = state.watch().control();
  const auto grown = edge_weighted_greedy(part.graph, part.weights, part.cores, control);
  exchange_in_part(state, part, "weighted greedy", grown.vertices, grown.steps);
}

// Relaxes from a vector on the whole graph, or what of it is on the part.
void relax_in_part(SearchState& state, const Part& part, const std::vector<double>& start, RelaxationOptions options) {
  const auto guess = values_at<double>(start, part.vertices);
  if (all_zero(guess) || state.out_of_time()) return;
  options.tol_u = std::max(options.tol_u, kTolerance);
  options.tol_f = std::max(options.tol_f, kTolerance);
  auto control = state.watch().control();
  const auto solution = relax(part.graph, &part.weights, guess, options, state.kernels(), control);
  std::vector<std::int64_t> claim(solution.u.size());
  std::iota(claim.begin(), claim.end(), 0);
  std::stable_sort(claim.begin(), claim.end(), [&](std::int64_t a, std::int64_t b) {
    return solution.u[static_cast<std::size_t>(a)] > solution.u[static_cast<std::size_t>(b)];
  });
  exchange_in_part(state, part, "relaxation", claim, solution.inner_steps, solution.finished);
}

}  // namespace

void find_edge_weighted(SearchState& state, const RelaxationOptions& relaxation) {
  CoreOrder ordered(state);
  bound_by_cores(state, ordered);
  grow_greedily(state, ordered);
  if (state.size() > 0 && !state.out_of_time()) {
    exchange(state);
    const Part part = prune(state, ordered);
    grow_by_weight(state, part);
    if (relaxation.start.empty()) {
      relax_in_part(state, part, ones_outside_clique(state.graph(), state.clique()), relaxation);
      relax_in_part(state, part, ones_outside_clique(state.graph(), {}), relaxation);
    } else {
      relax_in_part(state, part, relaxation.start, relaxation);
    }
  }
  bound_by_colours(state, ordered);
}

}  // namespace clipperplus::inline v0
