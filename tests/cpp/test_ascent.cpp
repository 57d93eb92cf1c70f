// The relaxation and the methods that the paper compares with, on every instruction set and both representations; tiny
// starts, deadlines.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>

#include "ascent/belachew.h"
#include "ascent/clipper.h"
#include "ascent/lbfgs.h"
#include "ascent/relaxation.h"
#include "ascent/replicator.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

struct Vectors {
  std::vector<double> relaxed, quasi_newton, relaxed_weighted, pelillo, ding, belachew, clipper, weighted;
};

void check_same(const Vectors& found, const Vectors& expected) {
  CHECK(difference(found.relaxed, expected.relaxed) == "");
  CHECK(difference(found.quasi_newton, expected.quasi_newton) == "");
  CHECK(difference(found.relaxed_weighted, expected.relaxed_weighted) == "");
  CHECK(difference(found.pelillo, expected.pelillo) == "");
  CHECK(difference(found.ding, expected.ding) == "");
  CHECK(difference(found.belachew, expected.belachew) == "");
  CHECK(difference(found.clipper, expected.clipper) == "");
  CHECK(difference(found.weighted, expected.weighted) == "");
}

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
  RelaxationOptions lbfgs;
  lbfgs.optimiser = Optimiser::lbfgs;
  return {relax(graph, nullptr, start, {}, kernels, control).u,
          relax(graph, nullptr, start, lbfgs, kernels, control).u,
          relax(graph, &weights, start, lbfgs, kernels, control).u,
          replicate(graph, start, {}, kernels, control).x,
          replicate(graph, start, {.beta = 1.05}, kernels, control).x,
          approximate_by_rank_one(graph, start, {}, kernels, control).w,
          ascend_clipper(graph, nullptr, start, {}, kernels, control).u,
          ascend_clipper(graph, &weights, start, {}, kernels, control).u};
}

void check_relaxation(const Graph& graph) {
  const auto paths = simd::available();
  const std::vector<double> ones(graph.num_vertices(), 1.0);
  Control control;
  const auto expected = relax(graph, nullptr, ones, {}, *paths.back(), control);
  REQUIRE(expected.u.size() == ones.size());
  std::vector<Vertex> support;
  for (std::size_t v = 0; v < ones.size(); ++v) {
    if (expected.u[v] > 1e-9) support.push_back(static_cast<Vertex>(v));
  }
  if (expected.finished) CHECK(is_clique(graph, support));  // unfinished: a symmetry that the ascent cannot leave
  for (const auto* kernels : paths) {
    INFO("on ", simd::name_of(*kernels));
    const auto relaxed = relax(graph, nullptr, ones, {}, *kernels, control);
    CHECK(difference(relaxed.u, expected.u) == "");
    CHECK(relaxed.finished == expected.finished);
  }
}

void check_paths(std::size_t n, double density, unsigned seed) {
  CAPTURE(n);
  CAPTURE(density);
  const auto graph = random_graph(n, density, seed);
  check_relaxation(graph);
  const auto paths = simd::available();
  Control control;
  const auto expected = solve(graph, *paths.back(), 1.0, control);
  for (const auto* kernels : paths) {
    INFO("on ", simd::name_of(*kernels));
    check_same(solve(graph, *kernels, 1.0, control), expected);
  }
  for (const auto* vector : {&expected.relaxed, &expected.quasi_newton, &expected.relaxed_weighted, &expected.pelillo,
                             &expected.ding, &expected.belachew, &expected.clipper, &expected.weighted}) {
    CHECK(vector->size() == n);
    for (double x : *vector) {
      REQUIRE_EACH(std::isfinite(x), "x = ", x);
      REQUIRE_EACH(x >= 0.0, "x = ", x);
    }
  }
}

// A triangle 0, 1, 2 with weights, and the vertex 3.
std::string refusal(std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours, std::vector<double> values) {
  const auto graph = make_graph(4, {0, 1, 1, 2, 0, 2});
  Control control;
  return message_of<InvalidWeights>(
      [&] { EdgeWeights(graph, std::move(offsets), std::move(neighbours), std::move(values), control); });
}

}  // namespace

