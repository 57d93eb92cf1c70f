#include "clipperplus/graph.h"

#include <nanobind/operators.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "common.h"
#include "graph/cores.h"

namespace clipperplus::bindings {

namespace {

template <class Int>
using EdgesIn = nb::ndarray<const Int, nb::shape<-1, 2>, nb::device::cpu>;
using PackedIn = nb::ndarray<const std::uint8_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Int>
Graph from_edges(std::size_t n, EdgesIn<Int> edges) {
  const WithoutGil without_gil;
  return Graph::from_edges(n, EdgeView<Int>{edges.data(), edges.shape(0), edges.stride(0), edges.stride(1)});
}

std::size_t checked(const Graph& graph, std::int64_t v) {
  if (v < 0 || static_cast<std::size_t>(v) >= graph.num_vertices()) {
    throw nb::index_error(("vertex " + std::to_string(v) + " is not in the graph").c_str());
  }
  return static_cast<std::size_t>(v);
}

VectorOut<std::int64_t> edges_of(const Graph& graph) {
  std::vector<std::int64_t> pairs;
  {
    const WithoutGil without_gil;
    pairs.reserve(2 * graph.num_edges());
    for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
      graph.for_each_neighbour(v, [&](Vertex u) {
        if (static_cast<std::size_t>(u) > v) pairs.insert(pairs.end(), {static_cast<std::int64_t>(v), u});
      });
    }
  }
  return to_numpy(std::move(pairs));
}

std::tuple<VectorOut<std::int64_t>, VectorOut<Vertex>> csr_of(const Graph& graph) {
  std::vector<std::int64_t> offsets{0};
  std::vector<Vertex> neighbours;
  {
    const WithoutGil without_gil;
    offsets.reserve(graph.num_vertices() + 1);
    neighbours.reserve(2 * graph.num_edges());
    for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
      graph.for_each_neighbour(v, [&](Vertex u) { neighbours.push_back(u); });
      offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
    }
  }
  return {to_numpy(std::move(offsets)), to_numpy(std::move(neighbours))};
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::exception<InvalidGraph>(m, "InvalidGraph", PyExc_ValueError);

  nb::class_<Graph>(m, "Graph")
      .def_static("from_edges", from_edges<std::int64_t>, nb::arg("n"), nb::arg("edges").noconvert())
      .def_static("from_edges", from_edges<std::int32_t>, nb::arg("n"), nb::arg("edges").noconvert())
      .def_static(
          "from_packed_rows",
          [](PackedIn rows) {
            const WithoutGil without_gil;
            if (rows.shape(1) * 8 < rows.shape(0)) throw nb::value_error("rows are too short");
            return Graph::from_packed_rows(rows.shape(0), rows.data(), rows.shape(1));
          },
          nb::arg("rows"), "From a symmetric bit matrix, column 0 in the lowest bit of the first byte of a row.")
      .def_static(
          "from_csr",
          [](VectorIn<std::int64_t> offsets, VectorIn<Vertex> neighbours) {
            // Copied before they are checked: the caller's arrays may change meanwhile.
            const std::vector<std::int64_t> starts(offsets.data(), offsets.data() + offsets.size());
            const std::vector<Vertex> columns(neighbours.data(), neighbours.data() + neighbours.size());
            const WithoutGil without_gil;
            if (starts.empty() || starts.front() != 0 || starts.back() != static_cast<std::int64_t>(columns.size()) ||
                !std::is_sorted(starts.begin(), starts.end())) {
              throw InvalidGraph("adjacency: the offsets do not fit the neighbours");
            }
            return Graph::from_csr_pattern(starts.size() - 1, starts, columns);
          },
          nb::arg("offsets"), nb::arg("neighbours"), "From the symmetric pattern of a CSR matrix with sorted rows.")
      .def_ro_static("MAX_VERTICES", &Graph::kMaxVertices)
      .def_prop_ro("num_vertices", &Graph::num_vertices)
      .def_prop_ro("num_edges", &Graph::num_edges)
      .def_prop_ro("has_bits", &Graph::has_bits)
      .def_prop_ro("nbytes", &Graph::bytes)
      .def(
          "has_edge",
          [](const Graph& g, std::int64_t u, std::int64_t v) { return g.has_edge(checked(g, u), checked(g, v)); },
          nb::arg("u"), nb::arg("v"))
      .def(
          "neighbours",
          [](const Graph& g, std::int64_t v) {
            std::vector<std::int64_t> result;
            g.for_each_neighbour(checked(g, v), [&](Vertex u) { result.push_back(u); });
            return to_numpy(std::move(result));
          },
          nb::arg("v"))
      .def("degrees",
           [](const Graph& g) {
             const auto degrees = g.degrees(kernels());
             return to_numpy(std::vector<std::int64_t>(degrees.begin(), degrees.end()));
           })
      .def("edges", edges_of, "Pairs u < v, one after the other, sorted.")
      .def("csr", csr_of)
      .def(
          "subgraph",
          [](const Graph& g, VectorIn<Vertex> vertices) {
            // Copied before they are checked: the caller's array may change meanwhile.
            const std::vector<Vertex> chosen(vertices.data(), vertices.data() + vertices.size());
            for (Vertex v : chosen) checked(g, v);
            const WithoutGil without_gil;
            auto control = interruptible_control();
            return g.subgraph(chosen, kernels(), control);
          },
          nb::arg("vertices"))
      .def(
          "prefix",
          [](const Graph& g, std::size_t count) {
            if (count > g.num_vertices()) throw nb::value_error("there are fewer vertices");
            const WithoutGil without_gil;
            auto control = interruptible_control();
            return g.prefix(count, kernels(), control);
          },
          nb::arg("count"), "The graph on the first `count` vertices.")
      .def("complement", &Graph::complement, nb::call_guard<WithoutGil>())
      .def("compact", &Graph::compact, nb::call_guard<WithoutGil>(),
           "The same graph in the smaller form, and so are graphs made from it.")
      .def(nb::self == nb::self, nb::sig("def __eq__(self, other: object, /) -> bool"));

  m.def(
      "core_numbers",
      [](const Graph& graph) {
        Cores cores;
        {
          const WithoutGil without_gil;
          auto control = interruptible_control();
          cores = core_numbers(graph, kernels(), control);
        }
        return std::tuple(to_numpy(std::move(cores.numbers)), to_numpy(std::move(cores.degeneracy)));
      },
      nb::arg("graph"), "Core numbers by vertex, and the order in which vertices were removed.");
  m.def(
      "order_by_core",
      [](const Graph& graph) {
        OrderedGraph ordered;
        {
          const WithoutGil without_gil;
          auto control = interruptible_control();
          ordered = order_by_core(graph, kernels(), control);
        }
        return std::tuple(std::move(ordered.graph), to_numpy(std::move(ordered.cores)),
                          to_numpy(std::move(ordered.order)));
      },
      nb::arg("graph"), "The graph relabelled by decreasing core number, its core numbers, and its old vertices.");
}

}  // namespace clipperplus::bindings
