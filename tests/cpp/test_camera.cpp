// P3P, the fit of a camera, and groups of matches: against poses that are known, their definitions, and all triples.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "consistency/camera_groups.h"
#include "geometry/camera.h"
#include "geometry/p3p.h"
#include "random_clouds.h"
#include "testing.h"

using namespace clipperplus;

namespace {

constexpr PixelScale kScale{600.0, 2.0, 610.0};

struct Camera {
  RigidMotion pose;
  std::vector<double> points, places;
  std::vector<std::uint32_t> order;

  SeenPoints seen() const { return SeenPoints(points, places, kScale, order); }
};

RigidMotion inverse(const RigidMotion& motion) {
  RigidMotion result;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) result.rotation[a][b] = motion.rotation[b][a];
  }
  const auto back = result.turn(motion.translation.data());
  for (std::size_t a = 0; a < 3; ++a) result.translation[a] = -back[a];
  return result;
}

// A camera that sees points two to eight away; every `wrong`th place is anywhere.
Camera random_camera(std::size_t n, double noise, std::size_t wrong, Random& random) {
  std::uniform_real_distribution<double> side(-0.5, 0.5), depth(2.0, 8.0);
  std::normal_distribution<double> error(0.0, noise / 600.0);
  Camera camera{random_motion(random), {}, {}, std::vector<std::uint32_t>(n)};
  const auto back = inverse(camera.pose);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = side(random), v = side(random), z = depth(random);
    const double place[3] = {u * z, v * z, z};
    const auto point = back.apply(place);
    camera.points.insert(camera.points.end(), point.begin(), point.end());
    const bool lost = wrong > 0 && i % wrong != 0;
    camera.places.push_back(lost ? side(random) : u + error(random));
    camera.places.push_back(lost ? side(random) : v + error(random));
  }
  std::iota(camera.order.begin(), camera.order.end(), 0U);
  return camera;
}

double distance(const RigidMotion& a, const RigidMotion& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    largest = std::max(largest, std::abs(a.translation[i] - b.translation[i]));
    for (std::size_t j = 0; j < 3; ++j) largest = std::max(largest, std::abs(a.rotation[i][j] - b.rotation[i][j]));
  }
  return largest;
}

double miss(const Camera& camera, const RigidMotion& pose, std::size_t i) {
  const auto p = pose.apply(&camera.points[3 * i]);
  if (!(p[2] > 0.0)) return std::numeric_limits<double>::infinity();
  const double a = p[0] / p[2] - camera.places[2 * i], b = p[1] / p[2] - camera.places[2 * i + 1];
  return std::hypot(kScale.fx * a + kScale.skew * b, kScale.fy * b);
}

bool same(const CameraGroups& a, const CameraGroups& b) {
  bool equal = a.members == b.members && a.triples == b.triples && a.poses.size() == b.poses.size();
  for (std::size_t k = 0; equal && k < a.poses.size(); ++k) equal = distance(a.poses[k], b.poses[k]) == 0.0;
  return equal;
}

}  // namespace

TEST_CASE("the true pose is among those of three points") {
  Random random(1);
  for (int repetition = 0; repetition < 2000; ++repetition) {
    const auto camera = random_camera(3, 0.0, 0, random);
    const auto seen = camera.seen();
    const auto poses = solve_p3p({seen.point(0), seen.point(1), seen.point(2)},
                                 {seen.direction(0), seen.direction(1), seen.direction(2)});
    double nearest = INFINITY;
    for (std::size_t k = 0; k < poses.count; ++k) nearest = std::min(nearest, distance(poses.motions[k], camera.pose));
    REQUIRE_EACH(nearest < 1e-5, "repetition = ", repetition, ", off by ", nearest);
    for (std::size_t k = 0; k < poses.count; ++k) {
      for (std::size_t i = 0; i < 3; ++i) {
        REQUIRE_EACH(miss(camera, poses.motions[k], i) < 1e-3, "repetition = ", repetition, ", pose ", k);
      }
    }
  }
}

TEST_CASE("counts, marks and orders are those of the definition") {
  Random random(2);
  auto camera = random_camera(200, 2.0, 3, random);
  std::shuffle(camera.order.begin(), camera.order.end(), random);
  const auto seen = camera.seen();
  for (const double epsilon : {0.5, 2.0, 50.0}) {
    std::vector<Word> bits((camera.order.size() + kWordBits - 1) / kWordBits, 0);
    const std::size_t marked = seen.mark(camera.pose, epsilon, bits.data());
    std::size_t expected = 0, late = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const bool agrees = miss(camera, camera.pose, camera.order[i]) < epsilon;
      REQUIRE_EACH(test_bit(bits.data(), i) == agrees, "match ", i);
      expected += agrees;
      late += agrees && i >= 150;
    }
    CHECK(marked == expected);
    CHECK(seen.count(camera.pose, epsilon) == expected);
    CHECK(seen.count(camera.pose, epsilon, 150, 200) == late);
  }
}

