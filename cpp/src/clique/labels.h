// Between the labels of a part of a graph and the vertices of the graph that it is a part of.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "clipperplus/graph.h"

namespace clipperplus {

// The vertices that labels stand for, where `vertices` has one for each.
template <class Label>
std::vector<std::int64_t> original(std::span<const Vertex> vertices, const std::vector<Label>& labels) {
  std::vector<std::int64_t> found;
  found.reserve(labels.size());
  for (const Label label : labels) found.push_back(vertices[static_cast<std::size_t>(label)]);
  return found;
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

}  // namespace clipperplus
