// Graphs of associations against two plain loops in double precision: every instruction set, bits and compressed rows,
// pairs that sit on the threshold.
#include "consistency/consistency.h"

#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <thread>

#include "random_graphs.h"

using namespace clipperplus;

namespace {

struct Clouds {
  std::vector<double> source, target;
};

// Half of the points are seen again with noise, the others have nothing to do with each other.
Clouds random_clouds(std::size_t n, std::size_t dimension, double size, double offset, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, size);
  Clouds clouds;
  for (std::size_t k = 0; k < n * dimension; ++k) {
    clouds.source.push_back(offset + uniform(random));
    clouds.target.push_back((k / dimension) % 2 == 0 ? clouds.source.back() + 0.01 * uniform(random)
                                                     : offset + uniform(random));
  }
  return clouds;
}

// Coordinates from a coarse grid: many pairs differ by exactly the threshold.
Clouds grid_clouds(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Clouds clouds;
  for (std::size_t k = 0; k < 3 * n; ++k) {
    clouds.source.push_back(0.25 * (random() % 8));
    clouds.target.push_back(0.25 * (random() % 8));
  }
  return clouds;
}

bool agree(const DistanceProblem& problem, std::size_t i, std::size_t j) {
  const auto point = [&](std::size_t k, std::size_t cloud) {
    return problem.associations.empty() ? k : static_cast<std::size_t>(problem.associations[2 * k + cloud]);
  };
  const auto distance = [&](std::span<const double> cloud, std::size_t a, std::size_t b) {
    double sum = 0.0;
    for (std::size_t k = 0; k < problem.dimension; ++k) {
      const double delta = cloud[a * problem.dimension + k] - cloud[b * problem.dimension + k];
      sum += delta * delta;
    }
    return std::sqrt(sum);
  };
  if (problem.one_to_one && !problem.associations.empty() &&
      (point(i, 0) == point(j, 0) || point(i, 1) == point(j, 1))) {
    return false;
  }
  const double a = distance(problem.source, point(i, 0), point(j, 0));
  const double b = distance(problem.target, point(i, 1), point(j, 1));
  const double epsilon = problem.epsilons.empty() ? problem.epsilon : problem.epsilons[i] + problem.epsilons[j];
  if (!problem.offsets.empty()) {
    double sum = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
      const double delta = problem.offsets[3 * i + k] - problem.offsets[3 * j + k];
      sum += delta * delta;
    }
    if (!(std::sqrt(sum) < epsilon)) return false;
  }
  return a >= problem.min_distance && b >= problem.min_distance && std::abs(a - b) < epsilon;
}

Graph expected_graph(const DistanceProblem& problem) {
  std::vector<std::int64_t> edges, degrees(problem.count, 0);
  for (std::size_t i = 0; i < problem.count; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!agree(problem, i, j)) continue;
      edges.insert(edges.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
      ++degrees[i], ++degrees[j];
    }
  }
  std::vector<std::int64_t> kept;
  const auto strong = [&](std::int64_t v) {
    return degrees[static_cast<std::size_t>(v)] + 1 >= static_cast<std::int64_t>(problem.clique_size);
  };
  for (std::size_t e = 0; e < edges.size(); e += 2) {
    if (strong(edges[e]) && strong(edges[e + 1])) kept.insert(kept.end(), {edges[e], edges[e + 1]});
  }
  return make_graph(problem.count, kept);
}

void check_all(const DistanceProblem& problem) {
  INFO(problem.count, " associations in ", problem.dimension, " dimensions, epsilon ", problem.epsilon, ", ",
       problem.epsilons.size(), " epsilons, least distance ", problem.min_distance, ", clique of ",
       problem.clique_size);
  const auto expected = expected_graph(problem);
  Control control;
  for (const auto* kernels : simd::available()) {
    for (std::size_t threads : {std::size_t{1}, std::size_t{3}}) {
      INFO("on ", simd::name_of(*kernels), " with ", threads, " threads");
      CHECK(join_by_distance(problem, {.threads = threads}, *kernels, control) == expected);
    }
  }
}

}  // namespace

TEST_CASE("every kind of problem gives what the definition says") {
  unsigned seed = 1;
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{200}}) {
    for (std::size_t dimension : {std::size_t{2}, std::size_t{3}}) {
      for (const auto& [size, offset] : {std::pair{1.0, 0.0}, {10.0, 1e6}, {1e-3, 0.0}, {1e-7, 1e3}, {1e200, 0.0}}) {
        const auto clouds = random_clouds(n, dimension, size, offset, seed++);
        DistanceProblem problem{dimension, clouds.source, clouds.target, {}, n};
        problem.epsilon = 0.05 * size;
        check_all(problem);
        problem.min_distance = 0.3 * size;
        check_all(problem);
        problem.clique_size = n / 4;
        check_all(problem);
        std::vector<double> epsilons;
        for (std::size_t k = 0; k < n; ++k) epsilons.push_back(size * 0.01 * static_cast<double>(1 + k % 5));
        problem.epsilons = epsilons;
        check_all(problem);
        std::vector<double> offsets;
        for (std::size_t k = 0; k < 3 * n; ++k) {
          offsets.push_back(k % 3 < dimension ? clouds.target[k / 3 * dimension + k % 3] : 0.0);
        }
        if (n > 2) offsets[3] = std::numeric_limits<double>::quiet_NaN();  // agrees with none
        problem.offsets = offsets;
        check_all(problem);
        problem.epsilons = {};
        problem.epsilon = 0.5 * size;
        check_all(problem);
      }
    }
  }
}