TEST_CASE("a fit goes back to the pose that noise and wrong matches were added to") {
  Random random(3);
  for (int repetition = 0; repetition < 50; ++repetition) {
    CAPTURE(repetition);
    const auto camera = random_camera(60, 0.0, 2, random);
    std::array<double, 6> step;
    for (double& x : step) x = normal_numbers(1, random, 0.003)[0];
    const auto start = moved(camera.pose, step, {});
    const auto fit = fit_camera(camera.seen(), start, 10.0, Loss::kRobust, 20).pose;
    const auto last = fit_camera(camera.seen(), fit, 2.0, Loss::kTruncated, 20);
    CHECK(distance(last.pose, camera.pose) < 1e-2);
    CHECK(distance(last.pose, camera.pose) < distance(start, camera.pose));
  }
}

TEST_CASE("information is the slope of the misses, and too few matches move nothing") {
  Random random(4);
  const auto camera = random_camera(20, 0.0, 0, random);
  const auto fit = fit_camera(camera.seen(), camera.pose, 4.0, Loss::kTruncated, 0);
  const double h = 1e-6;
  Matrix<6> expected{};
  for (std::size_t i = 0; i < 20; ++i) {
    std::array<std::array<double, 2>, 6> slopes;
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t row = 0; row < 2; ++row) slopes[k][row] = 0.0;
      for (const double sign : {1.0, -1.0}) {
        std::array<double, 6> step{};
        step[k] = sign * h;
        const auto p = moved(camera.pose, step, {}).apply(&camera.points[3 * i]);
        slopes[k][0] += sign * (kScale.fx * p[0] / p[2] + kScale.skew * p[1] / p[2]) / (2.0 * h);
        slopes[k][1] += sign * kScale.fy * p[1] / p[2] / (2.0 * h);
      }
    }
    for (std::size_t k = 0; k < 6; ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        expected[k][l] += slopes[k][0] * slopes[l][0] + slopes[k][1] * slopes[l][1];
      }
    }
  }
  for (std::size_t k = 0; k < 6; ++k) {
    for (std::size_t l = 0; l <= k; ++l) {
      CHECK(std::abs(fit.information[k][l] - expected[k][l]) < 1e-6 * (expected[k][k] + expected[l][l]));
    }
  }
  const auto two = random_camera(2, 0.5, 0, random);
  CHECK(distance(fit_camera(two.seen(), two.pose, 4.0, Loss::kRobust, 5).pose, two.pose) == 0.0);
}

TEST_CASE("groups do not depend on threads, and the pose of the largest is found") {
  Random random(5);
  for (const std::size_t n : {std::size_t{20}, std::size_t{300}}) {
    const auto camera = random_camera(n, 0.5, 4, random);
    Control control;
    CameraGroupOptions options{.seed = 7};
    const auto one = find_camera_groups(camera.points, camera.places, kScale, options, control);
    for (const std::size_t threads : {std::size_t{2}, std::size_t{5}}) {
      options.threads = threads;
      CHECK(same(one, find_camera_groups(camera.points, camera.places, kScale, options, control)));
    }
    REQUIRE(!one.poses.empty());
    CHECK(distance(one.poses[0], camera.pose) < 0.3);
    CHECK(one.members.size() <= options.most_groups);
    for (std::size_t k = 0; k < one.members.size(); ++k) {
      REQUIRE_EACH(one.members[k].size() >= 4, "group ", k);
      REQUIRE_EACH(std::is_sorted(one.members[k].begin(), one.members[k].end()), "group ", k);
      if (k > 0) REQUIRE_EACH(one.members[k - 1].size() >= one.members[k].size(), "group ", k);
    }
  }
}

TEST_CASE("no more triples are drawn than allowed, and nothing comes of few matches") {
  Random random(6);
  const auto camera = random_camera(200, 0.0, 1000, random);
  Control control;
  for (const std::size_t most : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    const CameraGroupOptions options{.max_triples = most, .most_groups = 7};
    const auto found = find_camera_groups(camera.points, camera.places, kScale, options, control);
    CHECK(found.triples <= most);
    CHECK(found.members.size() <= 7);
  }
  for (std::size_t n = 0; n < 4; ++n) {
    const auto few = random_camera(n, 0.0, 0, random);
    CHECK(find_camera_groups(few.points, few.places, kScale, {}, control).members.empty());
  }
}

TEST_CASE("matches are joined that are together in enough groups") {
  Random random(7);
  for (const std::size_t count : {std::size_t{0}, std::size_t{10}, std::size_t{150}}) {
    const std::size_t n = 90;
    std::vector<std::vector<std::uint32_t>> groups(count);
    std::uniform_int_distribution<std::uint32_t> any(0, n - 1);
    for (auto& group : groups) {
      std::set<std::uint32_t> members;
      for (std::size_t k = 0; k < 12; ++k) members.insert(any(random));
      group.assign(members.begin(), members.end());
    }
    for (const std::size_t least : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
      CAPTURE(least);
      Control control;
      const auto graph = join_by_groups(n, groups, least, 2, *simd::available().front(), control);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const auto together = static_cast<std::size_t>(std::count_if(groups.begin(), groups.end(), [&](auto& group) {
            return std::binary_search(group.begin(), group.end(), i) &&
                   std::binary_search(group.begin(), group.end(), j);
          }));
          const bool joined = i != j && together >= least;
          REQUIRE_EACH(graph.has_edge(i, j) == joined, i, " and ", j);
        }
      }
    }
  }
}
