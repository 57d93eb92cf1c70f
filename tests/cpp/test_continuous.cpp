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
  const EdgeWeights weights{offsets, neighbours, values};
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
  for (const auto* kernels : paths) {
    CHECK(solve(graph, *kernels, 1.0, control) == expected);
    CHECK(solve(graph, *kernels, 0x1p-1000, control) == expected);  // a tiny start is a start
  }
  for (const auto* vector : {&expected.pelillo, &expected.ding, &expected.belachew, &expected.clipper}) {
    CHECK(vector->size() == n);
    for (double x : *vector) CHECK(std::isfinite(x) && x >= 0.0);
  }
}

void a_deadline_ends_them_with_an_answer() {
  const auto graph = make_graph(300, random_edges(300, 0.5, 8));
  Control control(Control::seconds_from_now(0.0), nullptr);
  const auto vectors = solve(graph, *simd::available().front(), 1.0, control);
  CHECK(vectors.pelillo.size() == 300 && vectors.belachew.size() == 300 && vectors.weighted.size() == 300);
}

}  // namespace

int main() {
  a_quartic_is_minimised();
  unsigned seed = 300;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{130}}) {
    for (double density : {0.0, 0.5, 0.9}) paths_agree(n, density, seed++);
  }
  paths_agree(4200, 0.002, seed++);  // CSR
  a_deadline_ends_them_with_an_answer();
}
