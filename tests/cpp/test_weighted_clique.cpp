// Weighted cores, greedy, cover, local search and search, on every instruction set, both representations and several
// threads.
#include <algorithm>
#include <numeric>

#include "clique/weighted_greedy.h"
#include "clique/weighted_local_search.h"
#include "clique/weighted_search.h"
#include "graph/weighted_cores.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

Weight sum_of(const std::vector<Vertex>& vertices, const std::vector<Weight>& weights) {
  Weight sum = 0;
  for (const Vertex v : vertices) sum += weights[static_cast<std::size_t>(v)];
  return sum;
}

// The heaviest clique by trying to extend every clique, in index order, with nothing but what is left as a bound.
Weight heaviest(const Graph& graph, const std::vector<Weight>& weights, const std::vector<Vertex>& candidates,
                Weight weight, Weight best) {
  best = std::max(best, weight);
  if (weight + sum_of(candidates, weights) <= best) return best;
  for (std::size_t k = 0; k < candidates.size(); ++k) {
    const auto v = static_cast<std::size_t>(candidates[k]);
    std::vector<Vertex> next;
    for (std::size_t j = k + 1; j < candidates.size(); ++j) {
      if (graph.has_edge(v, static_cast<std::size_t>(candidates[j]))) next.push_back(candidates[j]);
    }
    best = heaviest(graph, weights, next, weight + weights[v], best);
  }
  return best;
}

std::vector<Weight> random_weights(std::size_t n, Weight most, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<Weight> draw(0, most);
  std::vector<Weight> weights(n);
  for (Weight& weight : weights) weight = draw(random);
  return weights;
}

struct Answer {
  std::vector<Vertex> order, greedy, maximum, tabu;
  Weight cover = 0;  // on bit rows
};

Answer solve(const Graph& graph, const std::vector<Weight>& weights, const simd::Kernels& kernels, std::size_t threads,
             Weight expected) {
  Control control;
  Answer answer;
  const auto [ordered, cores, order] = order_by_weighted_core(graph, weights, kernels, control);
  answer.order = order;
  std::vector<Weight> own;
  for (const Vertex v : order) own.push_back(weights[static_cast<std::size_t>(v)]);
  CHECK(std::is_sorted(cores.rbegin(), cores.rend()));
  answer.greedy = weighted_greedy_clique(ordered, own, cores, control).clique;
  CHECK(is_clique(ordered, answer.greedy));
  const auto searched =
      search_weighted_clique(ordered, own, cores, -1, {.threads = threads}, nullptr, kernels, control);
  CHECK(searched.complete);
  CHECK(is_clique(ordered, searched.clique));
  CHECK(sum_of(searched.clique, own) == expected);
  CHECK(searched.upper_bound == expected);
  for (const Vertex v : searched.clique) CHECK(cores[static_cast<std::size_t>(v)] >= expected);
  answer.maximum = searched.clique;
  // There is none that is heavier than the heaviest.
  CHECK(search_weighted_clique(ordered, own, cores, expected, {.threads = threads}, nullptr, kernels, control)
            .clique.empty());
  Control ended;
  const auto cut = search_weighted_clique(ordered, own, cores, -1, {.node_limit = 1}, nullptr, kernels, ended);
  CHECK(std::max(cut.upper_bound, sum_of(cut.clique, own)) >= expected);
  if (graph.has_bits()) {
    const auto cover = weighted_cover(ordered, own, kernels, control);
    answer.cover = *std::max_element(cover.begin(), cover.end());
    CHECK(answer.cover >= expected);
    answer.tabu =
        weighted_local_search(ordered, own, {}, {.patience = 500, .target = expected}, kernels, control).clique;
    CHECK(is_clique(ordered, answer.tabu));
    CHECK(sum_of(answer.tabu, own) <= expected);
  }
  return answer;
}

void check_paths_and_threads(const Graph& graph, Weight most, unsigned seed) {
  CAPTURE(graph);
  CAPTURE(most);
  const auto weights = random_weights(graph.num_vertices(), most, seed);
  std::vector<Vertex> all(graph.num_vertices());
  std::iota(all.begin(), all.end(), Vertex{0});
  const Weight expected = heaviest(graph, weights, all, 0, 0);
  const auto paths = simd::available();
  const auto first = solve(graph, weights, *paths.back(), 1, expected);
  for (const auto* kernels : paths) {
    for (std::size_t threads : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
      INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
      const auto answer = solve(graph, weights, *kernels, threads, expected);
      CHECK(answer.order == first.order);
      CHECK(answer.greedy == first.greedy);
      CHECK(answer.maximum == first.maximum);
      CHECK(answer.tabu == first.tabu);
      CHECK(answer.cover == first.cover);
    }
  }
}

}  // namespace

TEST_CASE("weighted answers hold what they promise, and depend neither on the instruction set nor on threads") {
  unsigned seed = 1;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{25}, std::size_t{70}}) {
    for (double density : {0.05, 0.5, 0.8}) {
      for (Weight most : {Weight{1}, Weight{10}, Weight{200}, Weight{1} << 40}) {
        check_paths_and_threads(random_graph(n, density, seed), most, seed + 1);
        seed += 2;
      }
    }
  }
  check_paths_and_threads(random_graph(45, 0.95, seed), 100, seed);  // many conflicts
}

TEST_CASE("weighted answers on compressed rows") {
  check_paths_and_threads(random_graph(300, 0.02, 7).compact(), 50, 8);
  const auto sparse = random_graph(6000, 0.002, 9);
  REQUIRE(!sparse.has_bits());
  check_paths_and_threads(sparse, 50, 10);
}

TEST_CASE("weights of one give core numbers plus one") {
  Control control;
  const auto graph = make_graph(5, {0, 1, 0, 2, 1, 2, 2, 3});
  const auto ordered = order_by_weighted_core(graph, std::vector<Weight>(5, 1), *simd::available().front(), control);
  CHECK(ordered.cores == std::vector<Weight>{3, 3, 3, 2, 1});
  CHECK(ordered.order.back() == 4);
}
