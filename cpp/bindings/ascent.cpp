// The methods that climb or descend to a vector: Algorithm 2 and those that the paper compares with.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "ascent/belachew.h"
#include "ascent/clipper.h"
#include "ascent/relaxation.h"
#include "ascent/replicator.h"
#include "clipperplus/graph.h"
#include "clique/edge_weighted_cores.h"
#include "clique/edge_weighted_search.h"
#include "common.h"

namespace clipperplus::bindings {

namespace {

// What is checked must be what is used, and the caller's array may change meanwhile.
template <class T>
std::vector<T> copied(const VectorIn<T>& array) {
  return {array.data(), array.data() + array.size()};
}

std::vector<double> checked_start(const Graph& graph, const VectorIn<double>& start) {
  if (start.size() != graph.num_vertices()) throw nb::value_error("start must have one entry per vertex");
  auto values = copied(start);
  bool positive = false;
  for (double x : values) {
    if (!std::isfinite(x) || x < 0.0) throw nb::value_error("start must be finite and nonnegative");
    positive = positive || x > 0.0;
  }
  if (!positive) throw nb::value_error("start must have a positive entry");
  return values;
}

void check_weights(const Graph& graph, const EdgeWeights* weights) {
  if (weights != nullptr && weights->num_vertices() != graph.num_vertices()) {
    throw nb::value_error("weights must be those of a graph with as many vertices");
  }
}

RelaxationResult bound_relax(const Graph& graph, VectorIn<double> start, const RelaxationOptions& options,
                             const Watch& watch, const EdgeWeights* weights) {
  const auto values = checked_start(graph, start);
  check_weights(graph, weights);
  const WithoutGil without_gil;
  auto control = watch.control();
  return relax(graph, weights, values, options, kernels(), control);
}

constexpr std::array<std::pair<const char*, Optimiser>, 2> kOptimisers = {
    {{"gradient", Optimiser::gradient}, {"lbfgs", Optimiser::lbfgs}}};

void set_optimiser(RelaxationOptions& options, const std::string& name) {
  for (const auto& [known, optimiser] : kOptimisers) {
    if (name == known) {
      options.optimiser = optimiser;
      return;
    }
  }
  throw nb::value_error("no such optimiser");
}

void set_start(RelaxationOptions& options, VectorIn<double> start) { options.start = copied(start); }

const char* name_of_optimiser(const RelaxationOptions& options) {
  return kOptimisers[static_cast<std::size_t>(options.optimiser)].first;
}

// The final vector, steps, and whether it came to an end of its own.
using Outcome = std::tuple<VectorOut<double>, std::size_t, bool>;

Outcome bound_replicate(const Graph& graph, VectorIn<double> start, const ReplicatorOptions& options,
                        const Watch& watch) {
  const auto values = checked_start(graph, start);
  ReplicatorResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = replicate(graph, values, options, kernels(), control);
  }
  return {to_numpy(std::move(result.x)), result.steps, result.finished};
}

Outcome bound_rank_one(const Graph& graph, VectorIn<double> start, const BelachewOptions& options, const Watch& watch) {
  const auto values = checked_start(graph, start);
  BelachewResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = approximate_by_rank_one(graph, values, options, kernels(), control);
  }
  return {to_numpy(std::move(result.w)), result.sweeps, result.finished};
}

void make_weights(EdgeWeights* place, const Graph& graph, VectorIn<std::int64_t> offsets, VectorIn<Vertex> neighbours,
                  VectorIn<double> weights) {
  const WithoutGil without_gil;
  auto control = interruptible_control();
  new (place) EdgeWeights(graph, copied(offsets), copied(neighbours), copied(weights), control);
}

bool all_below(const auto& vertices, std::size_t n) {
  return std::all_of(vertices.begin(), vertices.end(),
                     [n](auto v) { return v >= 0 && static_cast<std::size_t>(v) < n; });
}

