#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <string_view>

#include "common.h"
#include "edge_text.h"

namespace clipperplus::bindings {

namespace {

template <EdgeText (*parse)(std::string_view)>
std::tuple<std::int64_t, VectorOut<std::int64_t>> parse_text(nb::bytes text) {
  EdgeText result;
  {
    const std::string_view view(text.c_str(), text.size());
    const WithoutGil without_gil;
    result = parse(view);
  }
  return {result.num_vertices, to_numpy(std::move(result.edges))};
}

}  // namespace

void bind_text(nb::module_& m) {
  nb::exception<TextError>(m, "TextError", PyExc_ValueError);
  m.def("parse_dimacs", parse_text<parse_dimacs>, nb::arg("text"));
  m.def("parse_dimacs_binary", parse_text<parse_dimacs_binary>, nb::arg("text"));
  m.def("parse_matrix_market", parse_text<parse_matrix_market>, nb::arg("text"));
  m.def("parse_edge_list", parse_text<parse_edge_list>, nb::arg("text"));
  m.def(
      "format_dimacs_binary",
      [](std::size_t num_vertices, VectorIn<std::int64_t> edges) {
        std::string text;
        {
          const WithoutGil without_gil;
          text = format_dimacs_binary(num_vertices, as_span(edges));
        }
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("num_vertices"), nb::arg("edges"));
  m.def(
      "format_edges",
      [](VectorIn<std::int64_t> edges, std::string_view prefix, int base) {
        std::string text;
        {
          const WithoutGil without_gil;
          text = format_edges(as_span(edges), prefix, base);
        }
        return nb::bytes(text.data(), text.size());
      },
      nb::arg("edges"), nb::arg("prefix"), nb::arg("base"));
}

}  // namespace clipperplus::bindings
