// The methods that climb or descend to a vector: Algorithm 2 and those that the paper compares with.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>

#include "belachew.h"
#include "clipper.h"
#include "common.h"
#include "graph.h"
#include "relaxation.h"
#include "replicator.h"

namespace clipperplus::bindings {

namespace {

// A copy, so that what is checked is what is used: the caller's array may change meanwhile.
std::vector<double> checked_start(const Graph& graph, const VectorIn<double>& start) {
  if (start.size() != graph.num_vertices()) throw nb::value_error("start must have one entry per vertex");
  std::vector<double> values(start.data(), start.data() + start.size());
  bool positive = false;
  for (double x : values) {
    if (!std::isfinite(x) || x < 0.0) throw nb::value_error("start must be finite and nonnegative");
    positive = positive || x > 0.0;
  }
  if (!positive) throw nb::value_error("start must have a positive entry");
  return values;
}

RelaxationResult bound_relax(const Graph& graph, VectorIn<double> start, const RelaxationOptions& options,
                             const Watch& watch) {
  const auto values = checked_start(graph, start);
  const WithoutGil without_gil;
  auto control = watch.control();
  return relax(graph, values, options, kernels(), control);
}

std::tuple<VectorOut<double>, std::size_t> bound_replicate(const Graph& graph, VectorIn<double> start, double beta,
                                                           double regularisation, double tolerance, int max_steps,
                                                           double epsilon, const Watch& watch) {
  const auto values = checked_start(graph, start);
  ReplicatorResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result = replicate(graph, values, {beta, regularisation, tolerance, max_steps, epsilon}, kernels(), control);
  }
  return {to_numpy(std::move(result.x)), result.steps};
}

std::tuple<VectorOut<double>, std::size_t> bound_rank_one(const Graph& graph, VectorIn<double> start, double first_d,
                                                          double growth, int max_sweeps, double tolerance,
                                                          double epsilon, const Watch& watch) {
  const auto values = checked_start(graph, start);
  BelachewResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    result =
        approximate_by_rank_one(graph, values, {first_d, growth, max_sweeps, tolerance, epsilon}, kernels(), control);
  }
  return {to_numpy(std::move(result.w)), result.sweeps};
}

// The rows of a matrix of weights, copied and checked as far as the kernel's safety needs it.
class CheckedWeights {
 public:
  CheckedWeights(const Graph& graph, const VectorIn<std::int64_t>& offsets, const VectorIn<Vertex>& neighbours,
                 const VectorIn<double>& weights)
      : offsets_(offsets.data(), offsets.data() + offsets.size()),
        neighbours_(neighbours.data(), neighbours.data() + neighbours.size()),
        weights_(weights.data(), weights.data() + weights.size()) {
    const auto n = graph.num_vertices();
    const auto entries = static_cast<std::int64_t>(neighbours_.size());
    const auto outside = [n](Vertex v) { return v < 0 || static_cast<std::size_t>(v) >= n; };
    const auto no_weight = [](double weight) { return !(weight >= 0.0 && weight <= 1.0); };
    if (offsets_.size() != n + 1 || offsets_.front() != 0 || offsets_.back() != entries ||
        !std::is_sorted(offsets_.begin(), offsets_.end()) || weights_.size() != neighbours_.size() ||
        std::any_of(neighbours_.begin(), neighbours_.end(), outside) ||
        std::any_of(weights_.begin(), weights_.end(), no_weight)) {
      throw nb::value_error("weights must be the rows of a matrix with entries in [0, 1]");
    }
  }
  EdgeWeights view() const { return {offsets_, neighbours_, weights_}; }

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<Vertex> neighbours_;
  std::vector<double> weights_;
};

using WeightRows = std::tuple<VectorIn<std::int64_t>, VectorIn<Vertex>, VectorIn<double>>;

std::tuple<VectorOut<double>, double, std::size_t> bound_clipper(const Graph& graph,
                                                                 const std::optional<WeightRows>& weights,
                                                                 VectorIn<double> start, const ClipperOptions& options,
                                                                 const Watch& watch) {
  const auto values = checked_start(graph, start);
  std::optional<CheckedWeights> checked;
  if (weights) checked.emplace(graph, std::get<0>(*weights), std::get<1>(*weights), std::get<2>(*weights));
  ClipperResult result;
  {
    const WithoutGil without_gil;
    auto control = watch.control();
    const EdgeWeights view = checked ? checked->view() : EdgeWeights{};
    result = ascend_clipper(graph, checked ? &view : nullptr, values, options, kernels(), control);
  }
  return {to_numpy(std::move(result.u)), result.value, result.inner_steps};
}

}  // namespace

void bind_continuous(nb::module_& m) {
  nb::class_<AscentOptions>(m, "AscentOptions")
      .def_rw("tol_u", &AscentOptions::tol_u)
      .def_rw("tol_f", &AscentOptions::tol_f)
      .def_rw("max_inner", &AscentOptions::max_inner)
      .def_rw("max_outer", &AscentOptions::max_outer)
      .def_rw("epsilon", &AscentOptions::epsilon);
  nb::class_<RelaxationOptions, AscentOptions>(m, "RelaxationOptions")
      .def(nb::init<>())
      .def_rw("max_line_search", &RelaxationOptions::max_line_search)
      .def_rw("sigma", &RelaxationOptions::sigma)
      .def_rw("beta", &RelaxationOptions::beta)
      .def_rw("min_alpha", &RelaxationOptions::min_alpha)
      .def_rw("max_alpha", &RelaxationOptions::max_alpha);

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
  m.def("relax", bound_relax, nb::arg("graph"), nb::arg("start"), nb::arg("options"), nb::arg("watch"), "Algorithm 2.");

  m.def("replicate", bound_replicate, nb::arg("graph"), nb::arg("start"), nb::arg("beta"), nb::arg("regularisation"),
        nb::arg("tolerance"), nb::arg("max_steps"), nb::arg("epsilon"), nb::arg("watch"),
        "Replicator dynamics: the final vector and the number of steps.");
  m.def("approximate_by_rank_one", bound_rank_one, nb::arg("graph"), nb::arg("start"), nb::arg("first_d"),
        nb::arg("growth"), nb::arg("max_sweeps"), nb::arg("tolerance"), nb::arg("epsilon"), nb::arg("watch"),
        "Symmetric rank-one nonnegative approximation: the final vector and the number of sweeps.");

  nb::class_<ClipperOptions, AscentOptions>(m, "ClipperOptions")
      .def(nb::init<>())
      .def_rw("max_line_search", &ClipperOptions::max_line_search)
      .def_rw("beta", &ClipperOptions::beta);
  m.def("ascend_clipper", bound_clipper, nb::arg("graph"), nb::arg("weights").none(), nb::arg("start"),
        nb::arg("options"), nb::arg("watch"),
        "CLIPPER: the final vector, its value and the number of gradient steps. The weights are offsets, neighbours "
        "and values of the rows of a matrix.");
}

}  // namespace clipperplus::bindings
