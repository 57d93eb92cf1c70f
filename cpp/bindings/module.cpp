#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "common.h"

namespace clipperplus::bindings {

namespace {
std::atomic<const simd::Kernels*> selected{nullptr};
Lifetime the_lifetime;

// Ends kernels on other threads: Ctrl-C reaches the main thread alone.
struct Stop {
  std::shared_ptr<std::atomic<bool>> said = std::make_shared<std::atomic<bool>>(false);
};
thread_local std::shared_ptr<const std::atomic<bool>> obeyed;

// What the system refuses is said as what is refused beforehand: by an error of the package. This one place is for all
// kernels.
void translate_bad_alloc(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    try {
      const nb::object type = nb::module_::import_("clipperplus.errors").attr("MemoryLimitError");
      PyErr_SetString(type.ptr(), "not enough memory: the system refused what this would take; expected less of it");
    } catch (nb::python_error&) {  // not even for that, or the interpreter is ending
      PyErr_Clear();
      PyErr_NoMemory();
    }
  }
}
}  // namespace

Lifetime& lifetime() { return the_lifetime; }
const simd::Kernels& kernels() { return *selected.load(std::memory_order_relaxed); }

void check_stop() {
  if (!obeyed || !*obeyed) return;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  throw nb::python_error();
}

bool check_signals(bool return_on_interrupt) {
  if (lifetime().ending) throw std::runtime_error("the interpreter is shutting down");
  const nb::gil_scoped_acquire acquire;
  check_stop();
  if (PyErr_CheckSignals() == 0) return false;
  if (!return_on_interrupt || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw nb::python_error();
  PyErr_Clear();
  return true;
}

}  // namespace clipperplus::bindings

NB_MODULE(_core, m) {
  using namespace clipperplus;
  using namespace clipperplus::bindings;
  m.doc() = "The C++ kernels of clipperplus. Private: use the functions of the package.";
  selected.store(simd::available().front());
  nb::register_exception_translator(translate_bad_alloc);
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

  nb::class_<Stop>(m, "Stop", "What ends kernels on other threads: Ctrl-C reaches the main thread alone.")
      .def(nb::init<>())
      .def(
          "say", [](const Stop& self) { *self.said = true; }, "End them, with KeyboardInterrupt.")
      .def("obey", [](const Stop& self) { obeyed = self.said; }, "Have those of this thread end once it is said.");
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
  bind_raw_clouds(m);
  bind_alignment(m);
  bind_clouds(m);
  bind_consistency(m);
  bind_camera(m);
  bind_ascent(m);
  bind_search_state(m);
  bind_graph_text(m);
}
