// Single steps of the search for cliques, for questions about sets of vertices and for tests.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include "clipperplus/graph.h"
#include "clique/colouring.h"
#include "clique/maximal.h"
#include "clique/reduction.h"
#include "clique/search.h"
#include "common.h"

namespace clipperplus::bindings {

namespace {

std::tuple<VectorOut<std::int64_t>, std::size_t, std::size_t> bound_maximal(const Graph& graph,
                                                                            VectorIn<std::int64_t> claim) {
  const auto vertices = checked_vertices(graph, claim);
  MaximalClique result;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    result = make_maximal(graph, vertices, vertices.size(), control);
  }
  return {to_numpy(widen(result.vertices)), result.removed, result.added};
}

std::tuple<Graph, VectorOut<Vertex>> bound_reduce(Graph& graph, std::size_t size, std::size_t threads,
                                                  const Watch& watch) {
  Reduction result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = reduce(std::exchange(graph, Graph()), size, threads, kernels(), control);
  }
  return {std::move(result.graph), to_numpy(std::move(result.vertices))};
}

std::tuple<VectorOut<std::int64_t>, std::size_t, std::uint64_t, bool> bound_search(const Graph& graph,
                                                                                   std::size_t must_beat,
                                                                                   std::uint64_t node_limit,
                                                                                   std::size_t threads, bool recolour,
                                                                                   bool propagate, const Watch& watch) {
  SearchResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = search_clique(graph, must_beat, {node_limit, threads, recolour, propagate}, nullptr, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.upper_bound, result.nodes, result.complete};
}

}  // namespace

void bind_clique(nb::module_& m) {
  nb::class_<Watch>(m, "Watch", "When a run of kernels ends, and whether Ctrl-C ends it with what there is.")
      .def(
          "__init__",
          [](Watch* place, std::optional<double> seconds, bool return_on_interrupt) {
            new (place) Watch(seconds, [return_on_interrupt] { return check_signals(return_on_interrupt); });
          },
          nb::arg("seconds").none(), nb::arg("return_on_interrupt"));

  m.def(
      "greedy_colours",
      [](const Graph& graph, const Watch& watch) {
        const WithoutGil without_gil;
        auto control = watch.control();
        return greedy_colours(graph, kernels(), control);
      },
      nb::arg("graph"), nb::arg("watch"), "Colours of a greedy colouring in index order.");
  m.def("reduce", bound_reduce, nb::arg("graph"), nb::arg("size"), nb::arg("threads"), nb::arg("watch"),
        "The part in which a clique of more than `size` vertices lies, and its vertices. The graph is used up: it is "
        "empty afterwards.");
  m.def("search_clique", bound_search, nb::arg("graph"), nb::arg("must_beat"), nb::arg("node_limit"),
        nb::arg("threads"), nb::arg("recolour"), nb::arg("propagate"), nb::arg("watch"),
        "Branch and bound on a graph ordered by decreasing core number: a larger clique or an empty one, an upper "
        "bound, nodes, and whether the search is complete.");
  m.def("make_maximal", bound_maximal, nb::arg("graph"), nb::arg("claim"),
        "The maximal clique made from a claimed one; how many of its vertices were removed, and how many added.");
}

}  // namespace clipperplus::bindings
