// Graph: construction, both representations, relabelling.
#include <algorithm>
#include <set>

#include "clipperplus/find_clique.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

using EdgeSet = std::set<std::pair<std::size_t, std::size_t>>;

constexpr std::size_t kSizes[] = {1, 63, 64, 65, 200};  // around the words of a row; stored as bits
constexpr std::size_t kLargeSize = 6000;                // stored as compressed rows where it is …
constexpr double kSparse = 0.0005;                      // … so sparse

EdgeSet edge_set(const Graph& graph) {
  EdgeSet edges;
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
    graph.for_each_neighbour(v, [&](Vertex u) { edges.emplace(v, static_cast<std::size_t>(u)); });
  }
  return edges;
}

void check_edges(std::size_t n, double density, bool bits) {
  CAPTURE(n);
  auto edges = random_edges(n, density, 3);
  const auto graph = make_graph(n, edges);
  CHECK(graph.has_bits() == bits);
  CHECK(graph.num_edges() == edges.size() / 2);
  EdgeSet expected;
  for (std::size_t k = 0; k < edges.size(); k += 2) {
    const auto u = static_cast<std::size_t>(edges[k]), v = static_cast<std::size_t>(edges[k + 1]);
    expected.emplace(u, v);
    expected.emplace(v, u);
    REQUIRE_EACH(graph.has_edge(u, v), "u = ", u, ", v = ", v);
    REQUIRE_EACH(graph.has_edge(v, u), "u = ", u, ", v = ", v);
  }
  CHECK((edge_set(graph) == expected));

  for (std::size_t k = 0, count = edges.size(); k < count / 2; ++k) edges.push_back(edges[k]);
  if (edges.size() % 2 != 0) edges.pop_back();
  std::reverse(edges.begin(), edges.end());
  CHECK(make_graph(n, edges) == graph);  // duplicates and directions do not matter
}

void check_subgraphs(std::size_t n, double density, const simd::Kernels& kernels) {
  INFO("n = ", n, ", on ", simd::name_of(kernels));
  Control control;
  const auto graph = random_graph(n, density, 4);
  std::vector<Vertex> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<Vertex>(i);
  std::shuffle(order.begin(), order.end(), std::mt19937(9));
  for (std::size_t k : {n, n / 2, std::size_t{1}, std::size_t{0}}) {
    CAPTURE(k);
    const std::span<const Vertex> chosen(order.data(), k);
    const auto sub = graph.subgraph(chosen, kernels, control);
    REQUIRE(sub.num_vertices() == k);
    std::size_t edges = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < k; ++j) {
        const bool joined =
            i != j && graph.has_edge(static_cast<std::size_t>(chosen[i]), static_cast<std::size_t>(chosen[j]));
        REQUIRE_EACH(sub.has_edge(i, j) == joined, "i = ", i, ", j = ", j);
        edges += joined && i < j ? 1 : 0;
      }
    }
    CHECK(sub.num_edges() == edges);
  }
  std::sort(order.begin(), order.end());
  CHECK(graph.subgraph(order, kernels, control) == graph);
  const auto prefix = graph.prefix(n / 3, kernels, control);
  REQUIRE(prefix.num_vertices() == n / 3);
  for (std::size_t i = 0; i < n / 3; ++i) {
    for (std::size_t j = 0; j < n / 3; ++j) {
      REQUIRE_EACH(prefix.has_edge(i, j) == graph.has_edge(i, j), "i = ", i, ", j = ", j);
    }
  }
}

void check_complement(std::size_t n, double density) {
  CAPTURE(n);
  const auto graph = random_graph(n, density, 5);
  const auto complement = graph.complement();
  CHECK(complement.num_edges() + graph.num_edges() == n * (n - 1) / 2);
  CHECK(complement.complement() == graph);
}

}  // namespace

TEST_CASE("a graph without vertices has no edges") {
  const auto graph = make_graph(0, {});
  CHECK(graph.num_vertices() == 0);
  CHECK(graph.num_edges() == 0);
}