TEST_CASE("wrong weights are refused") {
  CHECK(refusal({0, 1, 3, 4, 4}, {1, 0, 2, 1}, {0.5, 0.5, 0.1, 0.1}) == "");
  CHECK(refusal({0, 0, 0, 0, 0}, {}, {}) == "");
  for (const auto& offsets : {std::vector<std::int64_t>{0, 1, 2}, {0, 9, 2, 2, 2}, {1, 1, 2, 2, 2}, {0, 1, 2, 2, 3}}) {
    CAPTURE(offsets);
    CHECK(refusal(offsets, {1, 0}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  }
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 4}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, -1}, {0.5, 0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {0.5}) == "these are not the rows of a square matrix");
  CHECK(refusal({0, 1, 1, 1, 1}, {0}, {0.5}) == "these are not sorted rows without a diagonal");
  CHECK(refusal({0, 2, 3, 4, 4}, {2, 1, 0, 0}, {0.5, 0.5, 0.5, 0.5}) == "these are not sorted rows without a diagonal");
  CHECK(refusal({0, 2, 2, 2, 2}, {1, 1}, {0.5, 0.5}) == "not symmetric: entry (0, 1) is positive, entry (1, 0) is 0");
  CHECK(refusal({0, 2, 4, 4, 4}, {1, 1, 0, 0}, {0.5, 0.5, 0.5, 0.5}) == "these are not sorted rows without a diagonal");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {1.5, 1.5}) == "entry (0, 1) is 1.5; expected a number from 0 to 1");
  CHECK(refusal({0, 0, 0, 1, 2}, {3, 2}, {0.5, 0.5}).starts_with("entry (2, 3) is positive, but the graph has no"));
  CHECK(refusal({0, 1, 1, 1, 1}, {1}, {0.5}) == "not symmetric: entry (0, 1) is positive, entry (1, 0) is 0");
  CHECK(refusal({0, 0, 1, 1, 1}, {0}, {0.5}) == "not symmetric: entry (1, 0) is positive, entry (0, 1) is 0");
  CHECK(refusal({0, 0, 1, 3, 3}, {2, 0, 1}, {0.5, 0.5, 0.5}) ==
        "not symmetric: entry (2, 0) is positive, entry (0, 2) is 0");
  CHECK(refusal({0, 1, 1, 2, 2}, {2, 1}, {0.5, 0.5}) == "not symmetric: entry (0, 2) is positive, entry (2, 0) is 0");
  CHECK(refusal({0, 1, 2, 2, 2}, {1, 0}, {0.5, 0.4}) == "not symmetric: entry (0, 1) is 0.5 and entry (1, 0) is 0.4");
}

// Against a fine grid: nothing on it is lower than the minimum that was found.
TEST_CASE("a quartic is minimised") {
  const auto value = [](double p, double q, double w) { return w * w * w * w / 4.0 + p * w * w / 2.0 + q * w; };
  for (double p = -30.0; p <= 30.0; p += 0.37) {
    for (double q = -60.0; q <= 60.0; q += 0.41) {
      const double found = minimise_quartic(p, q);
      REQUIRE_EACH(std::isfinite(found), "p = ", p, ", q = ", q);
      REQUIRE_EACH(found >= 0.0, "p = ", p, ", q = ", q);
      double lowest = 0.0;
      for (double w = 0.0; w < 12.0; w += 0.01) lowest = std::min(lowest, value(p, q, w));
      REQUIRE_EACH(value(p, q, found) <= lowest + 1e-9, "p = ", p, ", q = ", q);
    }
  }
  CHECK(minimise_quartic(0.0, 0.0) == 0.0);
  CHECK(minimise_quartic(1e300, 1.0) == 0.0);
  CHECK(std::abs(minimise_quartic(0.0, -8.0) - 2.0) < 1e-15);
  CHECK(std::isfinite(minimise_quartic(-1e100, -1e100)));
  CHECK(minimise_quartic(-3.0, 2.0) == 0.0);  // a double root
}

TEST_CASE("vectors are nonnegative and do not depend on the instruction set; a relaxation ends at a clique") {
  unsigned seed = 300;
  for (std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{130}}) {
    for (double density : {0.0, 0.05, 0.5, 0.8, 0.9}) check_paths(n, density, seed++);
  }
  check_paths(6000, 0.001, seed++);  // compressed rows
}

