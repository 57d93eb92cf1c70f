#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "clipperplus/graph.h"
#include "clique/colouring.h"
#include "clique/greedy.h"
#include "clique/listing.h"
#include "clique/local_search.h"
#include "clique/maximal.h"
#include "clique/reduction.h"
#include "clique/search.h"
#include "common.h"
#include "searching.h"

namespace clipperplus::bindings {

namespace {

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_greedy(const Graph& graph, VectorIn<Vertex> cores,
                                                              std::size_t threads, const Watch& watch) {
  if (cores.size() != graph.num_vertices()) throw nb::value_error("cores must have one entry per vertex");
  GreedyResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = greedy_clique(graph, as_span(cores), threads, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.starts};
}

std::tuple<VectorOut<std::int64_t>, std::size_t, std::size_t> bound_maximal(const Graph& graph,
                                                                            VectorIn<std::int64_t> claim,
                                                                            std::optional<std::size_t> named) {
  // Copied before it is checked: the caller's array may change meanwhile.
  const std::vector<std::int64_t> vertices(claim.data(), claim.data() + claim.size());
  for (const std::int64_t v : vertices) {
    if (v < 0 || static_cast<std::size_t>(v) >= graph.num_vertices()) throw nb::value_error("vertex out of range");
  }
  MaximalClique result;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    result = make_maximal(graph, vertices, named.value_or(vertices.size()), control);
  }
  return {to_numpy(widen(result.vertices)), result.removed, result.added};
}

std::tuple<VectorOut<std::int64_t>, std::size_t> bound_local_search(const Graph& graph, VectorIn<std::int64_t> start,
                                                                    std::size_t patience, std::size_t target,
                                                                    std::uint64_t seed, const Watch& watch) {
  if (!graph.has_bits() || graph.num_vertices() > 0x7FFF) throw nb::value_error("only graphs of bit rows");
  const std::vector<std::int64_t> clique(start.data(), start.data() + start.size());
  LocalSearchResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = local_search(graph, checked_clique(graph, clique), {patience, target, seed}, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.steps};
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

std::tuple<VectorOut<std::int64_t>, std::size_t, std::uint64_t, bool, Course<std::size_t>> bound_search(
    const Graph& graph, std::size_t must_beat, std::uint64_t node_limit, std::size_t threads, bool recolour,
    bool propagate, const Listener<std::size_t>& on_progress, const Watch& watch) {
  SearchResult result;
  Course<std::size_t> course;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    const OnProgress tell = teller(on_progress, watch, control, course);
    result = search_clique(graph, must_beat, {node_limit, threads, recolour, propagate}, tell, kernels(), control);
  }
  return {to_numpy(widen(result.clique)), result.upper_bound, result.nodes, result.complete, std::move(course)};
}

std::tuple<std::vector<VectorOut<std::int64_t>>, bool> bound_list(const Graph& graph, std::size_t size, bool maximum,
                                                                  std::size_t limit, const Watch& watch) {
  std::vector<std::vector<std::int64_t>> found;
  bool complete;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    // One more than wanted tells whether there are more.
    const auto take = [&](std::span<const Vertex> clique) {
      if (found.size() == limit) return false;
      found.emplace_back(clique.begin(), clique.end());
      return true;
    };
    complete = list_cliques(graph, size, maximum, take, kernels(), control);
  }
  std::vector<VectorOut<std::int64_t>> cliques;
  for (auto& clique : found) cliques.push_back(to_numpy(std::move(clique)));
  return {std::move(cliques), complete};
}

}  // namespace

void bind_clique(nb::module_& m) {
  nb::class_<Watch>(m, "Watch", "When a run of kernels ends, and whether Ctrl-C ends it with what there is.")
      .def(nb::init<std::optional<double>, bool>(), nb::arg("seconds").none(), nb::arg("return_on_interrupt"))
      .def("within", &Watch::within, nb::arg("seconds"), "The same with an earlier end.")
      .def_prop_ro("interrupted", &Watch::interrupted)
      .def_prop_ro("expired", &Watch::expired);

  m.def("greedy_clique", bound_greedy, nb::arg("graph"), nb::arg("cores"), nb::arg("threads"), nb::arg("watch"),
        "Algorithm 1 on a graph ordered by decreasing core number: clique and starts.");

  m.def(
      "greedy_colours",
      [](const Graph& graph, const Watch& watch) {
        const WithoutGil without_gil;
        auto control = watch.control();
        return greedy_colours(graph, kernels(), control);
      },
      nb::arg("graph"), nb::arg("watch"), "Colours of a greedy colouring in index order.");

  m.def("local_search", bound_local_search, nb::arg("graph"), nb::arg("start"), nb::arg("patience"), nb::arg("target"),
        nb::arg("seed"), nb::arg("watch"), "The largest clique that a tabu search meets, and its steps.");
  m.def("reduce", bound_reduce, nb::arg("graph"), nb::arg("size"), nb::arg("threads"), nb::arg("watch"),
        "The part in which a clique of more than `size` vertices lies, and its vertices. The graph is used up: it is "
        "empty "
        "afterwards.");
  m.def("search_clique", bound_search, nb::arg("graph"), nb::arg("must_beat"), nb::arg("node_limit"),
        nb::arg("threads"), nb::arg("recolour"), nb::arg("propagate"), nb::arg("on_progress").none(), nb::arg("watch"),
        "Branch and bound on a graph ordered by decreasing core number: a larger clique or an empty one, an upper "
        "bound, nodes, whether the search is complete, and, without `on_progress`, what it would have been told, with "
        "seconds since the start.");
  m.def(
      "bound_at_root",
      [](const Graph& graph, std::size_t low, std::size_t high, bool recolour, bool propagate, const Watch& watch) {
        const WithoutGil without_gil;
        auto control = watch.control();
        return bound_at_root(graph, low, high, {.recolour = recolour, .propagate = propagate}, kernels(), control);
      },
      nb::arg("graph"), nb::arg("low"), nb::arg("high"), nb::arg("recolour"), nb::arg("propagate"), nb::arg("watch"),
      "An upper bound from a single node of the branch and bound, at least `low` and at most the known bound `high`.");
  m.def("list_cliques", bound_list, nb::arg("graph"), nb::arg("size"), nb::arg("maximum"), nb::arg("limit"),
        nb::arg("watch"),
        "The maximal cliques of more than `size` vertices of a graph ordered by decreasing core number, and whether "
        "that is all of them.");

  m.def("make_maximal", bound_maximal, nb::arg("graph"), nb::arg("claim"), nb::arg("named") = nb::none(),
        "The maximal clique made from a claimed one; how many of the named vertices were removed, and how many others "
        "added.");
}

}  // namespace clipperplus::bindings
