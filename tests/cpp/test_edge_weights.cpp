// Cliques of graphs with weighted edges: core numbers, greedy growth and exchange, on bits and on compressed rows.
#include <algorithm>
#include <cmath>

#include "ascent/edge_weights.h"
#include "clique/edge_weighted_cores.h"
#include "clique/edge_weighted_greedy.h"
#include "clique/edge_weighted_search.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

double weight_of(std::size_t u, std::size_t v) { return 1.0 / static_cast<double>(1 + (u * v + u + v) % 5); }

EdgeWeights make_weights(const Graph& graph) {
  std::vector<std::int64_t> offsets{0};
  std::vector<Vertex> neighbours;
  std::vector<double> values;
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
    graph.for_each_neighbour(v, [&](Vertex u) {
      neighbours.push_back(u);
      values.push_back(weight_of(v, static_cast<std::size_t>(u)));
    });
    offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
  }
  Control control;
  CHECK(are_tidy_rows(offsets, neighbours, values));
  return EdgeWeights(graph, std::move(offsets), std::move(neighbours), std::move(values), control);
}

void check_clique(const Graph& graph, const EdgeWeights& weights, const std::vector<std::int64_t>& clique) {
  REQUIRE(!clique.empty());
  double total = 0.0;
  for (const auto u : clique) {
    for (const auto v : clique) {
      if (u == v) continue;
      REQUIRE_EACH(graph.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v)), "u = ", u, ", v = ", v);
      total += weight_of(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
    }
  }
  CHECK(std::abs(weights.value_of(clique) - 1.0 - total / static_cast<double>(clique.size())) < 1e-12);
  const auto joined_to_all = [&](std::size_t v) {
    return std::all_of(clique.begin(), clique.end(),
                       [&](std::int64_t u) { return graph.has_edge(static_cast<std::size_t>(u), v); });
  };
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) REQUIRE_EACH(!joined_to_all(v), "v = ", v);
}

void check_search(std::size_t n, double density, unsigned seed) {
  CAPTURE(n);
  CAPTURE(density);
  const auto graph = random_graph(n, density, seed);
  const auto& kernels = *simd::available().front();
  const auto weights = make_weights(graph);
  Control control;
  const auto cores = edge_weighted_cores(weights, control);
  REQUIRE(cores.order.size() == n);
  CHECK(std::is_sorted(cores.numbers.rbegin(), cores.numbers.rend()));

  const auto ordered = graph.subgraph(cores.order, kernels, control);
  const auto relabelled = weights.part(ordered, cores.order, control);
  CHECK(relabelled.num_entries() == weights.num_entries());
  auto grown = edge_weighted_greedy(ordered, relabelled, cores.numbers, control);
  CHECK(grown.steps > 0);
  for (auto& v : grown.vertices) v = cores.order[static_cast<std::size_t>(v)];
  check_clique(graph, weights, grown.vertices);
  const auto found = edge_weighted_search(graph, weights, grown.vertices, 50, control);
  check_clique(graph, weights, found.vertices);
  CHECK(weights.value_of(found.vertices) >= weights.value_of(grown.vertices) - 1e-12);

  Control expired(Control::seconds_from_now(0.0), nullptr);
  const auto hurried = edge_weighted_search(graph, weights, {}, 1000000, expired);
  CHECK(hurried.steps == 0);
  check_clique(graph, weights, hurried.vertices);
}

}  // namespace

TEST_CASE("greedy growth and exchange give maximal cliques of the value they say") {
  unsigned seed = 500;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{33}, std::size_t{130}}) {
    for (double density : {0.0, 0.1, 0.5, 0.9, 1.0}) check_search(n, density, seed++);
  }
  check_search(6000, 0.001, seed++);  // compressed rows
}

TEST_CASE("no vertices have no clique") {
  const auto graph = make_graph(0, {});
  const auto weights = make_weights(graph);
  Control control;
  CHECK(edge_weighted_cores(weights, control).order.empty());
  CHECK(edge_weighted_greedy(graph, weights, {}, control).vertices.empty());
  CHECK(edge_weighted_search(graph, weights, {}, 10, control).vertices.empty());
  CHECK(weights.value_of({}) == 0.0);
}

TEST_CASE("a part has lost the entries of edges that are gone") {
  const auto graph = make_graph(4, {0, 1, 1, 2, 0, 2, 2, 3});
  const auto weights = make_weights(graph);
  Control control;
  const std::vector<Vertex> kept{2, 0, 1};
  const auto part = weights.part(make_graph(3, {0, 1, 1, 2}), kept, control);
  CHECK(part.num_entries() == 4);
  CHECK(part.value_of(std::vector<std::int64_t>{0, 1}) == 1.0 + weight_of(0, 2));
  CHECK(part.value_of(std::vector<std::int64_t>{0, 2}) == 1.0);
}

TEST_CASE("rows that need work are told") {
  using Offsets = std::vector<std::int64_t>;
  const std::vector<Vertex> columns{1, 0};
  const std::vector<double> values{0.5, 0.5};
  CHECK(are_tidy_rows(Offsets{0, 1, 2}, columns, values));
  CHECK(!are_tidy_rows(Offsets{}, columns, values));
  CHECK(!are_tidy_rows(Offsets{0, 2}, columns, values));
  CHECK(!are_tidy_rows(Offsets{0, 9, 2}, columns, values));
  CHECK(!are_tidy_rows(Offsets{0, -1, 2}, columns, values));
  CHECK(!are_tidy_rows(Offsets{0, 1, 2}, columns, std::vector<double>{0.5}));
  CHECK(!are_tidy_rows(Offsets{0, 1, 2}, columns, std::vector<double>{0.5, 0.0}));
  CHECK(!are_tidy_rows(Offsets{0, 1, 2}, std::vector<Vertex>{1, 2}, values));
  CHECK(!are_tidy_rows(Offsets{0, 1, 2}, std::vector<Vertex>{0, 0}, values));
  CHECK(!are_tidy_rows(Offsets{0, 2, 2}, std::vector<Vertex>{1, 1}, values));
}
