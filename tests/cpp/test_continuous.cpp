// The methods that the paper compares with, on every instruction set and both representations; tiny starts, deadlines.
#include <algorithm>
#include <cmath>

#include "belachew.h"
#include "check.h"
#include "clipper.h"
#include "replicator.h"

using namespace clipperplus;

namespace {

// Against a fine grid: nothing on it is lower than the minimum that was found.
void a_quartic_is_minimised() {
  const auto value = [](double p, double q, double w) { return w * w * w * w / 4.0 + p * w * w / 2.0 + q * w; };
  for (double p = -30.0; p <= 30.0; p += 0.37) {
    for (double q = -60.0; q <= 60.0; q += 0.41) {
      const double found = minimise_quartic(p, q);
      CHECK(found >= 0.0 && std::isfinite(found));
      double lowest = 0.0;
      for (double w = 0.0; w < 12.0; w += 0.01) lowest = std::min(lowest, value(p, q, w));
      CHECK(value(p, q, found) <= lowest + 1e-9);
    }
  }
  CHECK(minimise_quartic(0.0, 0.0) == 0.0);
  CHECK(minimise_quartic(1e300, 1.0) == 0.0);
  CHECK(std::abs(minimise_quartic(0.0, -8.0) - 2.0) < 1e-15);
  CHECK(std::isfinite(minimise_quartic(-1e100, -1e100)));
  CHECK(minimise_quartic(-3.0, 2.0) == 0.0);  // a double root
}

struct Vectors {
  std::vector<double> pelillo, ding, belachew, clipper, weighted;
  bool operator==(const Vectors&) const = default;
};

Vectors solve(const Graph& graph, const simd::Kernels& kernels, double scale, Control& control) {
  const std::size_t n = graph.num_vertices();
  std::vector<double> start(n);
  for (std::size_t v = 0; v < n; ++v) start[v] = scale * static_cast<double>(1 + v % 7);

  std::vector<std::int64_t> offsets{0};
  std::vector<Vertex> neighbours;
  std::vector<double> values;
  for (std::size_t v = 0; v < n; ++v) {
    graph.for_each_neighbour(v, [&](Vertex u) {
      neighbours.push_back(u);
      values.push_back(1.0 / static_cast<double>(1 + (v + static_cast<std::size_t>(u)) % 3));
    });
    offsets.push_back(static_cast<std::int64_t>(neighbours.size()));
  }
  Control unhurried;
  const EdgeWeights weights(graph, offsets, neighbours, values, unhurried);
  return {replicate(graph, start, {}, kernels, control).x, replicate(graph, start, {.beta = 1.05}, kernels, control).x,
          approximate_by_rank_one(graph, start, {}, kernels, control).w,
          ascend_clipper(graph, nullptr, start, {}, kernels, control).u,
          ascend_clipper(graph, &weights, start, {}, kernels, control).u};
}

void paths_agree(std::size_t n, double density, unsigned seed) {
  const auto graph = make_graph(n, random_edges(n, density, seed));
  const auto paths = simd::available();
  Control control;
  const auto expected = solve(graph, *paths.back(), 1.0, control);
  for (const auto* kernels : paths) CHECK(solve(graph, *kernels, 1.0, control) == expected);
  for (const auto* vector :
       {&expected.pelillo, &expected.ding, &expected.belachew, &expected.clipper, &expected.weighted}) {
    CHECK(vector->size() == n);
    for (double x : *vector) CHECK(std::isfinite(x) && x >= 0.0);
  }
}

void the_scale_of_the_start_does_not_matter() {
  const auto graph = make_graph(64, random_edges(64, 0.5, 9));
  const auto& kernels = *simd::available().front();
  Control control;
  const auto expected = solve(graph, kernels, 1.0, control);
  CHECK(solve(graph, kernels, 0x1p-1000, control) == expected);
  CHECK(solve(graph, kernels, 0x1p1020, control) == expected);
}

void a_deadline_ends_them_with_an_answer() {
  const auto graph = make_graph(300, random_edges(300, 0.5, 8));
  const auto& kernels = *simd::available().front();
  const std::vector<double> start(300, 1.0);
  Control control(Control::seconds_from_now(0.0), nullptr);
  const auto x = replicate(graph, start, {}, kernels, control);
  CHECK(x.steps == 0 && !x.finished && x.x.size() == 300);
  const auto w = approximate_by_rank_one(graph, start, {}, kernels, control);
  CHECK(w.sweeps == 0 && !w.finished && w.w.size() == 300);
  const auto u = ascend_clipper(graph, nullptr, start, {}, kernels, control);
  CHECK(u.inner_steps == 0 && !u.finished && u.u.size() == 300);
}

// A triangle 0, 1, 2 with weights, and the vertex 3.
std::string refusal(std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours, std::vector<double> values) {
  const auto graph = make_graph(4, {0, 1, 1, 2, 0, 2});
  Control control;
  return message_of<InvalidWeights>(
      [&] { EdgeWeights(graph, std::move(offsets), std::move(neighbours), std::move(values), control); });
}

void wrong_weights_are_refused() {
  CHECK(refusal({0, 1, 3, 4, 4}, {1, 0, 2, 1}, {0.5, 0.5, 0.1, 0.1}).empty());
  CHECK(refusal({0, 0, 0, 0, 0}, {}, {}).empty());
  for (const auto& offsets : {std::vector<std::int64_t>{0, 1, 2}, {0, 9, 2, 2, 2}, {1, 1, 2, 2, 2}, {0, 1, 2, 2, 3}}) {
    CHECK(refusal(offsets, {1, 0}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  }
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 4}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, -1}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 1, 1, 1}, {0}, {0.5}) == "these are not sorted rows without a diagonal");
  CHECK(refusal({0, 2, 3, 4, 4}, {2, 1, 0, 0}, {0.5, 0.5, 0.5, 0.5}) == "these are not sorted rows without a diagonal");
  CHECK(refusal({0, 2, 2, 2, 2}, {1, 1}, {0.5, 0.5}).find("not s") != std::string::npos);
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {1.5, 1.5}) == "entry (0, 1) is 1.5; expected a number from 0 to 1");
  CHECK(refusal({0, 0, 0, 1, 2}, {3, 2}, {0.5, 0.5}).starts_with("entry (2, 3) is positive, but the graph has no"));
  CHECK(refusal({0, 1, 1, 1, 1}, {1}, {0.5}) == "not symmetric: entry (0, 1) is positive, entry (1, 0) is 0");
  CHECK(refusal({0, 0, 1, 1, 1}, {0}, {0.5}) == "not symmetric: entry (1, 0) is positive, entry (0, 1) is 0");
  CHECK(refusal({0, 0, 1, 3, 3}, {2, 0, 1}, {0.5, 0.5, 0.5}) ==
        "not symmetric: entry (2, 0) is positive, entry (0, 2) is 0");
  CHECK(refusal({0, 1, 1, 2, 2}, {2, 1}, {0.5, 0.5}) == "not symmetric: entry (0, 2) is positive, entry (2, 0) is 0");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {0.5, 0.4}) == "not symmetric: entry (0, 1) is 0.5 and entry (1, 0) is 0.4");
}

}  // namespace

int main() {
  wrong_weights_are_refused();
  a_quartic_is_minimised();
  unsigned seed = 300;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{130}}) {
    for (double density : {0.0, 0.5, 0.9}) paths_agree(n, density, seed++);
  }
  paths_agree(6000, 0.001, seed++);  // CSR
  the_scale_of_the_start_does_not_matter();
  a_deadline_ends_them_with_an_answer();
}
