#include "graph/cores.h"

#include <algorithm>
#include <numeric>

namespace clipperplus::inline v0 {

namespace {

constexpr int kDegreeShift = 15;
constexpr std::size_t kMaxPeelVertices = std::size_t{1} << kDegreeShift;

// Vertices by increasing degree, the highest index first among equals: a counting sort.
std::vector<Vertex> by_degree(const std::vector<Vertex>& degree) {
  std::vector<Vertex> start(degree.size() + 1, 0), order(degree.size());
  for (Vertex k : degree) ++start[static_cast<std::size_t>(k) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  for (std::size_t v = degree.size(); v-- > 0;) {
    order[static_cast<std::size_t>(start[static_cast<std::size_t>(degree[v])]++)] = static_cast<Vertex>(v);
  }
  return order;
}

Cores peel_by_search(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  const std::size_t n = graph.num_vertices();
  const std::vector<Vertex> degree = graph.degrees(kernels);
  const std::vector<Vertex> ranked = by_degree(degree);

  // key = remaining degree, then rank: the smallest key names the next vertex. A removed vertex gets a key so large
  // that later subtractions (at most kMaxPeelVertices of them) cannot bring it back.
  constexpr simd::PeelKey kStep = simd::PeelKey{1} << kDegreeShift;
  constexpr simd::PeelKey kRemoved = ~simd::PeelKey{0};
  const std::size_t words = (n + kWordBits - 1) / kWordBits;
  AlignedVector<simd::PeelKey> keys(words * kWordBits, kRemoved);
  for (std::size_t rank = 0; rank < n; ++rank) {
    const auto v = static_cast<std::size_t>(ranked[rank]);
    keys[v] = static_cast<simd::PeelKey>(degree[v]) << kDegreeShift | static_cast<simd::PeelKey>(rank);
  }

  Cores cores{std::vector<Vertex>(n), {}};
  cores.degeneracy.reserve(n);
  simd::PeelKey smallest = *std::min_element(keys.begin(), keys.end());
  Vertex core = 0;
  constexpr std::size_t kWordsPerPoll = 1 << 16;
  for (std::size_t since_poll = 0; cores.degeneracy.size() < n; since_poll += words) {
    if (since_poll > kWordsPerPoll) {
      since_poll = 0;
      control.expired();
    }
    const Vertex v = ranked[smallest & (kStep - 1)];
    core = std::max(core, static_cast<Vertex>(smallest >> kDegreeShift));
    cores.numbers[static_cast<std::size_t>(v)] = core;
    cores.degeneracy.push_back(v);
    keys[static_cast<std::size_t>(v)] = kRemoved;
    smallest = kernels.subtract_and_find_min(keys.data(), graph.row(static_cast<std::size_t>(v)), words, kStep);
  }
  return cores;
}

Cores peel_buckets(const Graph& graph, std::vector<Vertex> degree, Control& control) {
  const std::size_t n = graph.num_vertices();
  const auto max_degree = static_cast<std::size_t>(*std::max_element(degree.begin(), degree.end()));

  // Vertices in buckets of equal remaining degree: bucket_start[k] is where bucket k begins in `order`.
  std::vector<Vertex> bucket_start(max_degree + 2, 0), position(n), order(n);
  for (Vertex k : degree) ++bucket_start[static_cast<std::size_t>(k) + 1];
  std::partial_sum(bucket_start.begin(), bucket_start.end(), bucket_start.begin());
  {
    std::vector<Vertex> next(bucket_start.begin(), bucket_start.end() - 1);
    for (std::size_t v = 0; v < n; ++v) {
      position[v] = next[static_cast<std::size_t>(degree[v])]++;
      order[static_cast<std::size_t>(position[v])] = static_cast<Vertex>(v);
    }
  }

  constexpr std::size_t kEdgesPerPoll = 1 << 16;
  std::size_t edges_since_poll = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto v = static_cast<std::size_t>(order[i]);
    const Vertex core = degree[v];
    graph.for_each_neighbour(v, [&](Vertex neighbour) {
      const auto u = static_cast<std::size_t>(neighbour);
      const Vertex k = degree[u];
      ++edges_since_poll;
      if (k <= core) return;
      // Swap u with the first vertex of its bucket, then move the bucket's start past it.
      const auto first = static_cast<std::size_t>(bucket_start[static_cast<std::size_t>(k)]++);
      const Vertex other = order[first];
      const Vertex place = position[u];
      order[static_cast<std::size_t>(place)] = other;
      position[static_cast<std::size_t>(other)] = place;
      order[first] = neighbour;
      position[u] = static_cast<Vertex>(first);
      degree[u] = k - 1;
    });
    ++edges_since_poll;
    if (edges_since_poll > kEdgesPerPoll) {
      edges_since_poll = 0;
      control.expired();
    }
  }
  return {std::move(degree), std::move(order)};
}

// The same where most vertices have no neighbours: they go first, as they would, and the others are peeled alone.
Cores peel_joined(const Graph& graph, const std::vector<Vertex>& degree, std::vector<Vertex> joined,
                  const simd::Kernels& kernels, Control& control) {
  const Graph part = graph.subgraph(joined, kernels, control);
  const Cores cores = peel_buckets(part, part.degrees(kernels), control);
  Cores result{std::vector<Vertex>(degree.size()), {}};
  result.degeneracy.reserve(degree.size());
  for (std::size_t v = 0; v < degree.size(); ++v) {
    if (degree[v] == 0) result.degeneracy.push_back(static_cast<Vertex>(v));
  }
  for (const Vertex v : cores.degeneracy) {
    const Vertex original = joined[static_cast<std::size_t>(v)];
    result.numbers[static_cast<std::size_t>(original)] = cores.numbers[static_cast<std::size_t>(v)];
    result.degeneracy.push_back(original);
  }
  return result;
}

Cores peel_sparse(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  std::vector<Vertex> degree = graph.degrees(kernels);
  std::vector<Vertex> joined;
  for (std::size_t v = 0; v < degree.size() && 2 * joined.size() < degree.size(); ++v) {
    if (degree[v] > 0) joined.push_back(static_cast<Vertex>(v));
  }
  const bool most = 2 * joined.size() >= degree.size() || joined.empty();
  return most ? peel_buckets(graph, std::move(degree), control)
              : peel_joined(graph, degree, std::move(joined), kernels, control);
}

}  // namespace

Cores core_numbers(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  if (graph.num_vertices() == 0) return {};
  const bool search = graph.has_bits() && graph.num_vertices() <= kMaxPeelVertices;
  return search ? peel_by_search(graph, kernels, control) : peel_sparse(graph, kernels, control);
}

OrderedGraph order_by_core(const Graph& graph, const simd::Kernels& kernels, Control& control) {
  const Cores cores = core_numbers(graph, kernels, control);
  OrderedGraph result;
  result.order.assign(cores.degeneracy.rbegin(), cores.degeneracy.rend());
  result.cores.reserve(result.order.size());
  for (Vertex v : result.order) result.cores.push_back(cores.numbers[static_cast<std::size_t>(v)]);
  result.graph = graph.subgraph(result.order, kernels, control);
  return result;
}

}  // namespace clipperplus::inline v0
