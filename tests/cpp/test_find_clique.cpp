// find_clique as a program of others uses it: this file is compiled with the public headers alone.
#include "clipperplus/find_clique.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

#include "random_graphs.h"

using namespace clipperplus;

namespace {

constexpr Method kMethods[] = {Method::Auto, Method::Exact, Method::ClipperPlus, Method::Greedy};

// The weight of the heaviest clique, of all subsets.
std::size_t heaviest(const Graph& graph, const std::vector<Weight>& weights) {
  const std::size_t n = graph.num_vertices();
  Weight most = 0;
  for (std::size_t set = 0; set < (std::size_t{1} << n); ++set) {
    std::vector<Vertex> vertices;
    Weight weight = 0;
    for (std::size_t v = 0; v < n; ++v) {
      if ((set >> v & 1U) == 0) continue;
      vertices.push_back(static_cast<Vertex>(v));
      weight += weights[v];
    }
    if (weight > most && is_clique(graph, vertices)) most = weight;
  }
  return static_cast<std::size_t>(most);
}

std::size_t clique_number(const Graph& graph) { return heaviest(graph, std::vector<Weight>(graph.num_vertices(), 1)); }

bool is_maximal(const Graph& graph, const std::vector<Vertex>& clique) {
  for (std::size_t v = 0; v < graph.num_vertices(); ++v) {
    const auto joined = [&](Vertex u) { return graph.has_edge(static_cast<std::size_t>(u), v); };
    if (std::all_of(clique.begin(), clique.end(), joined)) return false;
  }
  return true;
}

void check_answer(const Graph& graph, const CliqueResult& found) {
  CHECK(std::is_sorted(found.vertices.begin(), found.vertices.end()));
  CHECK(is_clique(graph, found.vertices));
  CHECK(is_maximal(graph, found.vertices));
  CHECK(found.weight <= found.upper_bound);
  CHECK(found.optimal() == (found.certificate != Certificate::None));
}

CliqueResult find(const Graph& graph, Method method) {
  CliqueOptions options;
  options.method = method;
  return find_clique(graph, options);
}

std::string refusal(const Graph& graph, const CliqueOptions& options) {
  return message_of<std::invalid_argument>([&] { find_clique(graph, options); });
}

}  // namespace

TEST_CASE("every method gives a maximal clique and a true bound, and the exact ones the largest clique") {
  for (unsigned seed = 0; seed < 150; ++seed) {
    const Graph graph = random_graph(seed % 13, 0.1 + 0.1 * (seed % 9), seed);
    const std::size_t largest = clique_number(graph);
    for (const Method method : kMethods) {
      CAPTURE(name_of(method));
      CAPTURE(seed);
      const CliqueResult found = find(graph, method);
      check_answer(graph, found);
      CHECK(found.weight == found.size());
      CHECK(found.size() <= largest);
      CHECK(found.upper_bound >= largest);
      if (method == Method::Auto || method == Method::Exact) CHECK(found.size() == largest);
    }
  }
}

TEST_CASE("with weights of the vertices the heaviest clique is wanted") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const std::size_t n = 1 + seed % 12;
    const Graph graph = random_graph(n, 0.1 + 0.1 * (seed % 9), seed);
    std::mt19937 random(seed);
    CliqueOptions options;
    for (std::size_t v = 0; v < n; ++v) options.vertex_weights.push_back(static_cast<Weight>(random() % 20));
    const std::size_t most = heaviest(graph, options.vertex_weights);
    for (const Method method : kMethods) {
      CAPTURE(name_of(method));
      CAPTURE(seed);
      options.method = method;
      const CliqueResult found = find_clique(graph, options);
      check_answer(graph, found);
      Weight weight = 0;
      for (const Vertex v : found.vertices) weight += options.vertex_weights[static_cast<std::size_t>(v)];
      CHECK(found.weight == static_cast<std::size_t>(weight));
      CHECK(found.upper_bound >= most);
      if (method == Method::Auto || method == Method::Exact) CHECK(found.weight == most);
    }
  }
}

TEST_CASE("the graph of the paper's first figure") {
  const CliqueResult found = find_clique(make_graph(5, {0, 3, 1, 2, 1, 4, 2, 4}));
  CHECK(found.vertices == std::vector<Vertex>{1, 2, 4});
  CHECK(found.optimal());
  CHECK(found.stages.front().name == "order");
  CHECK(!found.interrupted);
}

