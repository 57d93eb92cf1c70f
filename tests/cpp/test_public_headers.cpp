// The headers in cpp/include need nothing but each other: this file is compiled without the path to the others.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "clipperplus/clipperplus.h"

using namespace clipperplus;

TEST_CASE("points that were moved agree with each other, and those that were not do not") {
  const std::vector<std::array<double, 3>> source{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}, {5.0, 5.0, 5.0}};
  auto target = source;
  for (std::size_t k = 0; k < 3; ++k) target[k] = {source[k][0] + 3.0, source[k][1] + 3.0, source[k][2] + 3.0};
  const Graph graph = consistency_graph(source, target, {.epsilon = 0.1});
  CHECK(graph.num_edges() == 3);
  CHECK(graph.has_edge(0, 1));
  CHECK(!graph.has_edge(0, 3));
  const Solution found = solve(source, target, {.epsilon = 0.1});
  CHECK((found.clique.vertices == std::vector<Vertex>{0, 1, 2}));
  CHECK(found.clique.optimal());
  CHECK(found.T_target_source->apply(source[1])[0] == doctest::Approx(4.0));
}

TEST_CASE("{} means the default options, and pairs in braces associations") {
  const std::vector<std::array<double, 3>> points{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}, {5.0, 5.0, 5.0}};
  const Graph graph = consistency_graph(points, points, {});
  CHECK((graph == consistency_graph(points, points, ConsistencyOptions{})));
  CHECK(graph.num_edges() == 6);
  CHECK(consistency_graph(points, points, {{0, 0}}).num_vertices() == 1);
  CHECK(consistency_graph(points, points, {{0, 0}, {1, 1}}, {}).num_edges() == 1);
  CHECK(solve(points, points, {}).inliers.size() == 4);
  CHECK(solve(points, points, {{0, 0}, {1, 1}, {2, 2}}, {}).inliers.size() == 3);
  CHECK(find_clique(graph, {}).size() == 4);
}

TEST_CASE("the version is one, in numbers and in words") {
  const int numbers[] = {CLIPPERPLUS_VERSION_MAJOR, CLIPPERPLUS_VERSION_MINOR, CLIPPERPLUS_VERSION_PATCH};
  std::string words;
  for (const int number : numbers) words += (words.empty() ? "" : ".") + std::to_string(number);
  CHECK(words == kVersion);
}
