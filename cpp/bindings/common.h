// What the binding files share: arrays in and out, the choice of instruction set, and Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "simd/kernels.h"
#include "watch.h"

namespace clipperplus::bindings {

namespace nb = nanobind;

template <class T>
using VectorIn = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using VectorOut = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
std::span<const T> as_span(const VectorIn<T>& array) {
  return {array.data(), array.size()};
}

// Hands a vector's memory to numpy without a copy.
template <class T>
VectorOut<T> to_numpy(std::vector<T>&& values) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return VectorOut<T>(owned->data(), {owned->size()}, owner);
}

template <class T>
using MatrixOut = nb::ndarray<nb::numpy, T, nb::ndim<2>>;
template <class Real>
using RawPointsIn = nb::ndarray<const Real, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using PointsIn = RawPointsIn<double>;

template <class T>
MatrixOut<T> to_matrix(std::vector<T>&& values, std::size_t columns) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return MatrixOut<T>(owned->data(), {columns == 0 ? 0 : owned->size() / columns, columns}, owner);
}

// A copy of the caller's numbers, who may have threads that change them while they are used.
template <class Array>
auto copied(const Array& array) {
  using T = std::remove_const_t<typename Array::Scalar>;
  if (array.shape(0) > 0x7FFFFFFF) throw nb::value_error("too many rows");
  return std::vector<T>(array.data(), array.data() + array.size());
}

inline std::array<double, 3> as_viewpoint(const VectorIn<double>& array) {
  if (array.size() != 3) throw nb::value_error("a viewpoint has three coordinates");
  return {array.data()[0], array.data()[1], array.data()[2]};
}

// A copy of vertices of a graph: what is checked must be what is used, and the caller's array may change meanwhile.
inline std::vector<std::int64_t> checked_vertices(const Graph& graph, const VectorIn<std::int64_t>& given) {
  std::vector<std::int64_t> vertices(given.data(), given.data() + given.size());
  for (const std::int64_t v : vertices) {
    if (v < 0 || static_cast<std::size_t>(v) >= graph.num_vertices()) throw nb::value_error("vertex out of range");
  }
  return vertices;
}

inline std::vector<std::int64_t> widen(const std::vector<Vertex>& vertices) {
  return {vertices.begin(), vertices.end()};
}

// The kernels in use: the best that the processor has, unless select_simd() chose another.
const simd::Kernels& kernels();

// Kernels that run now, and whether the interpreter is about to end. A thread that comes back for the GIL after the end
// is ended by force, through frames that do not expect it; so the end waits until all kernels have stopped.
struct Lifetime {
  std::atomic<int> running{0};
  std::atomic<bool> ending{false};
};
Lifetime& lifetime();

// Throws KeyboardInterrupt in a thread that obeys a Stop, once that has been said.
void check_stop();

// Releases the GIL for its scope; counts as a running kernel until the GIL is held again.
class WithoutGil {
  struct Checked {
    Checked() { check_stop(); }
  } checked_;
  struct Running {
    Running() { ++lifetime().running; }
    ~Running() { --lifetime().running; }
  } running_;
  nb::gil_scoped_release release_;
};

// Bytes of a text that is made without the GIL.
template <class Make>
nb::bytes to_bytes(Make make) {
  std::string text;
  {
    const WithoutGil without_gil;
    text = make();
  }
  return nb::bytes(text.data(), text.size());
}

// Looks at Ctrl-C: throws, or says that a kernel has to stop with what there is, if that is wanted.
bool check_signals(bool return_on_interrupt);

// For a kernel without a partial answer: no deadline, and Ctrl-C throws.
inline Control interruptible_control() {
  return Control(Control::Clock::time_point::max(), [] { return check_signals(false); });
}

void bind_graph(nb::module_& m);
void bind_clique(nb::module_& m);
void bind_search_state(nb::module_& m);
void bind_alignment(nb::module_& m);
void bind_camera(nb::module_& m);
void bind_clouds(nb::module_& m);
void bind_raw_clouds(nb::module_& m);
void bind_consistency(nb::module_& m);
void bind_ascent(nb::module_& m);
void bind_graph_text(nb::module_& m);

}  // namespace clipperplus::bindings
