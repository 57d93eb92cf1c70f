// What the binding files share: arrays in and out, the choice of instruction set, and Ctrl-C.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "control.h"
#include "simd/kernels.h"

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

// The kernels in use: the best that the processor has, unless select_simd() chose another.
const simd::Kernels& kernels();

// Kernels that run now, and whether the interpreter is about to end. A thread that comes back for the GIL after the end
// is ended by force, through frames that do not expect it; so the end waits until all kernels have stopped.
struct Lifetime {
  std::atomic<int> running{0};
  std::atomic<bool> ending{false};
};
Lifetime& lifetime();

// Releases the GIL for its scope; counts as a running kernel until the GIL is held again.
class WithoutGil {
  struct Running {
    Running() { ++lifetime().running; }
    ~Running() { --lifetime().running; }
  } running_;
  nb::gil_scoped_release release_;
};

// A deadline in seconds from now, and a look at Ctrl-C every 20 ms. Use while the GIL is released.
inline Control make_control(std::optional<double> seconds) {
  return Control(seconds, [] {
    if (lifetime().ending) throw std::runtime_error("the interpreter is shutting down");
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
}

void bind_graph(nb::module_& m);
void bind_clique(nb::module_& m);
void bind_text(nb::module_& m);

}  // namespace clipperplus::bindings
