#include "geometry/camera.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <numeric>

#include "common.h"
#include "consistency/camera_groups.h"
#include "geometry/p3p.h"
#include "motions.h"
#include "threads.h"

namespace clipperplus::bindings {

namespace {

using PlacesIn = nb::ndarray<const double, nb::shape<-1, 2>, nb::c_contig, nb::device::cpu>;
using TriplesIn = nb::ndarray<const double, nb::shape<-1, 3, 3>, nb::c_contig, nb::device::cpu>;

void check_matches(const PointsIn& points, const PlacesIn& places, const std::array<double, 3>& scale) {
  if (points.shape(0) != places.shape(0)) throw nb::value_error("as many places as points");
  if (!(scale[0] > 0.0 && scale[2] > 0.0)) throw nb::value_error("focal lengths above 0");
}

auto bound_groups(PointsIn points, PlacesIn places, std::array<double, 3> scale, double epsilon,
                  std::size_t max_triples, std::size_t least, std::uint64_t seed, std::size_t threads) {
  check_matches(points, places, scale);
  const auto p = copied(points), q = copied(places);
  CameraGroups found;
  Graph graph;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    const CameraGroupOptions options{.epsilon = epsilon, .max_triples = max_triples, .seed = seed, .threads = threads};
    found = find_camera_groups(p, q, {scale[0], scale[1], scale[2]}, options, control);
    graph = join_by_groups(q.size() / 2, found.members, least, threads, kernels(), control);
  }
  return std::tuple(std::move(graph), to_matrices(found.poses), found.members.size(), found.triples);
}

auto bound_fit_camera(PointsIn points, PlacesIn places, std::array<double, 3> scale, MotionsIn start, double epsilon,
                      bool robust, int steps) {
  check_matches(points, places, scale);
  const auto starts = as_motions(start);
  if (starts.size() != 1) throw nb::value_error("one pose");
  const auto p = copied(points), q = copied(places);
  std::vector<double> information;
  std::vector<RigidMotion> poses;
  {
    const WithoutGil without_gil;
    std::vector<std::uint32_t> order(q.size() / 2);
    std::iota(order.begin(), order.end(), 0U);
    const SeenPoints seen(p, q, {scale[0], scale[1], scale[2]}, order);
    const auto fit = fit_camera(seen, starts[0], epsilon, robust ? Loss::kRobust : Loss::kTruncated, steps);
    poses.push_back(fit.pose);
    for (std::size_t i = 0; i < 6; ++i) {
      for (std::size_t j = 0; j < 6; ++j) information.push_back(fit.information[std::max(i, j)][std::min(i, j)]);
    }
  }
  return std::tuple(to_matrices(poses), to_matrix(std::move(information), 6));
}

auto bound_p3p(TriplesIn points, TriplesIn directions) {
  if (points.shape(0) != directions.shape(0)) throw nb::value_error("as many directions as points");
  const auto p = copied(points), d = copied(directions);
  std::vector<RigidMotion> poses;
  std::vector<std::int64_t> counts;
  {
    const WithoutGil without_gil;
    for (std::size_t k = 0; k < p.size(); k += 9) {
      std::array<Vector3, 3> places, seen;
      for (std::size_t i = 0; i < 9; ++i) places[i / 3][i % 3] = p[k + i], seen[i / 3][i % 3] = d[k + i];
      const auto found = solve_p3p(places, seen);
      poses.insert(poses.end(), found.motions.begin(),
                   found.motions.begin() + static_cast<std::ptrdiff_t>(found.count));
      counts.push_back(static_cast<std::int64_t>(found.count));
    }
  }
  return std::tuple(to_matrices(poses), to_numpy(std::move(counts)));
}

}  // namespace

void bind_camera(nb::module_& m) {
  m.def("find_camera_groups", bound_groups, nb::arg("points"), nb::arg("places"), nb::arg("scale"), nb::arg("epsilon"),
        nb::arg("max_triples"), nb::arg("least"), nb::arg("seed"), nb::arg("threads"),
        "The graph of the matches that are found together in at least so many groups, distinct poses, those that "
        "explain most first, and how many groups and triples there were.");
  m.def("fit_camera", bound_fit_camera, nb::arg("points"), nb::arg("places"), nb::arg("scale"), nb::arg("start"),
        nb::arg("epsilon"), nb::arg("robust"), nb::arg("steps"),
        "The pose after some steps of Gauss–Newton, and the information about a small motion after it, turn first.");
  m.def("solve_p3p", bound_p3p, nb::arg("points"), nb::arg("directions"),
        "The poses that see three points each in three directions of length 1, those of one after those of another, "
        "and how many each has.");
}

}  // namespace clipperplus::bindings