// The two-loop recursion against the update of the inverse Hessian as a dense matrix; all entries are free.
TEST_CASE("quasi-Newton directions are those of the dense update") {
  constexpr std::size_t kVertices = 10;
  constexpr double kPenalty = 0.7;
  using Column = std::array<double, kVertices>;
  const auto dot = [](const auto& a, const auto& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < kVertices; ++i) sum += a[i] * b[i];
    return sum;
  };
  const auto graph = random_graph(kVertices, 0.6, 4);
  Control control;
  Objective objective(graph, nullptr, *simd::available().front(), control);
  Lbfgs lbfgs(objective.padded());
  std::vector<AscentPoint> points;
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<double> start(kVertices);
    for (std::size_t i = 0; i < kVertices; ++i) start[i] = 1.0 + static_cast<double>((3 * i + k * (i + 1)) % 11);
    auto scratch = objective.point(), point = objective.point();
    objective.begin(start, scratch, point);
    objective.evaluate(point, kPenalty);
    objective.project(point, point);
    if (k > 0) lbfgs.learn(points.back(), point);
    points.push_back(point);
  }
  const AscentPoint& last = points.back();
  CHECK(lbfgs.look_at(last) == doctest::Approx(std::sqrt(dot(last.gradient, last.gradient))));
  const bool made = lbfgs.make_direction(last, kPenalty);

  std::vector<std::pair<Column, Column>> steps;  // s and z
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    Column s{}, z{};
    for (std::size_t i = 0; i < kVertices; ++i) s[i] = points[k + 1].u[i] - points[k].u[i];
    for (std::size_t i = 0; i < kVertices; ++i) {
      z[i] = last.value * s[i];
      for (std::size_t j = 0; j < kVertices; ++j) z[i] -= (i == j || graph.has_edge(i, j) ? 1.0 : -kPenalty) * s[j];
    }
    if (dot(s, z) > 0.0) steps.emplace_back(s, z);
  }
  REQUIRE(!steps.empty());
  std::array<Column, kVertices> inverse{};
  const auto& [newest_s, newest_z] = steps.back();
  for (std::size_t i = 0; i < kVertices; ++i) inverse[i][i] = dot(newest_s, newest_z) / dot(newest_z, newest_z);
  for (const auto& [s, z] : steps) {  // (I - ρ s z') H (I - ρ z s') + ρ s s', H symmetric
    const double rho = 1.0 / dot(s, z);
    Column hz{};
    for (std::size_t i = 0; i < kVertices; ++i) hz[i] = dot(inverse[i], z);
    const double zhz = dot(z, hz);
    for (std::size_t i = 0; i < kVertices; ++i) {
      for (std::size_t j = 0; j < kVertices; ++j) {
        inverse[i][j] += rho * ((1.0 + rho * zhz) * s[i] * s[j] - s[i] * hz[j] - hz[i] * s[j]);
      }
    }
  }
  Column expected{};
  for (std::size_t i = 0; i < kVertices; ++i) expected[i] = dot(inverse[i], last.gradient);
  const double along = dot(expected, last.u);
  for (std::size_t i = 0; i < kVertices; ++i) expected[i] -= along * last.u[i];
  CHECK(made == (dot(expected, last.gradient) > 0.0));
  for (std::size_t i = 0; i < kVertices; ++i) {
    CHECK(lbfgs.direction()[i] == doctest::Approx(expected[i]).epsilon(1e-9));
  }
}

TEST_CASE("the scale of the start does not matter") {
  const auto graph = random_graph(64, 0.5, 9);
  const auto& kernels = *simd::available().front();
  Control control;
  const auto expected = solve(graph, kernels, 1.0, control);
  check_same(solve(graph, kernels, 0x1p-1000, control), expected);
  check_same(solve(graph, kernels, 0x1p1020, control), expected);
}

TEST_CASE("the least start that there is is a start") {
  const auto graph = random_graph(300, 0.5, 8);
  const auto& kernels = *simd::available().front();
  Control control;
  const auto tiny = relax(graph, nullptr, std::vector<double>(300, 5e-324), {}, kernels, control);
  const auto plain = relax(graph, nullptr, std::vector<double>(300, 1.0), {}, kernels, control);
  CHECK(difference(tiny.u, plain.u) == "");
}

TEST_CASE("a deadline ends each of them with an answer") {
  const auto graph = random_graph(300, 0.5, 8);
  const auto& kernels = *simd::available().front();
  const std::vector<double> start(300, 1.0);
  Control control(Control::seconds_from_now(0.0), nullptr);
  const auto relaxed = relax(graph, nullptr, start, {}, kernels, control);
  CHECK(!relaxed.finished);
  CHECK(relaxed.u.size() == 300);
  const auto x = replicate(graph, start, {}, kernels, control);
  CHECK(x.steps == 0);
  CHECK(!x.finished);
  CHECK(x.x.size() == 300);
  const auto w = approximate_by_rank_one(graph, start, {}, kernels, control);
  CHECK(w.sweeps == 0);
  CHECK(!w.finished);
  CHECK(w.w.size() == 300);
  const auto u = ascend_clipper(graph, nullptr, start, {}, kernels, control);
  CHECK(u.inner_steps == 0);
  CHECK(!u.finished);
  CHECK(u.u.size() == 300);
}

TEST_CASE("a long line search obeys the deadline") {
  const auto graph = random_graph(300, 0.5, 8);
  RelaxationOptions options;
  options.max_line_search = 1000000000;
  options.beta = 0.999999999;
  Control control(Control::seconds_from_now(0.05), nullptr);
  const std::vector<double> ones(300, 1.0);
  CHECK(!relax(graph, nullptr, ones, options, *simd::available().front(), control).finished);
}

TEST_CASE("a check that throws ends the ascent") {
  struct Stop {};
  const auto graph = random_graph(400, 0.5, 8);
  Control control(Control::seconds_from_now(std::nullopt), []() -> bool { throw Stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(25));  // so that the check is due
  CHECK_THROWS_AS(relax(graph, nullptr, std::vector<double>(400, 1.0), {}, *simd::available().front(), control), Stop);
}