EdgeWeights bound_part(const EdgeWeights& weights, const Graph& graph, VectorIn<Vertex> vertices) {
  const auto kept = copied(vertices);
  if (kept.size() != graph.num_vertices()) throw nb::value_error("vertices must be those of the graph");
  if (!all_below(kept, weights.num_vertices())) throw nb::value_error("vertex out of range");
  if (auto sorted = kept;
      std::sort(sorted.begin(), sorted.end()), std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw nb::value_error("vertices must be distinct");
  }
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return weights.part(graph, kept, control);
}

double bound_value(const EdgeWeights& weights, VectorIn<std::int64_t> clique) {
  const auto vertices = copied(clique);
  if (!all_below(vertices, weights.num_vertices())) throw nb::value_error("vertex out of range");
  return weights.value_of(vertices);
}

std::optional<EdgeWeights> weights_of_tidy_rows(const Graph& graph, VectorIn<std::int64_t> offsets,
                                                VectorIn<Vertex> neighbours, VectorIn<double> weights) {
  const WithoutGil without_gil;
  auto rows = copied(offsets);
  auto columns = copied(neighbours);
  auto values = copied(weights);
  if (!are_tidy_rows(rows, columns, values)) return std::nullopt;
  auto control = interruptible_control();
  return EdgeWeights(graph, std::move(rows), std::move(columns), std::move(values), control);
}

std::tuple<VectorOut<Vertex>, VectorOut<double>> bound_weighted_cores(const EdgeWeights& weights) {
  EdgeWeightedCores cores;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    cores = edge_weighted_cores(weights, control);
  }
  return {to_numpy(std::move(cores.order)), to_numpy(std::move(cores.numbers))};
}

using WeightedOutcome = std::tuple<VectorOut<std::int64_t>, std::size_t>;

WeightedOutcome bound_weighted_greedy(const Graph& graph, const EdgeWeights& weights, VectorIn<double> cores,
                                      const Watch& watch) {
  check_weights(graph, &weights);
  if (cores.size() != graph.num_vertices()) throw nb::value_error("cores must have one entry per vertex");
  EdgeWeightedClique found;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    found = edge_weighted_greedy(graph, weights, as_span(cores), control);
  }
  return {to_numpy(std::move(found.vertices)), found.steps};
}

WeightedOutcome bound_weighted_search(const Graph& graph, const EdgeWeights& weights, VectorIn<std::int64_t> claim,
                                      std::size_t patience, const Watch& watch) {
  check_weights(graph, &weights);
  const auto vertices = copied(claim);
  if (!all_below(vertices, graph.num_vertices())) throw nb::value_error("vertex out of range");
  EdgeWeightedClique found;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    found = edge_weighted_search(graph, weights, vertices, patience, control);
  }
  return {to_numpy(std::move(found.vertices)), found.steps};
}

std::tuple<VectorOut<double>, double, std::size_t, bool> bound_clipper(const Graph& graph, const EdgeWeights* weights,
                                                                       VectorIn<double> start,
                                                                       const ClipperOptions& options,
                                                                       const Watch& watch) {
  const auto values = checked_start(graph, start);
  check_weights(graph, weights);
  ClipperResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = ascend_clipper(graph, weights, values, options, kernels(), control);
  }
  return {to_numpy(std::move(result.u)), result.value, result.inner_steps, result.finished};
}

// What every ascent has that raises d step by step.
template <class Options>
nb::class_<Options> bind_ascent_options(nb::module_& m, const char* name) {
  return nb::class_<Options>(m, name)
      .def(nb::init<>())
      .def_rw("tol_u", &Options::tol_u)
      .def_rw("tol_f", &Options::tol_f)
      .def_rw("max_inner", &Options::max_inner)
      .def_rw("max_outer", &Options::max_outer)
      .def_rw("epsilon", &Options::epsilon)
      .def_rw("max_line_search", &Options::max_line_search)
      .def_rw("beta", &Options::beta);
}

}  // namespace

