#include "clique/all_cliques.h"

#include <algorithm>

#include "clique/kernel.h"
#include "clique/listing.h"

namespace clipperplus::inline v0 {

CliqueList find_cliques(SearchState& state, std::size_t size, bool maximum, std::size_t limit) {
  CoreOrder ordered(state);
  const Kernel kernel = reduce_kernel(take_kernel(ordered, size), size, state);
  CliqueList found;
  // One more than wanted tells whether there are more.
  const auto take = [&](std::span<const Vertex> clique) {
    if (found.cliques.size() == limit) return false;
    auto& vertices = found.cliques.emplace_back();
    for (const Vertex v : clique) vertices.push_back(kernel.vertices[static_cast<std::size_t>(v)]);
    std::sort(vertices.begin(), vertices.end());
    return true;
  };
  auto control = state.watch().control();
  found.complete = list_cliques(kernel.graph, size, maximum, take, state.kernels(), control);
  return found;
}

}  // namespace clipperplus::inline v0
