// Cores, greedy, colouring, search, reductions and the final check, on every instruction set, both representations and
// several threads.
#include <algorithm>

#include "clique/colouring.h"
#include "clique/greedy.h"
#include "clique/listing.h"
#include "clique/local_search.h"
#include "clique/maximal.h"
#include "clique/reduction.h"
#include "clique/search.h"
#include "graph/cores.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

// Each vertex has at most its core number of neighbours after it in the order, and core numbers do not decrease along
// it: the definition, checked without the algorithm.
void check_cores(const Graph& graph, const Cores& cores) {
  std::vector<std::size_t> place(graph.num_vertices());
  for (std::size_t i = 0; i < place.size(); ++i) place[static_cast<std::size_t>(cores.degeneracy[i])] = i;
  Vertex core = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto v = static_cast<std::size_t>(cores.degeneracy[i]);
    Vertex later = 0;
    graph.for_each_neighbour(v, [&](Vertex u) { later += place[static_cast<std::size_t>(u)] > i ? 1 : 0; });
    core = std::max(core, later);
    REQUIRE_EACH(cores.numbers[v] == core, "v = ", v);
  }
}

struct Answer {
  std::vector<Vertex> order, greedy, maximum, tabu;
  std::size_t colours, reduced_edges, maximum_cliques;
};

void check_same(const Answer& answer, const Answer& expected) {
  CHECK(difference(answer.order, expected.order) == "");
  CHECK(answer.greedy == expected.greedy);
  CHECK(answer.maximum == expected.maximum);
  CHECK(answer.tabu == expected.tabu);
  CHECK(answer.colours == expected.colours);
  CHECK(answer.reduced_edges == expected.reduced_edges);
  CHECK(answer.maximum_cliques == expected.maximum_cliques);
}

// Everything at once, checked for what must hold whatever the graph.
Answer solve(const Graph& graph, const simd::Kernels& kernels, std::size_t threads) {
  Control control;
  const auto cores = core_numbers(graph, kernels, control);
  check_cores(graph, cores);
  Answer answer;
  const auto [ordered, ordered_cores, order] = order_by_core(graph, kernels, control);
  CHECK(difference(order, {cores.degeneracy.rbegin(), cores.degeneracy.rend()}) == "");
  CHECK(std::is_sorted(ordered_cores.rbegin(), ordered_cores.rend()));
  CHECK(ordered.num_edges() == graph.num_edges());
  answer.order = order;
  const std::size_t most = static_cast<std::size_t>(ordered_cores.front()) + 1;
  const auto greedy = greedy_clique(ordered, ordered_cores, threads, kernels, control);
  CHECK(is_clique(ordered, greedy.clique));
  CHECK(greedy.clique.size() >= 1);
  CHECK(greedy.clique.size() <= most);
  answer.greedy = greedy.clique;
  const std::vector<std::int64_t> claim(greedy.clique.begin(), greedy.clique.end());
  const auto checked = make_maximal(ordered, claim, claim.size(), control);
  CHECK(checked.removed == 0);
  CHECK(checked.added == 0);  // greedy cliques are maximal

  const auto colours = greedy_colours(ordered, kernels, control);
  REQUIRE(colours.has_value());
  answer.colours = *colours;
  CHECK(answer.colours >= greedy.clique.size());
  CHECK(answer.colours <= most);

  const auto searched = search_clique(ordered, 0, {.threads = threads}, nullptr, kernels, control);
  const std::size_t omega = searched.clique.size();
  CHECK(searched.complete);
  CHECK(is_clique(ordered, searched.clique));
  REQUIRE(omega >= greedy.clique.size());
  CHECK(omega <= answer.colours);
  CHECK(search_clique(ordered, omega, {.threads = threads}, nullptr, kernels, control).clique.empty());
  answer.maximum = searched.clique;
  CHECK(bound_at_root(ordered, 1, answer.colours, {}, kernels, control) >= omega);
  const BranchOptions plain{.threads = threads, .recolour = false, .propagate = false};
  CHECK(search_clique(ordered, omega - 1, plain, nullptr, kernels, control).clique.size() == omega);
  answer.maximum_cliques = 0;
  const auto take = [&, &listed_in = ordered](std::span<const Vertex> clique) {
    CHECK(clique.size() == omega);
    CHECK(is_clique(listed_in, {clique.begin(), clique.end()}));
    return ++answer.maximum_cliques < 100;
  };
  list_cliques(ordered, omega - 1, true, take, kernels, control);
  CHECK(answer.maximum_cliques > 0);
  answer.reduced_edges = 0;
  if (!ordered.has_bits()) return answer;

  const auto reduced = reduce(ordered, omega - 1, threads, kernels, control);
  answer.reduced_edges = reduced.graph.num_edges();
  if (omega > 1) {
    for (Vertex v : searched.clique) CHECK(std::binary_search(reduced.vertices.begin(), reduced.vertices.end(), v));
  }
  answer.tabu = local_search(ordered, {}, {.patience = 500, .target = graph.num_vertices()}, kernels, control).clique;
  CHECK(is_clique(ordered, answer.tabu));
  CHECK(answer.tabu.size() <= omega);
  const auto grown = local_search(ordered, claim, {.patience = 100, .target = graph.num_vertices()}, kernels, control);
  CHECK(grown.clique.size() >= claim.size());
  return answer;
}

void check_paths_and_threads(std::size_t n, double density, unsigned seed) {
  CAPTURE(n);
  CAPTURE(density);
  const auto graph = random_graph(n, density, seed);
  const auto paths = simd::available();
  const auto expected = solve(graph, *paths.back(), 1);
  for (const auto* kernels : paths) {
    for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
      INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
      check_same(solve(graph, *kernels, threads), expected);
    }
  }
}

