#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "common.h"

namespace clipperplus::bindings {

namespace {
std::atomic<const simd::Kernels*> selected{nullptr};
Lifetime the_lifetime;
}  // namespace

Lifetime& lifetime() { return the_lifetime; }
const simd::Kernels& kernels() { return *selected.load(std::memory_order_relaxed); }

bool Watch::check_signals(State* state) {
  if (lifetime().ending) throw std::runtime_error("the interpreter is shutting down");
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() == 0) return false;
  if (state == nullptr || !state->return_on_interrupt || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) {
    throw nb::python_error();
  }
  PyErr_Clear();
  state->interrupted = true;
  return true;
}

}  // namespace clipperplus::bindings

NB_MODULE(_core, m) {
  using namespace clipperplus;
  using namespace clipperplus::bindings;
  m.doc() = "The C++ kernels of clipperplus. Private: use the functions of the package.";
  selected.store(simd::available().front());
  nb::set_leak_warnings(false);  // objects that outlive the interpreter are the caller's; the library does not print

  m.def(
      "simd_available",
      [] {
        std::vector<std::string> names;
        for (const auto* path : simd::available()) names.emplace_back(path->name);
        return names;
      },
      "Instruction sets that this processor can run, best first.");
  m.def(
      "give_back_memory",
      [] {
#ifdef __GLIBC__
        const WithoutGil without_gil;
        malloc_trim(0);
#endif
      },
      "Return memory that was freed to the system, where the allocator does not do so by itself.");
  m.def("simd_selected", [] { return std::string(kernels().name); });
  m.def(
      "select_simd",
      [](const std::string& name) {
        for (const auto* path : simd::available()) {
          if (name == path->name) {
            selected.store(path);
            return;
          }
        }
        throw nb::value_error(("no such instruction set here: " + name).c_str());
      },
      nb::arg("name"));
  m.attr("version") = CLIPPERPLUS_VERSION;
  m.attr("commit") = CLIPPERPLUS_COMMIT;
#if defined(__clang__)
  m.attr("compiler") = "clang " __clang_version__;
#elif defined(__GNUC__)
  m.attr("compiler") = "gcc " __VERSION__;
#elif defined(_MSC_VER)
  m.attr("compiler") = "msvc " + std::to_string(_MSC_VER);
#else
  m.attr("compiler") = "unknown";
#endif

  m.def(
      "shut_down",
      [] {
        lifetime().ending = true;
        const nb::gil_scoped_release release;
        for (int waited = 0; lifetime().running > 0 && waited < 2000; ++waited) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      },
      "Stops the kernels that daemon threads still run, at the end of the interpreter.");

  bind_graph(m);
  bind_clique(m);
  bind_weighted_clique(m);
  bind_raw_clouds(m);
  bind_alignment(m);
  bind_clouds(m);
  bind_consistency(m);
  bind_camera(m);
  bind_ascent(m);
  bind_graph_text(m);
}