TEST_CASE("edges come back, whatever their direction and however often they were given") {
  for (const std::size_t n : kSizes) check_edges(n, 0.3, true);
  check_edges(kLargeSize, kSparse, false);
}

TEST_CASE("what is moved from is the graph without vertices") {
  for (const std::size_t n : {std::size_t{5}, std::size_t{100'000}}) {  // as bits, and as compressed rows
    const Graph expected = Graph::from_edges(n, {{0, 3}, {1, 2}});
    Graph first = expected;
    Graph second = std::move(first);
    CHECK(second == expected);
    CHECK(first == Graph());  // NOLINT: moved from
    CHECK(find_clique(first).vertices.empty());
    first = std::move(second);
    CHECK(first == expected);
    CHECK(second.edges().empty());  // NOLINT: moved from
    Graph& same = first;
    first = std::move(same);
    CHECK(first == expected);
    if (!first.has_bits()) continue;
    CHECK(std::move(first).take_rows().size() == n * row_words(n));
    CHECK(first.num_vertices() == 0);  // NOLINT: moved from
  }
}

TEST_CASE("a subgraph has the edges of its vertices, in their order") {
  for (const std::size_t n : kSizes) {
    for (const auto* kernels : simd::available()) check_subgraphs(n, 0.4, *kernels);
  }
  check_subgraphs(kLargeSize, kSparse, *simd::available().front());
}

TEST_CASE("the complement of the complement is the graph") {
  for (const std::size_t n : kSizes) check_complement(n, 0.3);
  check_complement(kLargeSize, kSparse);
}

TEST_CASE("packed rows and compressed rows give the graph that edges give") {
  const std::size_t n = 77;
  const auto graph = random_graph(n, 0.3, 6);
  std::vector<std::uint8_t> rows(n * 10, 0);
  std::vector<std::int64_t> offsets{0};
  std::vector<Vertex> neighbours;
  for (std::size_t v = 0; v < n; ++v) {
    graph.for_each_neighbour(v, [&](Vertex u) {
      rows[v * 10 + static_cast<std::size_t>(u) / 8] |= static_cast<std::uint8_t>(1 << (u % 8));
      neighbours.push_back(u);
    });
    rows[v * 10 + 9] |= 0xE0;  // bits past n are ignored
    offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
  }
  CHECK(Graph::from_packed_rows(n, rows.data(), 10) == graph);
  CHECK(Graph::from_csr_pattern(n, offsets, neighbours) == graph);
}

TEST_CASE("wrong input is refused with the place where it is wrong") {
  const auto refused = [](std::size_t n, std::vector<std::int64_t> edges) {
    return message_of<InvalidGraph>([&] { make_graph(n, edges); });
  };
  CHECK(refused(3, {0, 1, 2, 3}) == "edges: edge 1 is (2, 3), but there are 3 vertices, counted from 0");
  CHECK(refused(3, {0, -1}) == "edges: edge 0 is (0, -1), but there are 3 vertices, counted from 0");
  CHECK(refused(3, {0, 1, 2, 2}) == "edges: edge 1 is (2, 2), a self-loop");
  const std::vector<std::uint8_t> one_sided{0b010, 0b000, 0b000}, loop{0b000, 0b010, 0b000};
  CHECK(message_of<InvalidGraph>([&] { Graph::from_packed_rows(3, one_sided.data(), 1); }) ==
        "adjacency: not symmetric: entry (0, 1) is 1 and entry (1, 0) is 0");
  CHECK(message_of<InvalidGraph>([&] { Graph::from_packed_rows(3, loop.data(), 1); }) ==
        "adjacency: entry (1, 1) is a self-loop; the diagonal must be zero");
  const std::vector<std::int64_t> offsets{0, 1, 1};
  const std::vector<Vertex> outside{7};
  CHECK(message_of<InvalidGraph>([&] { Graph::from_csr_pattern(2, offsets, outside); }) ==
        "adjacency: column 7 does not exist: the matrix has 2");
}
