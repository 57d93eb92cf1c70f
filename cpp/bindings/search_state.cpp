// A search as Python sees it: the state, what it is told and asked by Python, and the methods that run on it.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "clique/all_cliques.h"
#include "clique/core_order.h"
#include "clique/methods.h"
#include "common.h"

namespace clipperplus::bindings {

namespace {

using Listener = std::optional<nb::typed<nb::callable, nb::object(std::size_t, std::size_t, double)>>;

// What the listener returns is nobody's business; a KeyboardInterrupt counts as Ctrl-C.
CliqueCallback teller(Listener listener, bool return_on_interrupt) {
  if (!listener) return nullptr;
  return [listener = std::move(*listener), return_on_interrupt](std::size_t best, std::size_t bound, double seconds) {
    const nb::gil_scoped_acquire acquire;
    try {
      listener(best, bound, seconds);
    } catch (nb::python_error& error) {
      if (!return_on_interrupt || !error.matches(PyExc_KeyboardInterrupt)) throw;
      return false;
    }
    return true;
  };
}

// A copy, because the caller's array may change; weights that sums could overflow with are refused.
std::vector<Weight> checked_weights(const Graph& graph, const std::optional<VectorIn<Weight>>& given) {
  constexpr Weight kMost = Weight{1} << 62;
  if (!given) return {};
  std::vector<Weight> weights(given->data(), given->data() + given->size());
  if (weights.size() != graph.num_vertices()) throw nb::value_error("weights must have one entry per vertex");
  Weight total = 0;
  for (const Weight weight : weights) {
    if (weight < 0 || weight >= kMost - total) throw nb::value_error("weights must be at least 0, and less than 2⁶²");
    total += weight;
  }
  return weights;
}

void make_state(SearchState* place, const Graph& graph, std::optional<double> time_limit, std::size_t threads,
                std::optional<std::uint64_t> node_limit, Listener listener, bool return_on_interrupt,
                const std::optional<VectorIn<Weight>>& vertex_weights) {
  new (place) SearchState(
      graph, {time_limit, threads, node_limit.value_or(kNoNodeLimit)}, checked_weights(graph, vertex_weights),
      teller(std::move(listener), return_on_interrupt),
      [return_on_interrupt] { return check_signals(return_on_interrupt); }, kernels());
}

void search_instead(SearchState& state, const Graph& same) {
  if (same.num_vertices() != state.graph().num_vertices()) throw nb::value_error("expected the same graph");
  state.search_instead(same);
}

void weigh_edges(SearchState& state, const EdgeWeights& weights) {
  if (weights.num_vertices() != state.graph().num_vertices()) {
    throw nb::value_error("weights must be those of a graph with as many vertices");
  }
  state.weigh_edges(weights);
}

void bound_offer(SearchState& state, std::string_view stage, VectorIn<std::int64_t> claim,
                 std::optional<std::uint64_t> count, std::optional<std::size_t> named, std::optional<bool> converged) {
  const auto vertices = checked_vertices(state.graph(), claim);
  const WithoutGil without_gil;
  const std::size_t n = state.graph().num_vertices();
  state.run(
      [&] { state.offer(stage, vertices, {.vertices = n, .count = count, .converged = converged, .named = named}); });
}

// The relaxation's settings, or its defaults.
const RelaxationOptions& settings_of(const SearchState& state, const RelaxationOptions* given) {
  static const RelaxationOptions defaults;
  if (given == nullptr) return defaults;
  if (!given->start.empty() && given->start.size() != state.graph().num_vertices()) {
    throw nb::value_error("start must have one entry per vertex");
  }
  return *given;
}

void run_exact(SearchState& state, const RelaxationOptions* relaxation, const SearchOptions* search) {
  const RelaxationOptions& relaxing = settings_of(state, relaxation);
  const SearchOptions searching = search == nullptr ? SearchOptions() : *search;
  const WithoutGil without_gil;
  state.run([&] { find_exact(state, relaxing, searching); });
}

void run_clipperplus(SearchState& state, const RelaxationOptions* relaxation) {
  const RelaxationOptions& relaxing = settings_of(state, relaxation);
  const WithoutGil without_gil;
  state.run([&] { find_clipperplus(state, relaxing); });
}

std::tuple<std::vector<VectorOut<std::int64_t>>, bool> bound_list(SearchState& state, std::size_t size, bool maximum,
                                                                  std::size_t limit) {
  CliqueList found;
  {
    const WithoutGil without_gil;
    state.run([&] { found = find_cliques(state, size, maximum, limit); });
  }
  std::vector<VectorOut<std::int64_t>> cliques;
  for (auto& clique : found.cliques) cliques.push_back(to_numpy(std::move(clique)));
  return {std::move(cliques), found.complete};
}

using StageRow = std::tuple<std::string, double, std::optional<std::uint64_t>, std::size_t, std::size_t, std::size_t,
                            std::size_t, std::optional<bool>>;
using NewsRow = std::tuple<double, std::size_t, std::size_t>;

std::vector<StageRow> stages_of(const CliqueResult& result) {
  std::vector<StageRow> rows;
  for (const CliqueStage& s : result.stages) {
    rows.emplace_back(s.name, s.seconds, s.count, s.clique_size, s.vertices, s.removed, s.added, s.converged);
  }
  return rows;
}

std::vector<NewsRow> history_of(const CliqueResult& result) {
  std::vector<NewsRow> rows;
  for (const Progress& news : result.history) rows.emplace_back(news.seconds, news.size, news.upper_bound);
  return rows;
}

}  // namespace

void bind_search_state(nb::module_& m) {
  nb::class_<SearchOptions>(m, "SearchOptions")
      .def(nb::init<>())
      .def_rw("core_bound", &SearchOptions::core_bound)
      .def_rw("colour_bound", &SearchOptions::colour_bound)
      .def_rw("reduction", &SearchOptions::reduction)
      .def_rw("local_search", &SearchOptions::local_search)
      .def_rw("relaxation", &SearchOptions::relaxation)
      .def_rw("recolouring", &SearchOptions::recolouring)
      .def_rw("propagation", &SearchOptions::propagation);

  nb::class_<CliqueResult>(m, "CliqueResult", "What a search found.")
      .def(
          "vertices", [](const CliqueResult& result) { return to_numpy(widen(result.vertices)); },
          "The clique, sorted: a new array each time.")
      .def_ro("upper_bound", &CliqueResult::upper_bound)
      .def_prop_ro(
          "certificate", [](const CliqueResult& result) { return static_cast<int>(result.certificate); }, "Its number.")
      .def_ro("seconds", &CliqueResult::seconds)
      .def_ro("interrupted", &CliqueResult::interrupted, "Whether Ctrl-C ended the search.")
      .def("stages", stages_of,
           "Name, seconds, count, size of the clique, vertices, removed, added, converged of each.")
      .def("history", history_of, "Seconds, size and upper bound of every improvement.");

  nb::class_<SearchState>(m, "SearchState", "What is known during a search.")
      .def("__init__", make_state, nb::arg("graph"), nb::arg("time_limit").none(), nb::arg("threads"),
           nb::arg("node_limit").none(), nb::arg("listener").none(), nb::arg("return_on_interrupt"),
           nb::arg("vertex_weights").none(), nb::keep_alive<1, 2>())
      .def("search_instead", search_instead, nb::arg("same"), nb::keep_alive<1, 2>(),
           "Work on the same graph, stored in another way.")
      .def("weigh_edges", weigh_edges, nb::arg("weights"), nb::keep_alive<1, 2>(),
           "Compare cliques by their value from now on.")
      .def_prop_ro("watch", &SearchState::watch, nb::rv_policy::copy, "What ends the kernels of this search.")
      .def_prop_ro("size", &SearchState::size, "Size of the best clique so far.")
      .def_prop_ro("value", &SearchState::value, "Of the best clique so far, where edges have weights.")
      .def_prop_ro("proven", &SearchState::proven, "Whether the best clique so far is known to be a maximum one.")
      .def("offer", bound_offer, nb::arg("stage"), nb::arg("claim"), nb::arg("count") = nb::none(),
           nb::arg("named") = nb::none(), nb::arg("converged") = nb::none(),
           "End a stage, on the whole graph, with the clique that it claims, best vertices first. It is repaired and "
           "grown to a maximal clique, and kept if it is better than the best so far. With `named` only so many "
           "vertices are claimed, and the others say in which order to grow them; with 0 that is how the method makes "
           "its clique, and nothing counts as repaired.")
      .def(
          "record",
          [](SearchState& state, std::string_view stage) {
            state.record(stage, {.vertices = state.graph().num_vertices()});
          },
          nb::arg("stage"), "End a stage, on the whole graph, that claims no clique.")
      .def(
          "bound_afterwards",
          [](SearchState& state) {
            const WithoutGil without_gil;
            state.run([&] { bound_afterwards(state); });
          },
          "Look for a certificate once a method that needs no order has ended.")
      .def(
          "find_greedy",
          [](SearchState& state) {
            const WithoutGil without_gil;
            state.run([&] { find_greedy(state); });
          },
          "Algorithm 1.")
      .def("find_clipperplus", run_clipperplus, nb::arg("relaxation").none(), "Algorithm 3.")
      .def("find_exact", run_exact, nb::arg("relaxation").none(), nb::arg("search").none(),
           "The maximum clique, with proof.")
      .def("list_cliques", bound_list, nb::arg("size"), nb::arg("maximum"), nb::arg("limit"),
           "The maximal cliques of more than `size` vertices, or all maximum ones, and whether that is all of them.")
      .def("result", &SearchState::result, "Close the books.");
}

}  // namespace clipperplus::bindings