TEST_CASE("pairs on the threshold are decided in double precision") {
  const auto clouds = grid_clouds(192, 5);
  for (double epsilon : {0.25, 0.5, std::sqrt(0.125) - 0.25, 1e-9, 1e9}) {
    DistanceProblem problem{3, clouds.source, clouds.target, {}, 192};
    problem.epsilon = epsilon;
    check_all(problem);
    problem.min_distance = 0.75;
    check_all(problem);
    problem.offsets = clouds.source;
    check_all(problem);
  }
}

TEST_CASE("associations that share a point are not joined") {
  const auto clouds = random_clouds(30, 3, 1.0, 0.0, 3);
  std::mt19937 random(4);
  std::vector<std::int64_t> associations;
  for (std::size_t k = 0; k < 2 * 150; ++k) associations.push_back(static_cast<std::int64_t>(random() % 30));
  DistanceProblem problem{3, clouds.source, clouds.target, associations, 150};
  problem.epsilon = 0.1;
  check_all(problem);
  problem.min_distance = 0.2;
  check_all(problem);
  std::vector<double> epsilons;
  for (std::size_t k = 0; k < 150; ++k) epsilons.push_back(0.02 * static_cast<double>(1 + k % 4));
  problem.epsilons = epsilons;
  check_all(problem);
  problem.one_to_one = false;
  check_all(problem);
}

// One distance nearly zero, the other nearly epsilon: there the bound hardly depends on epsilon.
TEST_CASE("short distances are decided like others") {
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (double epsilon : {1.0, 0.5, 0.1, 0.02}) {
    for (double jitter : {1e-5, 1e-4, 1e-3}) {
      Clouds clouds;
      for (std::size_t k = 0; k < 160; ++k) {
        std::array<double, 3> at{uniform(random), uniform(random), uniform(random)};
        const double length = std::hypot(at[0], at[1], at[2]);
        const double radius = k % 2 == 0 ? 0.0 : epsilon * (1.0 + jitter * (1.0 + uniform(random)));
        for (double x : at) {
          clouds.source.push_back(radius * x / length);
          clouds.target.push_back(0.5 * jitter * epsilon * uniform(random));
        }
      }
      clouds.source[0] = 1.0;  // for the scale
      DistanceProblem problem{3, clouds.source, clouds.target, {}, 160};
      problem.epsilon = epsilon;
      check_all(problem);
      const std::vector<double> halves(160, epsilon / 2.0);
      problem.epsilons = halves;
      check_all(problem);
    }
  }
}

TEST_CASE("a check that stops the work leaves no half a graph") {
  const auto clouds = random_clouds(3000, 3, 1.0, 0.0, 9);
  DistanceProblem problem{3, clouds.source, clouds.target, {}, 3000};
  problem.epsilon = 0.1;
  Control control(Control::seconds_from_now(0.0), nullptr);
  CHECK_THROWS_WITH_AS(join_by_distance(problem, {.threads = 2}, *simd::available().front(), control),
                       "the graph is not complete: a check stopped the work", std::runtime_error);
}

TEST_CASE("points in one place agree") {
  const std::vector<double> same(3 * 70, 4.5);
  DistanceProblem problem{3, same, same, {}, 70};
  problem.epsilon = 1e-12;
  check_all(problem);
  problem.min_distance = 1e-300;
  check_all(problem);
}

// As for a graph that is too large for bits, in tiles of 1024 associations.
TEST_CASE("compressed rows are the same") {
  const auto clouds = random_clouds(6000, 3, 1.0, 0.0, 8);
  DistanceProblem problem{3, clouds.source, clouds.target, {}, 6000};
  problem.epsilon = 2e-4;
  Control control;
  const auto& kernels = *simd::available().front();
  const auto expected = expected_graph(problem);
  REQUIRE(!expected.has_bits());
  const JoinOptions options{.threads = 2, .bits_anyway = 0, .tile = 16, .most_tiles = 100};
  CHECK(join_by_distance(problem, options, kernels, control) == expected);
  problem.clique_size = 6;
  CHECK(join_by_distance(problem, options, kernels, control) == expected_graph(problem));
}

TEST_CASE("a check that throws ends the work") {
  struct Stop {};
  const auto clouds = random_clouds(3000, 3, 1.0, 0.0, 9);
  DistanceProblem problem{3, clouds.source, clouds.target, {}, 3000};
  problem.epsilon = 0.1;
  Control control(Control::seconds_from_now(std::nullopt), []() -> bool { throw Stop(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(25));  // so that the check is due
  CHECK_THROWS_AS(join_by_distance(problem, {.threads = 2}, *simd::available().front(), control), Stop);
}

TEST_CASE("the size of a graph is foreseen where associations are sorted") {
  const std::size_t n = 100'000, right = 1000;  // the best first, as matchers give them: whole blocks of them agree
  Clouds clouds = random_clouds(n, 3, 100.0, 0.0, 5);
  std::mt19937 random(6);
  std::uniform_real_distribution<double> uniform(0.0, 100.0);
  for (std::size_t k = 0; k < 3 * n; ++k) clouds.target[k] = k < 3 * right ? clouds.source[k] : uniform(random);
  const DistanceProblem problem{.dimension = 3,
                                .source = clouds.source,
                                .target = clouds.target,
                                .associations = {},
                                .count = n,
                                .epsilon = 0.5,
                                .epsilons = {},
                                .offsets = {}};
  const double density = sampled_density(problem, *simd::available().front());
  CAPTURE(density);  // about one in a hundred pairs of others agrees
  CHECK(density > 0.005);
  CHECK(density < 0.02);
}
