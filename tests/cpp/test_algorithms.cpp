// Cores, greedy, colouring, search, reductions, relaxation and the final check, on every instruction set and both
// representations.
#include <algorithm>

#include "check.h"
#include "colouring.h"
#include "cores.h"
#include "greedy.h"
#include "listing.h"
#include "local_search.h"
#include "maximal.h"
#include "reduction.h"
#include "relaxation.h"
#include "search.h"

using namespace clipperplus;

namespace {

bool is_clique(const Graph& graph, const std::vector<Vertex>& vertices) {
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!graph.has_edge(static_cast<std::size_t>(vertices[i]), static_cast<std::size_t>(vertices[j]))) return false;
    }
  }
  return true;
}

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
    CHECK(cores.numbers[v] == core);
  }
}

struct Answer {
  std::vector<Vertex> order, greedy, maximum, tabu;
  std::size_t colours, reduced_edges, maximum_cliques;
  std::vector<double> u;
  bool operator==(const Answer&) const = default;
};

Answer solve(const Graph& graph, const simd::Kernels& kernels, std::size_t threads) {
  Control control;
  const auto cores = core_numbers(graph, kernels, control);
  check_cores(graph, cores);
  Answer answer;
  const auto [ordered, ordered_cores, order] = order_by_core(graph, kernels, control);
  CHECK(std::equal(order.begin(), order.end(), cores.degeneracy.rbegin()));
  CHECK(std::is_sorted(ordered_cores.rbegin(), ordered_cores.rend()));
  CHECK(ordered.num_edges() == graph.num_edges());
  answer.order = order;
  const auto greedy = greedy_clique(ordered, ordered_cores, threads, kernels, control);
  CHECK(is_clique(ordered, greedy.clique));
  CHECK(!greedy.clique.empty() && greedy.clique.size() <= static_cast<std::size_t>(ordered_cores.front()) + 1);
  answer.greedy = greedy.clique;
  const std::vector<std::int64_t> claim(greedy.clique.begin(), greedy.clique.end());
  const auto checked = make_maximal(ordered, claim, claim.size(), control);
  CHECK(checked.removed == 0 && checked.added == 0);  // greedy cliques are maximal

  answer.colours = greedy_colours(ordered, kernels, control).value();
  CHECK(answer.colours >= greedy.clique.size());
  CHECK(answer.colours <= static_cast<std::size_t>(ordered_cores.front()) + 1);

  const auto searched = search_clique(ordered, 0, {.threads = threads}, nullptr, kernels, control);
  CHECK(searched.complete && is_clique(ordered, searched.clique));
  CHECK(searched.clique.size() >= greedy.clique.size() && searched.clique.size() <= answer.colours);
  CHECK(search_clique(ordered, searched.clique.size(), {.threads = threads}, nullptr, kernels, control).clique.empty());
  answer.maximum = searched.clique;
  const std::size_t omega = searched.clique.size();
  CHECK(bound_at_root(ordered, 1, answer.colours, {}, kernels, control) >= omega);
  SearchOptions plain{.threads = threads, .recolour = false, .propagate = false};
  CHECK(search_clique(ordered, omega - 1, plain, nullptr, kernels, control).clique.size() == omega);
  std::size_t listed = 0;
  const auto take = [&](std::span<const Vertex> clique) {
    CHECK(clique.size() == omega && is_clique(ordered, {clique.begin(), clique.end()}));
    return ++listed < 100;
  };
  list_cliques(ordered, omega - 1, true, take, kernels, control);
  answer.maximum_cliques = listed;
  CHECK(listed > 0);
  if (ordered.has_bits()) {
    const auto reduced = reduce(ordered, searched.clique.size() - 1, threads, kernels, control);
    answer.reduced_edges = reduced.graph.num_edges();
    for (Vertex v : searched.clique) {
      CHECK(std::binary_search(reduced.vertices.begin(), reduced.vertices.end(), v) || searched.clique.size() == 1);
    }
    answer.tabu = local_search(ordered, {}, {.patience = 500, .target = graph.num_vertices()}, kernels, control).clique;
    CHECK(is_clique(ordered, answer.tabu) && answer.tabu.size() <= searched.clique.size());
    CHECK(local_search(ordered, claim, {.patience = 100, .target = graph.num_vertices()}, kernels, control)
              .clique.size() >= claim.size());
  } else {
    answer.reduced_edges = 0;
  }

  const std::vector<double> ones(graph.num_vertices(), 1.0);
  const auto relaxed = relax(graph, ones, {}, kernels, control);
  std::vector<Vertex> support;
  for (std::size_t v = 0; v < ones.size(); ++v) {
    if (relaxed.u[v] > 1e-9) support.push_back(static_cast<Vertex>(v));
  }
  CHECK(!relaxed.finished || is_clique(graph, support));  // unfinished: a symmetry that the ascent cannot leave
  answer.u = relaxed.u;
  return answer;
}

void paths_and_threads_agree(std::size_t n, double density, unsigned seed) {
  const auto graph = make_graph(n, random_edges(n, density, seed));
  const auto paths = simd::available();
  const auto expected = solve(graph, *paths.back(), 1);
  for (const auto* kernels : paths) {
    for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
      CHECK(solve(graph, *kernels, threads) == expected);
    }
  }
}

