#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "colouring.h"
#include "common.h"
#include "graph.h"
#include "greedy.h"
#include "local_search.h"
#include "maximal.h"
#include "reduction.h"
#include "relaxation.h"
#include "search.h"

namespace clipperplus::bindings {

namespace {

void check_length(const Graph& graph, std::size_t length, const char* what) {
  if (length != graph.num_vertices()) throw nb::value_error(what);
}

std::vector<std::int64_t> widen(const std::vector<Vertex>& vertices) { return {vertices.begin(), vertices.end()}; }

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_greedy(const Graph& graph, VectorIn<Vertex> cores,
                                                              std::size_t threads, std::optional<double> seconds) {
  check_length(graph, cores.size(), "cores must have one entry per vertex");
  GreedyResult result;
  {
    const WithoutGil without_gil;
    auto control = make_control(seconds);
    result = greedy_clique(graph, as_span(cores), threads, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.starts};
}

std::tuple<VectorOut<std::int64_t>, std::size_t, std::size_t> bound_maximal(const Graph& graph,
                                                                            VectorIn<std::int64_t> claim) {
  for (std::int64_t v : as_span(claim)) {
    if (v < 0 || static_cast<std::size_t>(v) >= graph.num_vertices()) throw nb::value_error("vertex out of range");
  }
  MaximalClique result;
  {
    const WithoutGil without_gil;
    auto control = make_control(std::nullopt);
    result = make_maximal(graph, as_span(claim), control);
  }
  return {to_numpy(widen(result.vertices)), result.removed, result.added};
}

RelaxationResult bound_relax(const Graph& graph, VectorIn<double> start, const RelaxationOptions& options,
                             std::optional<double> seconds) {
  check_length(graph, start.size(), "start must have one entry per vertex");
  bool positive = false;
  for (double x : as_span(start)) {
    if (!std::isfinite(x) || x < 0.0) throw nb::value_error("start must be finite and nonnegative");
    positive = positive || x > 0.0;
  }
  if (!positive) throw nb::value_error("start must have a positive entry");
  const WithoutGil without_gil;
  auto control = make_control(seconds);
  return relax(graph, as_span(start), options, kernels(), control);
}

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_local_search(const Graph& graph, VectorIn<std::int64_t> start,
                                                                    std::size_t patience, std::size_t target,
                                                                    std::uint64_t seed, std::optional<double> seconds) {
  if (!graph.has_bits() || graph.num_vertices() > 0x7FFF) throw nb::value_error("only graphs of bit rows");
  const std::vector<std::int64_t> clique(start.data(), start.data() + start.size());
  LocalSearchResult result;
  {
    const WithoutGil without_gil;
    auto control = make_control(seconds);
    // A start that is no clique, or has vertices that are not there, is cut down to one that is.
    std::vector<std::int64_t> checked;
    for (std::int64_t v : clique) {
      const bool known = v >= 0 && static_cast<std::size_t>(v) < graph.num_vertices();
      const auto joined = [&](std::int64_t u) {
        return graph.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
      };
      if (known && std::all_of(checked.begin(), checked.end(), joined)) checked.push_back(v);
    }
    result = local_search(graph, checked, {patience, target, seed}, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.steps};
}

std::tuple<Graph, VectorOut<Vertex>> bound_reduce(const Graph& graph, std::size_t size, std::optional<double> seconds) {
  if (!graph.has_bits()) throw nb::value_error("only graphs of bit rows can be reduced");
  Reduction result;
  {
    const WithoutGil without_gil;
    auto control = make_control(seconds);
    result = reduce(graph, size, kernels(), control);
  }
  return {std::move(result.graph), to_numpy(std::move(result.vertices))};
}

std::tuple<VectorOut<std::int64_t>, std::size_t, std::uint64_t, bool> bound_search(const Graph& graph,
                                                                                   std::size_t must_beat,
                                                                                   std::uint64_t node_limit,
                                                                                   std::optional<double> seconds) {
  SearchResult result;
  {
    const WithoutGil without_gil;
    auto control = make_control(seconds);
    result = search_clique(graph, must_beat, node_limit, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.upper_bound, result.nodes, result.complete};
}

}  // namespace

void bind_clique(nb::module_& m) {
  m.def("greedy_clique", bound_greedy, nb::arg("graph"), nb::arg("cores"), nb::arg("threads"),
        nb::arg("seconds").none(), "Algorithm 1 on a graph ordered by decreasing core number: clique and starts.");

  m.def(
      "greedy_colours",
      [](const Graph& graph, std::optional<double> seconds) {
        const WithoutGil without_gil;
        auto control = make_control(seconds);
        return greedy_colours(graph, kernels(), control);
      },
      nb::arg("graph"), nb::arg("seconds").none(), "Colours of a greedy colouring in index order.");

  m.def("local_search", bound_local_search, nb::arg("graph"), nb::arg("start"), nb::arg("patience"), nb::arg("target"),
        nb::arg("seed"), nb::arg("seconds").none(), "The largest clique that a tabu search meets, and its steps.");
  m.def("reduce", bound_reduce, nb::arg("graph"), nb::arg("size"), nb::arg("seconds").none(),
        "The part in which a clique of more than `size` vertices lies, and its vertices.");
  m.def(
      "search_clique", bound_search, nb::arg("graph"), nb::arg("must_beat"), nb::arg("node_limit"),
      nb::arg("seconds").none(),
      "Branch and bound on a graph ordered by decreasing core number: a larger clique or an empty one, an upper bound, "
      "nodes, and whether the search is complete.");

  m.def("make_maximal", bound_maximal, nb::arg("graph"), nb::arg("claim"),
        "The maximal clique made from a claimed one; how many vertices were removed and added.");

  nb::class_<RelaxationOptions>(m, "RelaxationOptions")
      .def(nb::init<>())
      .def_rw("tol_u", &RelaxationOptions::tol_u)
      .def_rw("tol_f", &RelaxationOptions::tol_f)
      .def_rw("max_inner", &RelaxationOptions::max_inner)
      .def_rw("max_outer", &RelaxationOptions::max_outer)
      .def_rw("max_line_search", &RelaxationOptions::max_line_search)
      .def_rw("sigma", &RelaxationOptions::sigma)
      .def_rw("beta", &RelaxationOptions::beta)
      .def_rw("min_alpha", &RelaxationOptions::min_alpha)
      .def_rw("max_alpha", &RelaxationOptions::max_alpha)
      .def_rw("epsilon", &RelaxationOptions::epsilon);

  nb::class_<RelaxationResult>(m, "RelaxationResult")
      .def_prop_ro(
          "u", [](const RelaxationResult& r) { return to_numpy(std::vector<double>(r.u)); }, nb::rv_policy::automatic)
      .def_prop_ro(
          "support", [](const RelaxationResult& r) { return to_numpy(std::vector<std::int64_t>(r.support)); },
          nb::rv_policy::automatic)
      .def_ro("outer_steps", &RelaxationResult::outer_steps)
      .def_ro("inner_steps", &RelaxationResult::inner_steps)
      .def_ro("evaluations", &RelaxationResult::evaluations)
      .def_ro("d", &RelaxationResult::d)
      .def_ro("finished", &RelaxationResult::finished);
  m.def("relax", bound_relax, nb::arg("graph"), nb::arg("start"), nb::arg("options"), nb::arg("seconds").none(),
        "Algorithm 2.");
}

}  // namespace clipperplus::bindings
