// Between a part of a graph, with labels of its own, and the graph: vertices, cliques, and vectors with an entry per
// vertex.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

// What `values` has at places: entries of a vector on a graph, for the vertices of a part.
template <class Value, class Values, class Places>
std::vector<Value> values_at(const Values& values, const Places& places) {
  std::vector<Value> found;
  found.reserve(places.size());
  for (const auto place : places) found.push_back(values[static_cast<std::size_t>(place)]);
  return found;
}

// The vertices that labels stand for, where `vertices` has one for each.
template <class Label>
std::vector<std::int64_t> original(std::span<const Vertex> vertices, const std::vector<Label>& labels) {
  return values_at<std::int64_t>(vertices, labels);
}

// The labels of what a part has left of a clique (sorted): a clique of the part, which may have lost edges, too.
inline std::vector<std::int64_t> clique_in_part(const Graph& part, std::span<const Vertex> vertices,
                                                std::span<const Vertex> clique) {
  std::vector<std::int64_t> labels;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    const auto joined = [&](std::int64_t u) { return part.has_edge(static_cast<std::size_t>(u), v); };
    if (std::binary_search(clique.begin(), clique.end(), vertices[v]) &&
        std::all_of(labels.begin(), labels.end(), joined)) {
      labels.push_back(static_cast<std::int64_t>(v));
    }
  }
  return labels;
}

// Line 9 of CLIPPER+: 0 on a clique, 1 elsewhere.
inline std::vector<double> ones_outside_clique(const Graph& graph, std::span<const Vertex> clique) {
  std::vector<double> start(graph.num_vertices(), 1.0);
  for (const Vertex v : clique) start[static_cast<std::size_t>(v)] = 0.0;
  return start;
}

inline bool all_zero(const std::vector<double>& vector) {
  return std::all_of(vector.begin(), vector.end(), [](double entry) { return entry == 0.0; });
}

}  // namespace clipperplus::inline v0
