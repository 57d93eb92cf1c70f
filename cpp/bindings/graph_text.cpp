#include "graph/graph_text.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <string_view>
#include <tuple>

#include "common.h"

namespace clipperplus::bindings {

namespace {

template <Graph (*parse)(std::string_view, std::size_t)>
Graph parse_text(nb::bytes text, std::size_t limit) {
  const std::string_view view(text.c_str(), text.size());
  const WithoutGil without_gil;
  return parse(view, limit);
}

// Weights are integers if all of them are, else floating-point numbers, else nothing.
template <Graph (*parse)(std::string_view, VertexWeights&, std::size_t)>
std::tuple<Graph, nb::object> parse_weighted_text(nb::bytes text, std::size_t limit) {
  const std::string_view view(text.c_str(), text.size());
  VertexWeights weights;
  Graph graph;
  {
    const WithoutGil without_gil;
    graph = parse(view, weights, limit);
  }
  nb::object numbers = nb::none();
  if (!weights.integers.empty()) {
    numbers = nb::cast(to_numpy(std::move(weights.integers)));
  } else if (!weights.numbers.empty()) {
    numbers = nb::cast(to_numpy(std::move(weights.numbers)));
  }
  return {std::move(graph), numbers};
}

}  // namespace

void bind_graph_text(nb::module_& m) {
  nb::exception<TextError>(m, "TextError", PyExc_ValueError);
  nb::exception<TextTooLarge>(m, "TextTooLarge", PyExc_ValueError);  // says the bytes, and nothing else
  m.def("parse_dimacs", parse_weighted_text<parse_dimacs>, nb::arg("text"), nb::arg("limit"),
        "A graph, and what its vertices weigh, or None.");
  m.def("parse_dimacs_binary", parse_weighted_text<parse_dimacs_binary>, nb::arg("text"), nb::arg("limit"),
        "A graph, and what its vertices weigh, or None.");
  m.def("parse_matrix_market", parse_text<parse_matrix_market>, nb::arg("text"), nb::arg("limit"));
  m.def("parse_edge_list", parse_text<parse_edge_list>, nb::arg("text"), nb::arg("limit"));
  m.def(
      "format_dimacs_binary",
      [](const Graph& graph, std::string_view weights) {
        return to_bytes([&] { return format_dimacs_binary(graph, weights); });
      },
      nb::arg("graph"), nb::arg("weights"));
  m.def(
      "format_edges",
      [](const Graph& graph, std::string_view prefix, int base, bool lower_first) {
        return to_bytes([&] { return format_edges(graph, prefix, base, lower_first); });
      },
      nb::arg("graph"), nb::arg("prefix"), nb::arg("base"), nb::arg("lower_first"));
}

}  // namespace clipperplus::bindings
