#include "clique/colouring.h"

#include <algorithm>

namespace clipperplus::inline v0 {

namespace {

std::optional<std::vector<Vertex>> colour_bits(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = graph.num_vertices();
  AlignedVector<Word> uncoloured(graph.stride(), 0), pool(graph.stride()), before(graph.stride());
  set_prefix(uncoloured.data(), n);
  std::vector<Vertex> colour(n);
  Vertex next = 0;
  for (std::size_t coloured = 0; coloured < n; ++next) {
    if (control.expired()) return std::nullopt;
    pool = before = uncoloured;
    coloured += kernels.take_colour_class(graph.row(0), graph.stride(), uncoloured.data(), pool.data());
    for (std::size_t w = 0; w < graph.stride(); ++w) before[w] &= ~uncoloured[w];
    for_each_bit(before.data(), graph.stride(), [&](std::size_t v) { colour[v] = next; });
  }
  return colour;
}

std::optional<std::vector<Vertex>> colour_csr(const Graph& graph, Control& control) {
  const std::size_t n = graph.num_vertices();
  constexpr std::size_t kVerticesPerPoll = 1024;
  std::vector<Vertex> colour(n, -1);
  std::vector<std::size_t> seen_by;  // colour → last vertex that has a neighbour of it
  for (std::size_t v = 0; v < n; ++v) {
    if (v % kVerticesPerPoll == 0 && control.expired()) return std::nullopt;
    for (Vertex u : graph.neighbours(v)) {
      const Vertex taken = colour[static_cast<std::size_t>(u)];
      if (taken >= 0) seen_by[static_cast<std::size_t>(taken)] = v;
    }
    const auto free = std::find_if(seen_by.begin(), seen_by.end(), [v](std::size_t by) { return by != v; });
    colour[v] = static_cast<Vertex>(free - seen_by.begin());
    if (free == seen_by.end()) seen_by.push_back(n);
  }
  return colour;
}

}  // namespace

std::optional<std::vector<Vertex>> colour_vertices(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  return graph.has_bits() ? colour_bits(graph, kernels, control) : colour_csr(graph, control);
}

std::optional<std::size_t> greedy_colours(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  const auto colours = colour_vertices(graph, kernels, control);
  if (!colours) return std::nullopt;
  return colours->empty() ? 0 : static_cast<std::size_t>(*std::max_element(colours->begin(), colours->end())) + 1;
}

}  // namespace clipperplus::inline v0