TEST_CASE("the answer does not depend on threads, and the history ends with it") {
  const Graph graph = random_graph(150, 0.8, 3);
  CliqueOptions options;
  options.method = Method::Exact;
  const CliqueResult one = find_clique(graph, options);
  options.threads = 4;
  std::vector<std::size_t> sizes;
  options.callback = [&](std::size_t size, std::size_t upper_bound, double) {
    CHECK(size <= upper_bound);
    sizes.push_back(size);
    return true;
  };
  const CliqueResult four = find_clique(graph, options);
  CHECK(one.optimal());
  CHECK(one.vertices == four.vertices);
  REQUIRE(sizes.size() == four.history.size());
  for (std::size_t k = 0; k < sizes.size(); ++k) CHECK(sizes[k] == four.history[k].size);
  CHECK(sizes.back() == four.size());
  CHECK(four.history.back().upper_bound == four.upper_bound);
}

TEST_CASE("a callback ends the search with what there is") {
  const Graph graph = random_graph(300, 0.9, 1);  // takes hours to the end
  for (const std::size_t threads : {1, 3}) {
    for (const std::size_t wanted : {std::size_t{1}, std::size_t{40}}) {
      CliqueOptions options;
      options.method = Method::Exact;
      options.threads = threads;
      options.callback = [&](std::size_t size, std::size_t, double) { return size < wanted; };
      const CliqueResult found = find_clique(graph, options);
      check_answer(graph, found);
      CHECK(found.size() >= wanted);
      CHECK(found.interrupted);
    }
  }
}

TEST_CASE("what a callback throws is passed on, from every step") {
  struct Enough {};
  const Graph graph = random_graph(150, 0.8, 3);
  for (const std::size_t threads : {1, 3}) {
    CliqueOptions options;
    options.method = Method::Exact;
    options.search.local_search = options.search.colour_bound = false;
    options.threads = threads;
    std::size_t news = 0;
    options.callback = [&](std::size_t, std::size_t, double) { return ++news > 0; };
    find_clique(graph, options);
    REQUIRE(news > 3);
    const std::size_t all = news;
    for (std::size_t last = 1; last <= all; ++last) {
      news = 0;
      options.callback = [&](std::size_t, std::size_t, double) {
        if (++news == last) throw Enough();
        return true;
      };
      CHECK_THROWS_AS(find_clique(graph, options), Enough);
      CHECK(news == last);
    }
  }
}

TEST_CASE("time limits, node limits and a request to stop give what there is") {
  const Graph graph = random_graph(300, 0.9, 1);
  for (const std::size_t threads : {1, 2}) {
    CliqueOptions options;
    options.method = Method::Exact;
    options.threads = threads;
    options.time_limit = 0.1;
    const CliqueResult limited = find_clique(graph, options);
    check_answer(graph, limited);
    CHECK(limited.seconds < 2.0);
    CHECK(!limited.optimal());
    CHECK(!limited.interrupted);

    options.time_limit = std::numeric_limits<double>::infinity();
    options.stop = [] { return true; };
    const CliqueResult stopped = find_clique(graph, options);
    check_answer(graph, stopped);
    CHECK(stopped.seconds < 2.0);
    CHECK(stopped.interrupted);

    options.stop = [] { return false; };
    options.node_limit = 30;
    const CliqueResult cut = find_clique(graph, options);
    check_answer(graph, cut);
    CHECK(!cut.interrupted);
    std::size_t nodes = 0;
    for (const CliqueStage& stage : cut.stages) nodes += stage.name == "search" ? *stage.count : 0;
    CHECK(nodes == 30);
  }
}

TEST_CASE("a large sparse graph that is stopped at once is still answered") {
  const std::size_t n = 200'000;
  std::vector<std::int64_t> edges;
  for (std::int64_t v = 1; v < static_cast<std::int64_t>(n); ++v) edges.insert(edges.end(), {v / 2, v});
  const Graph graph = make_graph(n, edges);
  CliqueOptions options;
  options.time_limit = 0.0;
  check_answer(graph, find_clique(graph, options));
  options.time_limit.reset();
  options.stop = [] { return true; };
  check_answer(graph, find_clique(graph, options));
}

TEST_CASE("a start is kept or beaten") {
  const Graph graph = random_graph(60, 0.5, 7);
  const std::vector<Vertex> best = find(graph, Method::Exact).vertices;
  for (const Method method : kMethods) {
    CliqueOptions options;
    options.method = method;
    options.start = best;
    const CliqueResult found = find_clique(graph, options);
    CHECK(found.size() == best.size());
    CHECK(found.stages.front().name == "start");
  }
}