// Large enough for threads, and with something left: a clique of 60 and what happens to lean on it.
void a_reduction_does_not_depend_on_threads() {
  auto edges = random_edges(1300, 0.25, 77);
  for (std::int64_t v = 0; v < 60; ++v) {
    for (std::int64_t u = 0; u < v; ++u) edges.insert(edges.end(), {21 * u, 21 * v});
  }
  const auto graph = make_graph(1300, edges);
  CHECK(graph.num_edges() > 200'000);
  Control control;
  for (std::size_t size : {std::size_t{20}, std::size_t{58}, std::size_t{75}}) {
    const auto& plain = *simd::available().back();
    const auto ordered = order_by_core(graph, plain, control).graph;
    const auto expected = reduce(ordered, size, 1, plain, control);
    CHECK(size > 60 || expected.vertices.size() >= 60);
    for (const auto* kernels : simd::available()) {
      for (std::size_t threads : {std::size_t{1}, std::size_t{4}}) {
        const auto reduced = reduce(ordered, size, threads, *kernels, control);
        CHECK(reduced.vertices == expected.vertices && reduced.graph == expected.graph);
      }
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

void every_maximal_clique_is_listed_once() {
  Control control;
  for (unsigned seed = 0; seed < 12; ++seed) {
    const std::size_t n = 4 + seed % 8;
    const auto graph = make_graph(n, random_edges(n, 0.3 + 0.1 * (seed % 7), seed));
    for (const auto* kernels : simd::available()) {
      const auto [ordered, cores, order] = order_by_core(graph, *kernels, control);
      for (std::size_t above = 0; above < 4; ++above) {
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

void make_maximal_repairs() {
  // A path 0 - 1 - 2 and a triangle 3, 4, 5.
  const auto graph = make_graph(6, {0, 1, 1, 2, 3, 4, 4, 5, 3, 5});
  Control control;
  const auto repaired = make_maximal(graph, std::vector<std::int64_t>{1, 0, 2, 3, 1}, 5, control);
  CHECK((repaired.vertices == std::vector<Vertex>{0, 1}) && repaired.removed == 3 && repaired.added == 0);
  const auto grown = make_maximal(graph, std::vector<std::int64_t>{5}, 1, control);
  CHECK((grown.vertices == std::vector<Vertex>{3, 4, 5}) && grown.removed == 0 && grown.added == 2);
  CHECK(make_maximal(graph, {}, 0, control).vertices.size() == 2);
}

void many_restarts_of_the_tabu_search_stay_inside_the_graph() {
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
  CHECK(found.clique.size() == 100 && is_clique(graph, found.clique) && found.clique.back() < 200);
}

void a_deadline_ends_the_search_with_an_answer() {
  const auto graph = make_graph(300, random_edges(300, 0.5, 8));
  const auto& kernels = *simd::available().front();
  Control control(Control::seconds_from_now(0.0), nullptr);
  const std::vector<double> ones(300, 1.0);
  const auto relaxed = relax(graph, ones, {}, kernels, control);
  CHECK(!relaxed.finished && relaxed.u.size() == 300);
  CHECK(!greedy_colours(graph, kernels, control));
}

void a_long_line_search_obeys_the_deadline_and_a_tiny_start_is_a_start() {
  const auto graph = make_graph(300, random_edges(300, 0.5, 8));
  const auto& kernels = *simd::available().front();
  RelaxationOptions options;
  options.max_line_search = 1000000000;
  options.beta = 0.999999999;
  Control control(Control::seconds_from_now(0.05), nullptr);
  CHECK(!relax(graph, std::vector<double>(300, 1.0), options, kernels, control).finished);
  Control free;
  const auto tiny = relax(graph, std::vector<double>(300, 5e-324), {}, kernels, free);
  CHECK(tiny.u == relax(graph, std::vector<double>(300, 1.0), {}, kernels, free).u);
}

void a_check_that_throws_ends_the_search() {
  struct Stop {};
  const auto graph = make_graph(400, random_edges(400, 0.5, 8));
  const auto& kernels = *simd::available().front();
  const std::vector<double> ones(400, 1.0);
  bool thrown = false;
  try {
    for (;;) {
      Control control(Control::seconds_from_now(std::nullopt), []() -> bool { throw Stop(); });
      RelaxationOptions options;
      options.tol_u = options.tol_f = 0.0;
      options.max_inner = 1000000;
      relax(graph, ones, options, kernels, control);
    }
  } catch (const Stop&) {
    thrown = true;
  }
  CHECK(thrown);
}

}  // namespace

int main() {
  unsigned seed = 100;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{60}, std::size_t{130}}) {
    for (double density : {0.05, 0.5, 0.8}) paths_and_threads_agree(n, density, seed++);
  }
  paths_and_threads_agree(100, 0.9, seed++);     // subproblems that are split
  paths_and_threads_agree(6000, 0.001, seed++);  // CSR
  a_reduction_does_not_depend_on_threads();
  every_maximal_clique_is_listed_once();
  make_maximal_repairs();
  many_restarts_of_the_tabu_search_stay_inside_the_graph();
  a_deadline_ends_the_search_with_an_answer();
  a_long_line_search_obeys_the_deadline_and_a_tiny_start_is_a_start();
  a_check_that_throws_ends_the_search();
}
