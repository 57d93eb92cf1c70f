// Graphs from edges and by chance, and sets of vertices that are cliques.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "clipperplus/graph.h"
#include "testing.h"

namespace doctest {

template <>
struct StringMaker<clipperplus::Graph> {
  static String convert(const clipperplus::Graph& graph) {
    return toString(graph.num_vertices()) + " vertices and " + toString(graph.num_edges()) + " edges";
  }
};

}  // namespace doctest

namespace clipperplus {

inline std::vector<std::int64_t> random_edges(std::size_t n, double density, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution joined(density);
  std::vector<std::int64_t> edges;
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < u; ++v) {
      if (joined(random)) edges.insert(edges.end(), {static_cast<std::int64_t>(u), static_cast<std::int64_t>(v)});
    }
  }
  return edges;
}

inline Graph make_graph(std::size_t n, const std::vector<std::int64_t>& edges) {
  return Graph::from_edges(n, EdgeView<std::int64_t>{edges.data(), edges.size() / 2, 2, 1});
}

inline Graph random_graph(std::size_t n, double density, unsigned seed) {
  return make_graph(n, random_edges(n, density, seed));
}

inline bool is_clique(const Graph& graph, const std::vector<Vertex>& vertices) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!graph.has_edge(static_cast<std::size_t>(vertices[i]), static_cast<std::size_t>(vertices[j]))) return false;
    }
  }
  return true;
}

}  // namespace clipperplus