// Every maximal clique, found by trying all subsets.
std::vector<std::vector<Vertex>> maximal_cliques(const Graph& graph, std::size_t above) {
  std::vector<std::vector<Vertex>> found;
  const std::size_t n = graph.num_vertices();
  for (std::size_t subset = 1; subset < std::size_t{1} << n; ++subset) {
    std::vector<Vertex> inside, outside;
    for (std::size_t v = 0; v < n; ++v) (subset >> v & 1 ? inside : outside).push_back(static_cast<Vertex>(v));
    if (inside.size() <= above || !is_clique(graph, inside)) continue;
    const bool grows = std::any_of(outside.begin(), outside.end(), [&](Vertex v) {
      auto larger = inside;
      larger.push_back(v);
      return is_clique(graph, larger);
    });
    if (!grows) found.push_back(inside);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

TEST_CASE("answers hold what they promise, and depend neither on the instruction set nor on threads") {
  unsigned seed = 100;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{60}, std::size_t{130}}) {
    for (double density : {0.05, 0.5, 0.8}) check_paths_and_threads(n, density, seed++);
  }
  check_paths_and_threads(100, 0.9, seed++);     // subproblems that are split
  check_paths_and_threads(6000, 0.001, seed++);  // compressed rows
}

// Large enough for threads, and with something left: a clique of 60 and what happens to lean on it.
TEST_CASE("a reduction does not depend on threads") {
  auto edges = random_edges(1300, 0.25, 77);
  for (std::int64_t v = 0; v < 60; ++v) {
    for (std::int64_t u = 0; u < v; ++u) edges.insert(edges.end(), {21 * u, 21 * v});
  }
  const auto graph = make_graph(1300, edges);
  REQUIRE(graph.num_edges() > 200'000);
  Control control;
  for (std::size_t size : {std::size_t{20}, std::size_t{58}, std::size_t{75}}) {
    CAPTURE(size);
    const auto& plain = *simd::available().back();
    const auto ordered = order_by_core(graph, plain, control).graph;
    const auto expected = reduce(ordered, size, 1, plain, control);
    if (size <= 60) CHECK(expected.vertices.size() >= 60);
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
        INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
        const auto reduced = reduce(ordered, size, threads, *kernels, control);
        CHECK(difference(reduced.vertices, expected.vertices) == "");
        CHECK(reduced.graph == expected.graph);
      }
    }
  }
}

TEST_CASE("every maximal clique is listed once") {
  Control control;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const std::size_t n = 4 + seed % 8;
    const auto graph = random_graph(n, 0.3 + 0.1 * (seed % 7), seed);
    for (const auto* kernels : simd::available()) {
      const auto [ordered, cores, order] = order_by_core(graph, *kernels, control);
      for (std::size_t above = 0; above < 4; ++above) {
        INFO("seed ", seed, ", above ", above, ", on ", simd::name_of(*kernels));
        std::vector<std::vector<Vertex>> listed;
        const auto take = [&, &places = order](std::span<const Vertex> clique) {
          auto& vertices = listed.emplace_back();
          for (Vertex v : clique) vertices.push_back(places[static_cast<std::size_t>(v)]);
          std::sort(vertices.begin(), vertices.end());
          return true;
        };
        CHECK(list_cliques(ordered, above, false, take, *kernels, control));
        std::sort(listed.begin(), listed.end());
        CHECK(listed == maximal_cliques(graph, above));
      }
    }
  }
}

TEST_CASE("a set of vertices is cut to a clique, and grown to a maximal one") {
  // A path 0 - 1 - 2 and a triangle 3, 4, 5.
  const auto graph = make_graph(6, {0, 1, 1, 2, 3, 4, 4, 5, 3, 5});
  Control control;
  const auto repaired = make_maximal(graph, std::vector<std::int64_t>{1, 0, 2, 3, 1}, 5, control);
  CHECK(repaired.vertices == std::vector<Vertex>{0, 1});
  CHECK(repaired.removed == 3);
  CHECK(repaired.added == 0);
  const auto grown = make_maximal(graph, std::vector<std::int64_t>{5}, 1, control);
  CHECK(grown.vertices == std::vector<Vertex>{3, 4, 5});
  CHECK(grown.removed == 0);
  CHECK(grown.added == 2);
  CHECK(make_maximal(graph, {}, 0, control).vertices.size() == 2);
}

TEST_CASE("many restarts of the tabu search stay inside the graph") {
  // All pairs but (0, 1), (2, 3), …: every restart grows a clique of 100 vertices, and none is larger.
  std::vector<std::int64_t> edges;
  for (std::int64_t v = 0; v < 200; ++v) {
    for (std::int64_t u = 0; u < v; ++u) {
      if (u / 2 != v / 2) edges.insert(edges.end(), {u, v});
    }
  }
  const auto graph = make_graph(200, edges);
  Control control;
  const auto found = local_search(graph, {}, {.patience = 300'000, .target = 200}, *simd::available().front(), control);
  REQUIRE(found.clique.size() == 100);
  CHECK(found.clique.back() < 200);
  CHECK(is_clique(graph, found.clique));
}

TEST_CASE("a deadline ends the search and the colouring") {
  const auto graph = random_graph(300, 0.5, 8);
  const auto& kernels = *simd::available().front();
  for (std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    CAPTURE(threads);
    Control control(Control::seconds_from_now(0.0), nullptr);
    const auto searched = search_clique(graph, 0, {.threads = threads}, nullptr, kernels, control);
    CHECK(!searched.complete);
    CHECK(is_clique(graph, searched.clique));
  }
  Control control(Control::seconds_from_now(0.0), nullptr);
  CHECK(!greedy_colours(graph, kernels, control).has_value());
}
