#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "clique/colouring.h"
#include "clique/weighted_greedy.h"
#include "clique/weighted_local_search.h"
#include "clique/weighted_search.h"
#include "common.h"
#include "graph/weighted_cores.h"
#include "searching.h"

namespace clipperplus::bindings {

namespace {

// A copy, because the caller's array may change; weights that sums could overflow with are refused.
std::vector<Weight> as_weights(const Graph& graph, const VectorIn<Weight>& given) {
  constexpr Weight kMost = Weight{1} << 62;
  std::vector<Weight> weights(given.data(), given.data() + given.size());
  if (weights.size() != graph.num_vertices()) throw nb::value_error("weights must have one entry per vertex");
  Weight total = 0;
  for (const Weight weight : weights) {
    if (weight < 0 || weight >= kMost - total) throw nb::value_error("weights must be at least 0, and less than 2⁶²");
    total += weight;
  }
  return weights;
}

std::vector<Weight> as_cores(const Graph& graph, const VectorIn<Weight>& given) {
  if (given.size() != graph.num_vertices()) throw nb::value_error("cores must have one entry per vertex");
  return {given.data(), given.data() + given.size()};
}

std::tuple<Graph, VectorOut<Weight>, VectorOut<Vertex>> bound_order(const Graph& graph, VectorIn<Weight> weights) {
  const auto checked = as_weights(graph, weights);
  WeightedOrder ordered;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    ordered = order_by_weighted_core(graph, checked, kernels(), control);
  }
  return {std::move(ordered.graph), to_numpy(std::move(ordered.cores)), to_numpy(std::move(ordered.order))};
}

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_greedy(const Graph& graph, VectorIn<Weight> weights,
                                                              VectorIn<Weight> cores, const Watch& watch) {
  const auto checked = as_weights(graph, weights), numbers = as_cores(graph, cores);
  WeightedGreedyResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = weighted_greedy_clique(graph, checked, numbers, control);
  }
  return {to_numpy(widen(result.clique)), result.starts};
}

// What the sets of a cover weigh, or on compressed rows the colours of a colouring, each as much as its heaviest
// vertex.
std::optional<Weight> bound_cover(const Graph& graph, VectorIn<Weight> weights, const Watch& watch) {
  const auto checked = as_weights(graph, weights);
  const WithoutGil without_gil;
  auto control = watch.control();
  const std::size_t n = graph.num_vertices();
  if (n == 0) return 0;
  if (graph.has_bits()) {
    const auto paid_at = weighted_cover(graph, checked, kernels(), control);
    return paid_at.empty() ? std::nullopt : std::optional(*std::max_element(paid_at.begin(), paid_at.end()));
  }
  const auto colours = colour_vertices(graph, kernels(), control);
  if (!colours) return std::nullopt;
  std::vector<Weight> heaviest(n, 0);
  for (std::size_t v = 0; v < n; ++v) {
    Weight& most = heaviest[static_cast<std::size_t>((*colours)[v])];
    most = std::max(most, checked[v]);
  }
  Weight total = 0;
  for (const Weight weight : heaviest) total += weight;
  return total;
}

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_local_search(const Graph& graph, VectorIn<Weight> weights,
                                                                    VectorIn<std::int64_t> start, std::size_t patience,
                                                                    Weight target, std::uint64_t seed,
                                                                    const Watch& watch) {
  if (!graph.has_bits() || graph.num_vertices() > 0x7FFF) throw nb::value_error("only graphs of bit rows");
  const auto checked = as_weights(graph, weights);
  const std::vector<std::int64_t> clique(start.data(), start.data() + start.size());
  WeightedLocalSearchResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = weighted_local_search(graph, checked, checked_clique(graph, clique), {patience, target, seed}, kernels(),
                                   control);
  }
  return {to_numpy(widen(result.clique)), result.steps};
}

std::tuple<VectorOut<std::int64_t>, Weight, std::uint64_t, bool, Course<Weight>> bound_search(
    const Graph& graph, VectorIn<Weight> weights, VectorIn<Weight> cores, Weight must_beat, std::uint64_t node_limit,
    std::size_t threads, const Listener<Weight>& on_progress, const Watch& watch) {
  const auto checked = as_weights(graph, weights), numbers = as_cores(graph, cores);
  WeightedSearchResult result;
  Course<Weight> course;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    const OnWeight tell = teller(on_progress, watch, control, course);
    result =
        search_weighted_clique(graph, checked, numbers, must_beat, {node_limit, threads}, tell, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.upper_bound, result.nodes, result.complete, std::move(course)};
}

}  // namespace

void bind_weighted_clique(nb::module_& m) {
  m.def("order_by_weighted_core", bound_order, nb::arg("graph"), nb::arg("weights"),
        "The graph relabelled by decreasing weighted core number, these numbers, and its old vertices.");
  m.def("weighted_greedy_clique", bound_greedy, nb::arg("graph"), nb::arg("weights"), nb::arg("cores"),
        nb::arg("watch"), "Algorithm 1 with weights, on a graph in that order: clique and starts.");
  m.def("weighted_cover", bound_cover, nb::arg("graph"), nb::arg("weights"), nb::arg("watch"),
        "What independent sets that cover the weights weigh together; no clique is heavier.");
  m.def("weighted_local_search", bound_local_search, nb::arg("graph"), nb::arg("weights"), nb::arg("start"),
        nb::arg("patience"), nb::arg("target"), nb::arg("seed"), nb::arg("watch"),
        "The heaviest clique that a tabu search meets, and its steps.");
  m.def(
      "search_weighted_clique", bound_search, nb::arg("graph"), nb::arg("weights"), nb::arg("cores"),
      nb::arg("must_beat"), nb::arg("node_limit"), nb::arg("threads"), nb::arg("on_progress").none(), nb::arg("watch"),
      "Branch and bound on a graph in that order: a heavier clique or an empty one, an upper bound, nodes, whether the "
      "search is complete, and what `on_progress` would have been told.");
}

}  // namespace clipperplus::bindings
