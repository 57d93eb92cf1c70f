#include "consistency/consistency.h"

#include <nanobind/stl/optional.h>

#include <cmath>

#include "common.h"

namespace clipperplus::bindings {

namespace {

using LandmarksIn = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using PairsIn = nb::ndarray<const std::int64_t, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;

Graph bound_join(LandmarksIn source, LandmarksIn target, std::optional<PairsIn> associations, double epsilon,
                 std::optional<VectorIn<double>> epsilons, double min_distance, bool one_to_one,
                 std::size_t clique_size, std::size_t threads, std::optional<PointsIn> offsets) {
  const std::size_t dimension = source.shape(1);
  if (dimension < 2 || dimension > 3 || target.shape(1) != dimension) throw nb::value_error("points in 2-D or 3-D");
  const std::size_t count = associations ? associations->shape(0) : source.shape(0);
  if (!associations && target.shape(0) != count) throw nb::value_error("as many targets as sources");
  if (count > static_cast<std::size_t>(Graph::kMaxVertices)) throw nb::value_error("too many associations");
  constexpr std::size_t kMaxPoints = 0x7FFFFFFF;
  if (source.shape(0) > kMaxPoints || target.shape(0) > kMaxPoints) throw nb::value_error("too many points");
  // Copied: pairs are visited twice, and the caller's arrays may change meanwhile.
  const std::vector<double> from(source.data(), source.data() + source.size());
  const std::vector<double> to(target.data(), target.data() + target.size());
  DistanceProblem problem{dimension, from, to, {}, count};
  if (associations) {
    problem.associations = {associations->data(), associations->size()};
    for (std::size_t k = 0; k < problem.associations.size(); ++k) {
      const auto there = static_cast<std::int64_t>(k % 2 == 0 ? source.shape(0) : target.shape(0));
      if (problem.associations[k] < 0 || problem.associations[k] >= there) throw nb::value_error("no such point");
    }
  }
  if (epsilons) {
    if (epsilons->size() != count) throw nb::value_error("as many thresholds as associations");
    problem.epsilons = as_span(*epsilons);
  }
  std::vector<double> apart;
  if (offsets) {
    if (offsets->shape(0) != count) throw nb::value_error("as many offsets as associations");
    apart = copied(*offsets);
    problem.offsets = apart;
  }
  problem.epsilon = epsilon;
  problem.min_distance = min_distance;
  problem.one_to_one = one_to_one;
  problem.clique_size = clique_size;
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return join_by_distance(problem, {.threads = threads}, kernels(), control);
}

}  // namespace

void bind_consistency(nb::module_& m) {
  m.def("join_by_distance", bound_join, nb::arg("source"), nb::arg("target"), nb::arg("associations").none(),
        nb::arg("epsilon"), nb::arg("epsilons").none(), nb::arg("min_distance"), nb::arg("one_to_one"),
        nb::arg("clique_size"), nb::arg("threads"), nb::arg("offsets").none() = nb::none(),
        "The graph of the associations that agree in distance, and in their offsets. The points must be finite, and "
        "the associations the "
        "caller's own copy.");
}

}  // namespace clipperplus::bindings
