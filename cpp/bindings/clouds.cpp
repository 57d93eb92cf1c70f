#include <nanobind/stl/tuple.h>

#include <array>

#include "clouds/fpfh.h"
#include "clouds/matching.h"
#include "clouds/neighbours.h"
#include "clouds/normals.h"
#include "clouds/viewpoints.h"
#include "common.h"
#include "threads.h"

namespace clipperplus::bindings {

namespace {

using FeaturesIn = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Neighbours bound_find_neighbours(PointsIn array, double radius, std::size_t threads) {
  const auto points = copied(array);
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return find_neighbours(points, radius, threads, kernels(), control);
}

void check_size(const Neighbours& neighbours, std::size_t points) {
  if (neighbours.offsets.size() != points + 1) throw nb::value_error("neighbours of other points");
}

auto bound_normals(PointsIn array, const Neighbours& neighbours, double radius, VectorIn<double> viewpoint,
                   std::size_t threads) {
  const auto points = copied(array);
  check_size(neighbours, array.shape(0));
  const auto sensor = as_viewpoint(viewpoint);
  Normals normals;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    normals = estimate_normals(points, neighbours, radius, sensor, threads, kernels(), control);
  }
  return std::tuple(to_matrix(std::move(normals.directions), 3), to_numpy(std::move(normals.bends)));
}

auto bound_turn_inwards(PointsIn point_array, PointsIn normal_array, const Neighbours& neighbours,
                        std::size_t threads) {
  const auto points = copied(point_array), normals = copied(normal_array);
  check_size(neighbours, point_array.shape(0));
  if (normals.size() != points.size()) throw nb::value_error("as many normals as points");
  std::vector<double> turned;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    turned = turn_inwards(points, normals, neighbours, threads, control);
  }
  return to_matrix(std::move(turned), 3);
}

auto bound_fpfh(PointsIn point_array, PointsIn normal_array, const Neighbours& neighbours, std::size_t threads) {
  const auto points = copied(point_array), normals = copied(normal_array);
  check_size(neighbours, point_array.shape(0));
  if (normals.size() != points.size()) throw nb::value_error("as many normals as points");
  std::vector<float> features;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    features = compute_fpfh(points, normals, neighbours, threads, kernels(), control);
  }
  return to_matrix(std::move(features), kFeatureBins);
}

auto bound_nearest(FeaturesIn source, FeaturesIn target, std::size_t k, std::size_t threads) {
  if (source.shape(1) != target.shape(1) || source.shape(1) == 0) throw nb::value_error("features of one length");
  const auto from = copied(source), to = copied(target);
  NearestBothWays found;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    found = nearest_features(from, to, source.shape(1), k, threads, kernels(), control);
  }
  auto& [there, back] = found;
  return std::tuple(to_matrix(std::move(there.indices), there.k), to_matrix(std::move(there.squares), there.k),
                    to_matrix(std::move(back.indices), back.k), to_matrix(std::move(back.squares), back.k));
}

}  // namespace

void bind_clouds(nb::module_& m) {
  nb::class_<Neighbours>(m, "Neighbours").def("of", [](const Neighbours& self, std::size_t i) {
    if (i + 1 >= self.offsets.size()) throw nb::index_error("no such point");
    const auto found = self.of(i);
    return to_numpy(std::vector<std::int32_t>(found.begin(), found.end()));
  });
  m.def("find_neighbours", bound_find_neighbours, nb::arg("points"), nb::arg("radius"), nb::arg("threads"),
        "The points within a radius of each point.");
  m.def("estimate_normals", bound_normals, nb::arg("points"), nb::arg("neighbours"), nb::arg("radius"),
        nb::arg("viewpoint"), nb::arg("threads"),
        "Unit normals, turned towards the viewpoint, and how much the surface bends.");
  nb::class_<ViewedSurface>(m, "ViewedSurface")
      .def(
          "__init__",
          [](ViewedSurface* self, PointsIn point_array, PointsIn normal_array, VectorIn<std::int32_t> count_array,
             const Neighbours& neighbours, double radius, double margin, std::size_t most) {
            const auto points = copied(point_array), normals = copied(normal_array);
            const auto counts = copied(count_array);
            check_size(neighbours, counts.size());
            if (points.size() != 3 * counts.size() || normals.size() != points.size()) {
              throw nb::value_error("a normal and a count for each point");
            }
            const WithoutGil without_gil;
            new (self) ViewedSurface(points, normals, counts, neighbours, radius, margin, most);
          },
          nb::arg("points"), nb::arg("normals"), nb::arg("counts"), nb::arg("neighbours"), nb::arg("radius"),
          nb::arg("margin"), nb::arg("most"))
      .def(
          "look_from",
          [](const ViewedSurface& self, PointsIn array, bool with_hidden, std::size_t threads) {
            const auto places = copied(array);
            std::vector<double> views(4 * places.size() / 3);
            {
              const WithoutGil without_gil;
              auto control = interruptible_control();
              const auto look = [&](std::size_t k) {
                const View view =
                    self.from({places[3 * k], places[3 * k + 1], places[3 * k + 2]}, with_hidden, kernels());
                const double all[] = {view.torn, view.hidden, view.grazing, view.thinning};
                std::copy(std::begin(all), std::end(all), &views[4 * k]);
              };
              for_each_index(places.size() / 3, threads, control, look, 1);
            }
            return to_matrix(std::move(views), 4);
          },
          nb::arg("places"), nb::arg("with_hidden"), nb::arg("threads"),
          "Of each place: the shares torn, hidden (if asked for) and grazing, and the thinning.")
      .def(
          "torn_by",
          [](const ViewedSurface& self, VectorIn<std::int8_t> sides) {
            if (sides.size() != self.size()) throw nb::value_error("a side for each point");
            return self.torn_by(std::span(sides.data(), sides.size()));
          },
          nb::arg("sides"), "The share torn by sides of the normals: 1, -1, or 0 for none.");
  m.def("turn_inwards", bound_turn_inwards, nb::arg("points"), nb::arg("normals"), nb::arg("neighbours"),
        nb::arg("threads"), "Unit normals, each turned to the side of its neighbours.");
  m.def("compute_fpfh", bound_fpfh, nb::arg("points"), nb::arg("normals"), nb::arg("neighbours"), nb::arg("threads"),
        "Fast point feature histograms, 33 numbers a point.");
  m.def("nearest_features", bound_nearest, nb::arg("source"), nb::arg("target"), nb::arg("k"), nb::arg("threads"),
        "Numbers and squared distances of the k nearest: of each source feature, then of each target feature.");
}

}  // namespace clipperplus::bindings
