// Clouds as callers have them, in single or double precision: not copied, only looked at.
#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "clouds/bounds.h"
#include "clouds/lzf.h"
#include "clouds/range_image.h"
#include "clouds/voxels.h"
#include "common.h"

namespace clipperplus::bindings {

namespace {

template <class Real>
Bounds bound_bounds(RawPointsIn<Real> points, std::size_t threads) {
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return bounds_of(std::span(points.data(), points.size()), threads, control);
}

template <class Real>
Bounds bound_bounds_within(RawPointsIn<Real> points, const Vector3& low, const Vector3& high, std::size_t threads) {
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return bounds_within(std::span(points.data(), points.size()), low, high, threads, control);
}

template <class Real>
auto bound_means(RawPointsIn<Real> points, const Bounds& bounds, double size, std::size_t threads) {
  VoxelMeans means;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    means = voxel_means(std::span(points.data(), points.size()), bounds, size, threads, control);
  }
  return std::tuple(to_matrix(std::move(means.points), 3), to_numpy(std::move(means.counts)));
}

template <class Real>
std::size_t bound_count(RawPointsIn<Real> points, const Bounds& bounds, double size, std::size_t threads) {
  const WithoutGil without_gil;
  auto control = interruptible_control();
  return count_voxels(std::span(points.data(), points.size()), bounds, size, threads, control);
}

template <class Real>
auto bound_numbers(RawPointsIn<Real> points, const Bounds& bounds, double size) {
  std::vector<std::int32_t> numbers;
  {
    const WithoutGil without_gil;
    auto control = interruptible_control();
    numbers = voxel_numbers(std::span(points.data(), points.size()), bounds, size, control);
  }
  return to_numpy(std::move(numbers));
}

template <class Real>
void make_range_image(RangeImage* self, RawPointsIn<Real> points, VectorIn<double> viewpoint, std::size_t threads) {
  const Vector3 sensor = as_viewpoint(viewpoint);
  const WithoutGil without_gil;
  auto control = interruptible_control();
  new (self) RangeImage(std::span(points.data(), points.size()), sensor, threads, control);
}

template <class Real>
void bind_precision(nb::module_& m, nb::class_<RangeImage>& image) {
  const auto points = nb::arg("points").noconvert();
  m.def("bounds_of", bound_bounds<Real>, points, nb::arg("threads"),
        "How many points are finite, and where these are.");
  m.def("bounds_within", bound_bounds_within<Real>, points, nb::arg("low"), nb::arg("high"), nb::arg("threads"),
        "The same of the points that lie in a box.");
  m.def(
      "voxel_means", bound_means<Real>, points, nb::arg("bounds"), nb::arg("size"), nb::arg("threads"),
      "Means of the points in each cell, and how many there are, without points that the bounds leave out. The points "
      "must be finite.");
  m.def("count_voxels", bound_count<Real>, points, nb::arg("bounds"), nb::arg("size"), nb::arg("threads"),
        "Cells that hold a point.");
  m.def("voxel_numbers", bound_numbers<Real>, points, nb::arg("bounds"), nb::arg("size"),
        "Which of the means each point belongs to; -1 for points that the bounds leave out.");
  image.def("__init__", make_range_image<Real>, points, nb::arg("viewpoint"), nb::arg("threads"));
}

}  // namespace

void bind_raw_clouds(nb::module_& m) {
  nb::class_<Bounds>(m, "Bounds")
      .def_ro("finite", &Bounds::finite)
      .def_ro("low", &Bounds::low)
      .def_ro("high", &Bounds::high);
  auto image = nb::class_<RangeImage>(m, "RangeImage");
  image.def("__getstate__", [](const RangeImage& self) { return std::tuple(self.viewpoint(), self.free()); });
  image.def("__setstate__", [](RangeImage& self, std::tuple<Vector3, std::vector<float>> state) {
    new (&self) RangeImage(std::get<0>(state), std::move(std::get<1>(state)));
  });
  bind_precision<float>(m, image);
  bind_precision<double>(m, image);

  nb::exception<LzfError>(m, "LzfError", PyExc_ValueError);
  m.def(
      "decompress_lzf",
      [](nb::bytes packed, std::size_t size) {
        const std::string_view view(packed.c_str(), packed.size());
        return to_bytes([&] { return decompress_lzf(view, size); });
      },
      nb::arg("packed"), nb::arg("size"));
}

}  // namespace clipperplus::bindings
