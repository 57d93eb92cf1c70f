#include "clouds/alignment.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "clouds/hypotheses.h"
#include "clouds/point_checks.h"
#include "clouds/range_image.h"
#include "clouds/similarity.h"
#include "common.h"
#include "geometry/fitting.h"
#include "motions.h"
#include "threads.h"

namespace clipperplus::bindings {

namespace {

// Which turns there are, 3 for all, 1 for those about an axis, 0 for none; the axis; whether shifts are across it only.
using ModelIn = std::tuple<int, std::array<double, 3>, bool>;

MotionModel as_model(const std::optional<ModelIn>& given) {
  if (!given) return {};
  const auto& [turns, up, level] = *given;
  using Turns = MotionModel::Turns;
  return {.turns = turns == 3 ? Turns::kAny : turns == 1 ? Turns::kAboutUp : Turns::kNone, .up = up, .level = level};
}

auto bound_hypotheses(const Graph& graph, PointsIn source, PointsIn target, VectorIn<std::int32_t> known,
                      VectorIn<std::int32_t> starts, std::size_t most, std::size_t least_size, double apart,
                      std::size_t threads, const std::optional<ModelIn>& model) {
  const auto n = graph.num_vertices();
  if (source.shape(0) != n || target.shape(0) != n) throw nb::value_error("a point of each cloud for every vertex");
  const auto from = copied(source), to = copied(target);
  const auto first = copied(known), seeds = copied(starts);
  for (const auto* vertices : {&first, &seeds}) {
    for (const std::int32_t v : *vertices) {
      if (v < 0 || static_cast<std::size_t>(v) >= n) throw nb::value_error("no such vertex");
    }
  }
  std::vector<Hypothesis> found;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> members;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    const HypothesisOptions options{
        .most = most, .least_size = least_size, .apart = apart, .threads = threads, .model = as_model(model)};
    found = find_hypotheses(graph, from, to, first, seeds, options, kernels(), control);
    for (const Hypothesis& hypothesis : found) {
      members.insert(members.end(), hypothesis.clique.begin(), hypothesis.clique.end());
      offsets.push_back(static_cast<std::int64_t>(members.size()));
    }
  }
  return std::tuple(to_matrices(found, [](const Hypothesis& h) -> const RigidMotion& { return h.motion; }),
                    to_numpy(std::move(offsets)), to_numpy(std::move(members)));
}

void check_normals(const PointsIn& points, const PointsIn& normals) {
  if (points.shape(0) != normals.shape(0)) throw nb::value_error("as many normals as points");
}

// How much each point counts; nothing: 1 each.
std::vector<double> as_masses(const PointsIn& points, const std::optional<VectorIn<double>>& array) {
  if (!array) return {};
  if (array->size() != points.shape(0)) throw nb::value_error("as many masses as points");
  return copied(*array);
}

auto bound_refine(const SurfaceGrid& target, PointsIn points, PointsIn normals, MotionsIn array, double reach,
                  double least_cosine, int steps, bool precisely, std::size_t threads,
                  std::optional<VectorIn<double>> masses, const std::optional<ModelIn>& model) {
  check_normals(points, normals);
  auto motions = as_motions(array);
  const auto improve = precisely ? polish_motion : refine_motion;
  {
    const auto p = copied(points), n = copied(normals), m = as_masses(points, masses);
    const WithoutGil without_gil;
    const OrientedPoints source(p, n, m);
    auto control = interruptible_control();
    const MotionModel chosen = as_model(model);
    const auto refine = [&](std::size_t k) {
      motions[k] = improve(target, source, motions[k], {reach, least_cosine}, steps, kernels(), chosen);
    };
    for_each_index(motions.size(), threads, control, refine, 1);
  }
  return to_matrices(motions);
}

auto bound_overlap(const SurfaceGrid& target, PointsIn points, PointsIn normals, VectorIn<double> bends,
                   MotionsIn array, double distance, double least_cosine, std::size_t threads) {
  check_normals(points, normals);
  if (bends.size() != points.shape(0)) throw nb::value_error("as many bends as points");
  const auto motions = as_motions(array);
  std::vector<double> sums(4 * motions.size());
  {
    const auto p = copied(points), n = copied(normals), b = copied(bends);
    const WithoutGil without_gil;
    const OrientedPoints source(p, n, b);
    auto control = interruptible_control();
    const auto measure = [&](std::size_t k) {
      const Overlap found = measure_overlap(target, source, motions[k], {distance, least_cosine}, kernels());
      const double all[] = {static_cast<double>(found.near), static_cast<double>(found.agreeing), found.detail,
                            found.squares};
      std::copy(std::begin(all), std::end(all), &sums[4 * k]);
    };
    for_each_index(motions.size(), threads, control, measure, 1);
  }
  return to_matrix(std::move(sums), 4);
}

auto bound_checks(const SurfaceGrid& target, const RangeImage* sight, PointsIn points, PointsIn normals,
                  MotionsIn array, double distance, double least_cosine, double margin, std::size_t threads) {
  check_normals(points, normals);
  const auto motions = as_motions(array);
  const std::size_t n = points.shape(0);
  std::vector<std::uint8_t> checks(n * motions.size());
  {
    const auto p = copied(points), directions = copied(normals);
    const WithoutGil without_gil;
    auto control = interruptible_control();
    const auto check = [&](std::size_t k) {
      const std::span<std::uint8_t> row(checks.data() + n * k, n);
      check_points(target, sight, p, directions, motions[k], {distance, least_cosine}, margin, row);
    };
    for_each_index(motions.size(), threads, control, check, 1);
  }
  return to_matrix(std::move(checks), n);
}

auto bound_similarity(const SurfaceGrid& target, PointsIn points, PointsIn normals, MotionsIn array, double reach,
                      double least_cosine, int steps) {
  check_normals(points, normals);
  const auto motions = as_motions(array);
  if (motions.size() != 1) throw nb::value_error("one motion");
  const auto p = copied(points), n = copied(normals);
  SimilarityFit fit;
  {
    const WithoutGil without_gil;
    fit = fit_similarity(target, p, n, motions[0], {reach, least_cosine}, steps);
  }
  return std::tuple(fit.scale, fit.information, fit.variance, fit.weights);
}

std::vector<std::int64_t> count_in_front(const RangeImage& image, const OrientedPoints& points,
                                         const std::vector<RigidMotion>& motions, double margin, std::size_t threads,
                                         Control& control) {
  std::vector<std::int64_t> counts(motions.size());
  const auto look = [&](std::size_t k) {
    counts[k] = static_cast<std::int64_t>(image.count_in_front(points, motions[k], margin, kernels()));
  };
  for_each_index(motions.size(), threads, control, look, 1);
  return counts;
}

auto bound_explained(PointsIn source, PointsIn target, MotionsIn array, double distance) {
  if (source.shape(0) != target.shape(0)) throw nb::value_error("as many targets as sources");
  const auto from = copied(source), to = copied(target);
  std::vector<std::int64_t> counts;
  {
    const auto motions = as_motions(array);
    const WithoutGil without_gil;
    const OrientedPoints matched(from, to, {});
    for (const RigidMotion& motion : motions) {
      counts.push_back(static_cast<std::int64_t>(count_explained(matched, motion, distance, kernels())));
    }
  }
  return to_numpy(std::move(counts));
}

auto bound_fit_motion(PointsIn source, PointsIn target, VectorIn<double> weights, const std::optional<ModelIn>& model) {
  const auto from = copied(source), to = copied(target), counting = copied(weights);
  if (from.size() != to.size() || from.empty() || 3 * counting.size() != from.size()) {
    throw nb::value_error("a target and a weight for each source, at least one");
  }
  std::vector<RigidMotion> motion;
  {
    const WithoutGil without_gil;
    motion.push_back(fit_motion(from, to, counting, as_model(model)));
  }
  return to_matrices(motion);
}

auto bound_fit(const SurfaceGrid& target, PointsIn points, PointsIn normals, MotionsIn array, double distance,
               double least_cosine, std::optional<VectorIn<double>> masses) {
  check_normals(points, normals);
  const auto motions = as_motions(array);
  if (motions.size() != 1) throw nb::value_error("one motion");
  const auto p = copied(points), n = copied(normals), m = as_masses(points, masses);
  NormalEquations sums;
  {
    const WithoutGil without_gil;
    sums = measure_fit(target, {p, n, m}, motions[0], {distance, least_cosine}, kernels());
  }
  std::vector<double> information;
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 6; ++j) information.push_back(sums.information[std::max(i, j)][std::min(i, j)]);
  }
  std::vector<double> centre(sums.centre.begin(), sums.centre.end());
  return std::tuple(to_matrix(std::move(information), 6), to_numpy(std::move(centre)), sums.weights, sums.squares,
                    sums.arms);
}

}  // namespace

