#include "reduction.h"

#include <memory>

namespace clipperplus {

Reduction reduce(const Graph& graph, std::size_t size, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = graph.num_vertices(), stride = graph.stride();
  Reduction result;
  AlignedVector<Word> rows(graph.row(0), graph.row(0) + n * stride);
  std::vector<Vertex> degree(n);
  // bool arrays, not vector<bool>: the kernel takes plain pointers.
  const auto changed = std::make_unique<bool[]>(n), changing = std::make_unique<bool[]>(n);
  std::fill_n(changed.get(), n, true);
  bool again = size >= 2 && n > 0;
  while (again) {
    const std::size_t edges = kernels.count_rows(rows.data(), stride, n, degree.data()) / 2;
    const std::size_t dropped_before = result.dropped_edges;
    std::fill_n(changing.get(), n, false);
    for (std::size_t u = 0; u < n && !control.expired(); ++u) {
      std::size_t dropped = 0;
      if (degree[u] > 0 && static_cast<std::size_t>(degree[u]) < size) {
        for_each_bit(rows.data() + u * stride, stride, [&](std::size_t v) {
          clear_bit(rows.data() + v * stride, u);
          changing[v] = true;
          ++dropped;
        });
        std::fill_n(rows.data() + u * stride, stride, 0);
      } else {
        dropped = kernels.drop_weak_edges(rows.data(), stride, u, size - 1, changed.get(), changing.get());
      }
      result.dropped_edges += dropped;
    }
    // A round that hardly drops anything costs more than it saves the search.
    again = (result.dropped_edges - dropped_before) * 100 > edges;
    if (control.stopped()) break;
    std::swap_ranges(changed.get(), changed.get() + n, changing.get());
  }
  kernels.count_rows(rows.data(), stride, n, degree.data());
  for (std::size_t v = 0; v < n; ++v) {
    if (static_cast<std::size_t>(degree[v]) >= size) result.vertices.push_back(static_cast<Vertex>(v));
  }
  result.graph = Graph::from_bit_rows(n, std::move(rows), kernels).subgraph(result.vertices, kernels, control);
  return result;
}

}  // namespace clipperplus
