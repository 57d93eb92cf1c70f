#include "clique/kernel.h"

#include <utility>

#include "clique/labels.h"
#include "clique/reduction.h"
#include "graph/cores.h"

namespace clipperplus::inline v0 {

Kernel take_kernel(CoreOrder& ordered, std::size_t size) {
  Graph pruned = ordered.give_away(size);
  const auto vertices = ordered.order().first(pruned.num_vertices());
  return {std::move(pruned), {vertices.begin(), vertices.end()}};
}

Kernel reduce_kernel(Kernel kernel, std::size_t size, const SearchState& state) {
  auto control = state.watch().control();
  const auto [reduced, kept] = reduce(std::move(kernel.graph), size, state.limits().threads, state.kernels(), control);
  auto to_the_end = state.watch().control_to_the_end();
  auto [graph, cores, order] = order_by_core(reduced, state.kernels(), to_the_end);
  return {std::move(graph), values_at<Vertex>(values_at<Vertex>(kernel.vertices, kept), order)};
}

}  // namespace clipperplus::inline v0