TEST_CASE("graphs without vertices or edges") {
  for (const Method method : kMethods) {
    CHECK(find(make_graph(0, {}), method).size() == 0);
    CHECK(find(make_graph(0, {}), method).optimal());
    CHECK(find(make_graph(3, {}), method).vertices == std::vector<Vertex>{0});
  }
}

TEST_CASE("wrong options are refused in words") {
  const Graph graph = make_graph(5, {0, 1});
  const auto refused = [&](auto change) {
    CliqueOptions options;
    change(options);
    return refusal(graph, options);
  };
  CHECK(refused([](CliqueOptions&) {}) == "");
  CHECK(refused([](auto& o) { o.threads = 0; }) == "threads: expected an integer from 1 to 1024, got 0");
  CHECK(refused([](auto& o) { o.time_limit = -1; }) == "time_limit: expected a finite number of at least 0, got -1.0");
  CHECK(refused([](auto& o) { o.time_limit = std::nan(""); }) ==
        "time_limit: expected a finite number of at least 0, got nan");
  CHECK(refused([](auto& o) { o.start = {9}; }) == "start: vertex 9 is out of range for 5 vertices");
  CHECK(refused([](auto& o) { o.start = {-1}; }) == "start: vertex -1 is out of range for 5 vertices");
  CHECK(refused([](auto& o) { o.start = {1, 1}; }) == "start: expected distinct vertices, some appear twice");
  CHECK(refused([](auto& o) { o.start = {1, 2}; }) ==
        "start: the 2 vertices are no clique, some of them are not joined");
  CHECK(refused([](auto& o) { o.vertex_weights = {1, 2}; }) ==
        "vertex_weights: expected 5 numbers, one per vertex, got shape (2,)");
  CHECK(refused([](auto& o) { o.vertex_weights = {1, -2, 1, 1, 1}; }) ==
        "vertex_weights: weight 1 is -2; expected finite numbers of at least 0");
  CHECK(refused([](auto& o) { o.vertex_weights = {1, 1, 1, 1, (Weight{1} << 62) - 4}; }) ==
        "vertex_weights: expected integers whose sum is less than 2**62");
  CHECK(refused([](auto& o) { o.vertex_weights = {1, 1, 1, 1, (Weight{1} << 62) - 5}; }) == "");
  CHECK(refused([](auto& o) {
          o.method = Method::ClipperPlus;
          o.node_limit = 5;
        }) == "node_limit: method 'clipper+' has no search");
  CHECK(refused([](auto& o) { o.method = static_cast<Method>(7); }) ==
        "method: expected one of auto, exact, clipper+, greedy, got number 7");
  CHECK(refused([](auto& o) { o.method = static_cast<Method>(-1); }).ends_with("greedy, got number -1"));
  CHECK(refused([](auto& o) { o.node_limit = std::uint64_t{1} << 63; }) == "");
  CHECK(refused([](auto& o) { o.node_limit = ~std::uint64_t{0}; }) ==
        "node_limit: expected an integer from 0 to 9223372036854775808, got 18446744073709551615");
  CHECK(refused([](auto& o) { o.relaxation.max_inner = 0; }) ==
        "max_inner: expected an integer from 1 to 1000000000, got 0");
  CHECK(refused([](auto& o) { o.relaxation.sigma = 1.0; }) == "sigma: expected a number between 0 and 1, got 1.0");
  CHECK(refused([](auto& o) { o.relaxation.optimiser = static_cast<Optimiser>(9); }) ==
        "optimiser: expected gradient or lbfgs, got number 9");
  CHECK(refused([](auto& o) { o.relaxation.min_alpha = 5.0; }) == "min_alpha: expected a number from 0 to 2, got 5.0");
  CHECK(refused([](auto& o) { o.relaxation.max_alpha = std::numeric_limits<double>::infinity(); }) ==
        "max_alpha: expected a finite number above 0, got inf");
  CHECK(refused([](auto& o) { o.relaxation.start = {1.0}; }) ==
        "start: expected one entry per vertex, shape (5,), got (1,)");
  CHECK(refused([](auto& o) { o.relaxation.start = {1, -1, 0, 0, 0}; }) ==
        "start: entry 1 is -1.0; expected finite, nonnegative numbers");
  CHECK(refused([](auto& o) { o.relaxation.start = {0, 0, 0, 0, 0}; }) ==
        "start: expected at least one positive entry");
}

TEST_CASE("a wrong graph is a wrong argument") {
  CHECK(message_of<std::invalid_argument>([] { make_graph(2, {0, 5}); }).find("5") != std::string::npos);
}