void bind_ascent(nb::module_& m) {
  bind_ascent_options<RelaxationOptions>(m, "RelaxationOptions")
      .def_rw("sigma", &RelaxationOptions::sigma)
      .def_rw("min_alpha", &RelaxationOptions::min_alpha)
      .def_rw("max_alpha", &RelaxationOptions::max_alpha)
      .def_prop_rw("optimiser", name_of_optimiser, set_optimiser)
      .def("set_start", set_start, nb::arg("start"), "One entry per vertex of the graph.");

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
  nb::class_<ReplicatorOptions>(m, "ReplicatorOptions")
      .def(nb::init<>())
      .def_rw("beta", &ReplicatorOptions::beta)
      .def_rw("regularisation", &ReplicatorOptions::regularisation)
      .def_rw("tolerance", &ReplicatorOptions::tolerance)
      .def_rw("max_steps", &ReplicatorOptions::max_steps)
      .def_rw("epsilon", &ReplicatorOptions::epsilon);
  m.def("replicate", bound_replicate, nb::arg("graph"), nb::arg("start"), nb::arg("options"), nb::arg("watch"),
        "Replicator dynamics: the final vector, steps, and whether it has settled.");

  nb::class_<BelachewOptions>(m, "BelachewOptions")
      .def(nb::init<>())
      .def_rw("first_d", &BelachewOptions::first_d)
      .def_rw("growth", &BelachewOptions::growth)
      .def_rw("max_sweeps", &BelachewOptions::max_sweeps)
      .def_rw("tolerance", &BelachewOptions::tolerance)
      .def_rw("epsilon", &BelachewOptions::epsilon);
  m.def("approximate_by_rank_one", bound_rank_one, nb::arg("graph"), nb::arg("start"), nb::arg("options"),
        nb::arg("watch"),
        "Symmetric rank-one nonnegative approximation: the final vector, sweeps, and whether it was not cut off.");

  nb::exception<InvalidWeights>(m, "InvalidWeights", PyExc_ValueError);
  nb::class_<EdgeWeights>(m, "EdgeWeights", "Weights of the edges of a graph, checked.")
      .def("__init__", make_weights, nb::arg("graph"), nb::arg("offsets"), nb::arg("neighbours"), nb::arg("weights"))
      .def_static("of_tidy_rows", weights_of_tidy_rows, nb::arg("graph"), nb::arg("offsets"), nb::arg("neighbours"),
                  nb::arg("weights"), "The same of arrays that may need work before: then there are none.")
      .def("part", bound_part, nb::arg("graph"), nb::arg("vertices"),
           "Those of a graph on some of the vertices, relabelled in their order.")
      .def("value_of", bound_value, nb::arg("clique"), "u' M u of the unit vector that is constant on a clique.");
  m.def("relax", bound_relax, nb::arg("graph"), nb::arg("start"), nb::arg("options"), nb::arg("watch"),
        nb::arg("weights").none() = nb::none(), "Algorithm 2.");
  m.def("edge_weighted_cores", bound_weighted_cores, nb::arg("weights"),
        "Vertices by decreasing weighted core number, and these numbers in that order.");
  m.def("edge_weighted_greedy", bound_weighted_greedy, nb::arg("graph"), nb::arg("weights"), nb::arg("cores"),
        nb::arg("watch"),
        "Algorithm 1 for weighted edges, on a graph ordered by decreasing weighted core number: clique and starts.");
  m.def("edge_weighted_search", bound_weighted_search, nb::arg("graph"), nb::arg("weights"), nb::arg("claim"),
        nb::arg("patience"), nb::arg("watch"), "A clique of better value by exchange: clique and steps.");
  m.def("least_core", least_core, nb::arg("value"), "The weighted core number that a clique of better value needs.");
  bind_ascent_options<ClipperOptions>(m, "ClipperOptions");
  m.def("ascend_clipper", bound_clipper, nb::arg("graph"), nb::arg("weights").none(), nb::arg("start"),
        nb::arg("options"), nb::arg("watch"),
        "CLIPPER: the final vector, its value, gradient steps, and whether the constraint holds. The weights are "
        "offsets, "
        "neighbours and values of the rows of a matrix.");
}

}  // namespace clipperplus::bindings
