// What C++ programs pass wrongly, and the words with which it is refused: those of the Python package.
#include <array>
#include <cmath>
#include <limits>

#include "clipperplus/clipperplus.h"
#include "machine.h"
#include "testing.h"

using namespace clipperplus;

namespace {

template <class Action>
std::string refusal(Action action) {
  return message_of<std::invalid_argument>(action);
}

// Points that lead to numbers which are elsewhere.
struct Mapped {
  static constexpr int SizeAtCompileTime = 3;
  const double* numbers;

  const double& operator[](std::size_t a) const { return numbers[a]; }
};
struct Referring {
  const double &x, &y, &z;
};

}  // namespace

TEST_CASE("wrong input is refused with the words of the Python package") {
  using P = std::vector<std::array<double, 3>>;
  const P three{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}}, two(three.begin(), three.begin() + 2);
  P broken = three;
  broken[1][2] = std::nan("");
  const std::vector<std::array<float, 2>> plane(3);
  const auto graph = [](const PointsView& a, const PointsView& b, ConsistencyOptions options) {
    return refusal([&] { consistency_graph(a, b, options); });
  };
  CHECK(graph(three, two, {}) == "target: 2 landmarks for 3 of the source; pass associations, or as many of both");
  CHECK(graph(broken, three, {}) == "source: point 1 is [1.0, 0.0, nan]; expected finite coordinates");
  CHECK(graph(three, plane, {}) == "target: 2 coordinates a point, the source has 3");
  CHECK(graph(three, three, {.epsilon = -1.0}) == "epsilon: expected a finite number above 0, got -1.0");
  CHECK(graph(three, three, {.epsilon = 0.0}) == "epsilon: expected a finite number above 0, got 0.0");
  CHECK(graph(three, three, {.epsilons = {0.1}}) ==
        "epsilon: expected a number or one per association, shape (3,), got shape (1,), dtype float64");
  CHECK(graph(three, three, {.epsilons = {0.1, 1e-7, -1e-7}}) ==
        "epsilon: entry 2 is -1e-07; expected finite numbers above 0");
  CHECK(graph(three, three, {.min_distance = INFINITY}) ==
        "min_distance: expected a finite number of at least 0, got inf");
  CHECK(graph(three, three, {.threads = 0}) == "threads: expected an integer from 1 to 1024, got 0");
  CHECK(refusal([&] { consistency_graph(three, two, {{0, 1}, {1, 2}}); }) ==
        "associations: row 1 names number 2 of the second set; it has 2");
  CHECK(refusal([&] { consistency_graph(three, two, std::vector<std::pair<int, std::uint64_t>>{{0, ~0ULL}}); }) ==
        "associations: row 0 names number 18446744073709551615 of the second set; it has 2");
  CHECK(refusal([&] { consistency_graph(three, two, std::vector<std::pair<int, int>>{{-1, 0}}); }) ==
        "associations: row 0 names number -1 of the first set; it has 3");
  CHECK(refusal([] { Graph::from_edges(3, std::vector<std::array<std::uint64_t, 2>>{{0, ~0ULL - 1}, {~0ULL, 1}}); }) ==
        "edges: vertex 18446744073709551615 is out of range for 3 vertices");
  CHECK(refusal([] { Graph::from_edges(3, {{0, 1}, {-1, 2}}); }) ==
        "edges: edge 1 is (-1, 2), but there are 3 vertices, counted from 0");
  CHECK(
      refusal([&] { solve(three, three, {.clique = {.vertex_weights = {1, 1, 1}}}); }).starts_with("vertex_weights: "));
  const std::vector<Mapped> mapped{{three[0].data()}, {three[1].data()}, {three[2].data()}};
  const std::vector<Referring> referring{{three[0][0], three[0][1], three[0][2]}};
  const char* references = "points: expected elements that hold their numbers, not maps or references";
  CHECK(refusal([&] { consistency_graph(mapped, three); }) == references);
  CHECK(refusal([&] { consistency_graph(referring, three); }) == references);
  const std::vector<double> ten(10);
  CHECK(refusal([&] { PointsView(ten, 3); }) == "points: expected 3 coordinates each, got 10 in all");
  CHECK(refusal([&] { PointsView(ten, 0); }) == "dimension: expected 2 or 3, got 0");
  CHECK(refusal([&] { solve(plane, plane); }) == "source: expected points of shape (n, 3), got (3, 2)");
  CHECK(refusal([&] { solve(three, three, {.clique = {.time_limit = -1.0}}); }).starts_with("time_limit: expected"));
  const P far{{1e308, 0.0, 0.0}, {1e308, 1.0, 0.0}, {1e308, 0.0, 1.0}};
  P opposite = far;
  for (auto& point : opposite) point[0] = -1e308;
  CHECK(refusal([&] { solve(far, opposite); }) ==
        "source, target: the points are too far from the origin for a translation between them");
  CHECK(refusal([] { Graph::from_edges(Graph::kMaxVertices + 1, {}); }) ==
        "n: expected an integer from 0 to 67108864, got 67108865");
  CHECK(refusal([] { Graph::from_edges(3, {}).has_edge(1, 3); }) == "v: expected an integer from 0 to 2, got 3");
  CHECK(refusal([] { Graph::from_edges(1'000'000, {}).complement(); }) ==
        "the complement of a sparse graph of 1000000 vertices would take 116 GiB");
  const std::array<double, 6> entries{0.0, 0.5, 0.5, 0.0, 0.0, 0.0};
  CHECK(refusal([&] { Graph::from_adjacency(MatrixView<double>{entries.data(), 2, 2, 2, 1}); }) ==
        "adjacency: entry (0, 1) is 0.5; expected 0 or 1");
  const std::array<std::uint64_t, 4> huge{0, ~0ULL, ~0ULL, 0};
  CHECK(refusal([&] { Graph::from_adjacency(MatrixView<std::uint64_t>{huge.data(), 2, 2, 2, 1}); }) ==
        "adjacency: entry (0, 1) is 18446744073709551615; expected 0 or 1");
  const std::array<signed char, 4> minus{0, -1, -1, 0};
  CHECK(refusal([&] { Graph::from_adjacency(MatrixView<signed char>{minus.data(), 2, 2, 2, 1}); }) ==
        "adjacency: entry (0, 1) is -1; expected 0 or 1");
  const std::array<long double, 4> reals{0.0L, -0.0L, 1.0L + std::numeric_limits<long double>::epsilon(), 0.0L};
  CHECK(refusal([&] {
          Graph::from_adjacency(MatrixView<long double>{reals.data(), 2, 2, 2, 1});
        }).starts_with("adjacency: entry (1, 0) is 1.0"));
  CHECK(refusal([&] { Graph::from_adjacency(MatrixView<double>{entries.data(), 2, 3, 3, 1}); }) ==
        "adjacency: expected a square matrix, got shape (2, 3)");
}

TEST_CASE("more associations than can be compared are refused at once, and so are graphs that do not fit") {
  std::vector<std::array<float, 3>> points(1'000'001);  // all in one place: all agree
  const char* words =
      "associations: expected at most 1000000, as each is compared with all others, got 1000001; their graph could "
      "take 116.4 GiB";
  CHECK(refusal([&] { consistency_graph(points, points); }) == words);
  CHECK(refusal([&] { solve(points, points); }) == words);
  const std::vector<std::array<int, 2>> associations(points.size(), {9, 9});  // of points that are not there
  const std::vector<std::array<float, 3>> few(2);
  CHECK(refusal([&] { consistency_graph(few, few, associations); }) == words);
  points.pop_back();
  if (machine_memory().value_or(0) >= std::size_t{100} << 30) return;  // there is room
  // Bits are not smaller for edges that are lost.
  for (const std::size_t least : {0, 1, 10}) {
    const std::string message = refusal([&] { consistency_graph(points, points, {.min_clique_size = least}); });
    CAPTURE(message);
    CHECK(message.starts_with("associations: the graph of 1000000 of them takes about 116.4 GiB, this machine has "));
    CHECK(message.ends_with("; expected fewer"));
  }
}