void bind_alignment(nb::module_& m) {
  m.def("find_hypotheses", bound_hypotheses, nb::arg("graph"), nb::arg("source"), nb::arg("target"), nb::arg("known"),
        nb::arg("starts"), nb::arg("most"), nb::arg("least_size"), nb::arg("apart"), nb::arg("threads"),
        nb::arg("model").none() = nb::none(),
        "Distinct motions from large cliques: their matrices, where the clique of each begins, and the cliques.");
  nb::class_<SurfaceGrid>(m, "SurfaceGrid")
      .def(
          "__init__",
          [](SurfaceGrid* self, PointsIn points, PointsIn normals, double cell, int reach) {
            check_normals(points, normals);
            const auto p = copied(points), n = copied(normals);
            const WithoutGil without_gil;
            auto control = interruptible_control();
            new (self) SurfaceGrid(p, n, cell, reach, control);
          },
          nb::arg("points"), nb::arg("normals"), nb::arg("cell"), nb::arg("reach"))
      .def(
          "near",
          [](const SurfaceGrid& self, PointsIn places) {
            const auto p = copied(places);
            std::vector<std::int32_t> numbers(p.size() / 3);
            {
              const WithoutGil without_gil;
              for (std::size_t i = 0; i < numbers.size(); ++i) {
                numbers[i] = self.near({p[3 * i], p[3 * i + 1], p[3 * i + 2]});
              }
            }
            return to_numpy(std::move(numbers));
          },
          nb::arg("places"), "The number of a point near each place, or -1.")
      .def_prop_ro("nbytes", &SurfaceGrid::num_bytes);
  nb::borrow<nb::class_<RangeImage>>(m.attr("RangeImage"))
      .def(
          "count_in_front",
          [](const RangeImage& self, PointsIn points, MotionsIn array, double margin, std::size_t threads) {
            const auto p = copied(points);
            const auto motions = as_motions(array);
            std::vector<std::int64_t> counts;
            {
              const WithoutGil without_gil;
              auto control = interruptible_control();
              counts = count_in_front(self, {p, {}, {}}, motions, margin, threads, control);
            }
            return to_numpy(std::move(counts));
          },
          nb::arg("points"), nb::arg("motions"), nb::arg("margin"), nb::arg("threads"));
  m.def("refine_motions", bound_refine, nb::arg("target"), nb::arg("points"), nb::arg("normals"), nb::arg("motions"),
        nb::arg("reach"), nb::arg("least_cosine"), nb::arg("steps"), nb::arg("precisely"), nb::arg("threads"),
        nb::arg("masses").none() = nb::none(), nb::arg("model").none() = nb::none(),
        "The motions after some steps of point-to-plane ICP; each point counts by its mass, or 1.");
  m.def("measure_overlaps", bound_overlap, nb::arg("target"), nb::arg("points"), nb::arg("normals"), nb::arg("bends"),
        nb::arg("motions"), nb::arg("distance"), nb::arg("least_cosine"), nb::arg("threads"),
        "Of each motion: how many points come near the target, how many of them with its normal; the sums of the bends "
        "of the latter, and of these times the squared distances along the normals.");
  m.def("check_points", bound_checks, nb::arg("target"), nb::arg("sight").none(), nb::arg("points"), nb::arg("normals"),
        nb::arg("motions"), nb::arg("distance"), nb::arg("least_cosine"), nb::arg("margin"), nb::arg("threads"),
        "How each point fares under each motion: 1 on the target's surface, 2 near it at an angle, 3 where its sensor "
        "looked through, 4 behind what that saw, 0 where nothing is known.");
  m.def(
      "fit_similarity", bound_similarity, nb::arg("target"), nb::arg("points"), nb::arg("normals"), nb::arg("motion"),
      nb::arg("reach"), nb::arg("least_cosine"), nb::arg("steps"),
      "The scale of the source with which steps of point-to-plane ICP fit it best to the target, the information about "
      "it, the variance of the distances along the normals and the sum of their weights.");
  m.def("count_explained", bound_explained, nb::arg("source"), nb::arg("target"), nb::arg("motions"),
        nb::arg("distance"), "How many matched points each motion brings closer together than the distance.");
  m.def("fit_motion", bound_fit_motion, nb::arg("source"), nb::arg("target"), nb::arg("weights"),
        nb::arg("model").none() = nb::none(),
        "The motion with the least weighted sum of squares between matched points.");
  m.def("measure_fit", bound_fit, nb::arg("target"), nb::arg("points"), nb::arg("normals"), nb::arg("motion"),
        nb::arg("distance"), nb::arg("least_cosine"), nb::arg("masses").none() = nb::none(),
        "What pairs of points say about a small motion, turn first: 6 × 6 information, the centre of the turns, the "
        "number of pairs, each counted by the mass of the source's point or 1, the sums of their squared distances "
        "along the normals and from the centre.");
}

}  // namespace clipperplus::bindings
