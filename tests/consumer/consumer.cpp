// What a program of others does with the installed package: certified cliques, checked by brute force; a motion; errors
// that cross from the library.
#include <clipperplus/clipperplus.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "checks.h"

namespace {

namespace cp = clipperplus;

cp::Graph random_graph(std::size_t n, double density, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution joined(density);
  std::vector<std::array<int, 2>> edges;
  for (int u = 0; u < static_cast<int>(n); ++u) {
    for (int v = u + 1; v < static_cast<int>(n); ++v) {
      if (joined(random)) edges.push_back({u, v});
    }
  }
  return cp::Graph::from_edges(n, edges);
}

// By trying all sets of vertices.
std::size_t clique_number(const cp::Graph& graph) {
  const std::size_t n = graph.num_vertices();
  std::size_t largest = 0;
  for (std::size_t set = 0; set < (std::size_t{1} << n); ++set) {
    std::size_t size = 0;
    bool clique = true;
    for (std::size_t u = 0; u < n && clique; ++u) {
      if (((set >> u) & 1) == 0) continue;
      ++size;
      for (std::size_t v = u + 1; v < n && clique; ++v) clique = ((set >> v) & 1) == 0 || graph.has_edge(u, v);
    }
    if (clique && size > largest) largest = size;
  }
  return largest;
}

void check_clique(const cp::Graph& graph, const cp::CliqueResult& found) {
  for (const cp::Vertex u : found.vertices) {
    for (const cp::Vertex v : found.vertices) {
      CHECK(u == v || graph.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v)));
    }
  }
  CHECK(found.size() <= found.upper_bound);
  CHECK(found.optimal() == (found.certificate != cp::Certificate::None));
}

void cliques_are_the_largest() {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const cp::Graph graph = random_graph(13, 0.3 + 0.03 * seed, seed);
    const std::size_t largest = clique_number(graph);
    for (const auto method : {cp::Method::Auto, cp::Method::Exact}) {
      const cp::CliqueResult found = cp::find_clique(graph, {.method = method});
      check_clique(graph, found);
      CHECK(found.optimal() && found.size() == largest);
    }
    for (const auto method : {cp::Method::ClipperPlus, cp::Method::Greedy}) {
      const cp::CliqueResult found = cp::find_clique(graph, {.method = method});
      check_clique(graph, found);
      CHECK(found.upper_bound >= largest);
    }
  }
}

struct Point {
  float padding, x, y, z;
};

void motions_are_found() {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> coordinate(0.0F, 10.0F);
  std::vector<Point> source(200), target(200);
  for (std::size_t k = 0; k < source.size(); ++k) {
    source[k] = {0.0F, coordinate(random), coordinate(random), coordinate(random)};
    target[k] = {0.0F, coordinate(random), coordinate(random), coordinate(random)};
    if (k < 40) target[k] = {0.0F, 5.0F - source[k].y, source[k].x, source[k].z + 1.0F};
  }
  const cp::Solution found = cp::solve(source, target, {.epsilon = 0.01});
  CHECK(found.status == cp::Status::Found && found.clique.optimal());
  CHECK(found.inliers.size() == 40 && found.inliers.front() == 0 && found.inliers.back() == 39);
  const double expected[] = {0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1};
  for (std::size_t k = 0; k < 16; ++k) CHECK(std::abs(found.T_target_source->matrix[k] - expected[k]) < 1e-5);
  CHECK(cp::consistency_graph(source, target, {.epsilon = 0.01}) == found.graph);
}

void errors_cross_the_border() {
  CHECK(refusal([] { cp::Graph::from_edges(2, {{0, 2}}); }) ==
        "edges: edge 0 is (0, 2), but there are 2 vertices, counted from 0");
  bool recognized = false;
  try {
    cp::Graph::from_edges(2, {{1, 1}});
  } catch (const cp::InvalidGraph&) {  // by its type, which a shared library must show
    recognized = true;
  }
  CHECK(recognized);
  const cp::Graph graph = random_graph(60, 0.5, 1);
  CHECK(refusal([&] { cp::find_clique(graph, {.threads = 0}); }) ==
        "threads: expected an integer from 1 to 1024, got 0");
  struct Enough {};
  bool passed = false;
  try {
    cp::find_clique(graph, {.callback = [](std::size_t, std::size_t, double) -> bool { throw Enough(); }});
  } catch (const Enough&) {
    passed = true;
  }
  CHECK(passed);
  const cp::CliqueOptions settings{.relaxation = {.max_inner = 0, .sigma = 0.1}};
  CHECK(refusal([&] { cp::find_clique(graph, settings); }).starts_with("max_inner: expected an integer from 1"));
  std::vector<Point> broken(3);
  broken[1].y =
      std::numeric_limits<float>::quiet_NaN();  // noticed even where this program is compiled with -ffast-math
  CHECK(refusal([&] { cp::solve(broken, broken); }).starts_with("source: point 1 is [0.0, nan, 0.0]"));
  const float entries[] = {0.0F, broken[1].y, broken[1].y, 0.0F};
  CHECK(refusal([&] { cp::Graph::from_adjacency(cp::MatrixView<float>{entries, 2, 2, 2, 1}); }) ==
        "adjacency: entry (0, 1) is nan; expected 0 or 1");
  const double small[] = {0.0, 5e-324, 5e-324, 0.0};  // which such a program may compare as if it were 0
  CHECK(refusal([&] {
          cp::Graph::from_adjacency(cp::MatrixView<double>{small, 2, 2, 2, 1});
        }).starts_with("adjacency: entry (0, 1) is "));
  CHECK(refusal([] { cp::read_graph("nowhere.clq"); }) == "nowhere.clq: no such file");
}

}  // namespace

int main() {
  CHECK(std::string(cp::kVersion).size() >= 5);
  cliques_are_the_largest();
  motions_are_found();
  errors_cross_the_border();
  const cp::Graph graph = random_graph(200, 0.5, 7);
  const cp::CliqueResult found = cp::find_clique(graph);
  check_clique(graph, found);
  std::printf("clipperplus %s: a clique of %zu of 200 vertices, %s\n", cp::kVersion, found.size(),
              found.optimal() ? "certified" : "not certified");
  return found.optimal() ? 0 : 1;
}
