// Laying one cloud on another, against plain loops: look-ups of surfaces and of ranges.
#include "clouds/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "clouds/point_checks.h"
#include "clouds/range_image.h"
#include "clouds/similarity.h"
#include "clouds/surface_grid.h"
#include "geometry/rigid.h"
#include "random_clouds.h"
#include "testing.h"

using namespace clipperplus;

TEST_CASE("a surface knows a point that is nearly the nearest") {
  Random random(2);
  Control control;
  for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{300}}) {
    for (const auto& [cell_size, cells, where] : {std::tuple{0.1, 2, 0.0}, {0.3, 1, 100.0}, {0.05, 3, -1e4}}) {
      const double cell = cell_size, offset = where;
      const int reach = cells;
      auto points = random_points(n, random, 1.0, offset);
      for (std::size_t k = 0; k + 5 < points.size(); k += 6) points[k] = cell * std::round(points[k] / cell);
      const auto normals = random_directions(n, random);
      const SurfaceGrid grid(points, normals, cell, reach, control);
      INFO(n, " points around ", offset);
      const double diagonal = std::sqrt(3.0) * cell;
      std::size_t hits = 0;
      for (int query = 0; query < 2000; ++query) {
        std::vector<double> place = random_points(1, random, 1.5, offset);
        if (query % 2 == 0 && n > 0) {  // beside a point
          const std::size_t near = random() % n;
          const auto step = normal_numbers(3, random, cell * reach * 0.5);
          for (std::size_t a = 0; a < 3; ++a) place[a] = points[3 * near + a] + step[a];
        }
        double nearest = std::numeric_limits<double>::infinity();
        for (std::size_t k = 0; k < points.size(); k += 3) nearest = std::min(nearest, distance(&points[k], &place[0]));
        const auto found = grid.near({place[0], place[1], place[2]});
        if (found < 0) {
          const double seen = (reach * cell - 0.5 * diagonal) * (1.0 - 1e-6);  // from the cell's centre
          REQUIRE_EACH(nearest >= seen, "query ", query);
          continue;
        }
        ++hits;
        REQUIRE(static_cast<std::size_t>(found) < n);
        const double away = distance(grid.point(found), &place[0]);
        REQUIRE_EACH(away <= nearest + diagonal * (1.0 + 1e-6), "query ", query);
        for (std::size_t a = 0; a < 3; ++a) {
          REQUIRE_EACH(grid.point(found)[a] == points[3 * static_cast<std::size_t>(found) + a], "query ", query);
          REQUIRE_EACH(grid.normal(found)[a] == normals[3 * static_cast<std::size_t>(found) + a], "query ", query);
        }
        const auto better = grid.nearest({place[0], place[1], place[2]});
        REQUIRE(better >= 0);
        REQUIRE_EACH(distance(grid.point(better), &place[0]) <= away, "query ", query);
      }
      if (n == 0) {
        CHECK(hits == 0);
      } else {
        CHECK(hits > 300);
      }
      for (double wild : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -1e300}) {
        CHECK(grid.near({wild, offset, offset}) == -1);
        CHECK(grid.near({offset, offset, wild}) == -1);
      }
    }
  }
  const std::vector<double> wide{0.0, 0.0, 0.0, 1e9, 0.0, 0.0}, up{0.0, 0.0, 1.0, 0.0, 0.0, 1.0};
  CHECK_THROWS_AS(SurfaceGrid(wide, up, 0.1, 2, control), std::length_error);
}

TEST_CASE("overlaps agree with a plain loop, and refinement finds the way back") {
  Random random(3);
  Control control;
  std::vector<double> points, normals;  // a bent sheet
  for (int i = 0; i < 40; ++i) {
    for (int j = 0; j < 40; ++j) {
      const double x = 0.1 * i, y = 0.1 * j;
      points.insert(points.end(), {x, y, std::sin(x) * std::cos(1.3 * y)});
      const double nx = -std::cos(x) * std::cos(1.3 * y), ny = 1.3 * std::sin(x) * std::sin(1.3 * y);
      const double length = std::sqrt(nx * nx + ny * ny + 1.0);
      normals.insert(normals.end(), {nx / length, ny / length, 1.0 / length});
    }
  }
  const SurfaceGrid grid(points, normals, 0.1, 2, control);
  const simd::Kernels& best = *simd::available().front();
  auto bends = normal_numbers(points.size() / 3, random, 0.1);
  for (double& bend : bends) bend = std::abs(bend);
  const OrientedPoints cloud{points, normals, bends};
  for (int repetition = 0; repetition < 30; ++repetition) {
    RigidMotion motion;  // a small one
    const auto q = normal_numbers(3, random, 0.01);
    const double w = std::sqrt(1.0 - q[0] * q[0] - q[1] * q[1] - q[2] * q[2]);
    motion.rotation = rotation_of({w, q[0], q[1], q[2]});
    for (double& x : motion.translation) x = normal_numbers(1, random, 0.02)[0];
    std::size_t near = 0, agreeing = 0;
    double detail = 0.0, squares = 0.0;
    for (std::size_t k = 0; k < points.size(); k += 3) {
      const auto moved = motion.apply(&points[k]), turned = motion.turn(&normals[k]);
      const auto found = grid.near(moved);
      if (found < 0 || distance(grid.point(found), moved.data()) > 0.1) continue;
      ++near;
      const double* n = grid.normal(found);
      if (std::abs(turned[0] * n[0] + turned[1] * n[1] + turned[2] * n[2]) < 0.8) continue;
      const double* q = grid.point(found);
      const double along = (moved[0] - q[0]) * n[0] + (moved[1] - q[1]) * n[1] + (moved[2] - q[2]) * n[2];
      ++agreeing, detail += bends[k / 3], squares += bends[k / 3] * along * along;
    }
    const auto overlap = measure_overlap(grid, cloud, motion, {0.1, 0.8}, best);
    CHECK(overlap.near == near);
    CHECK(overlap.agreeing == agreeing);
    CHECK(overlap.detail == doctest::Approx(detail));
    CHECK(overlap.squares == doctest::Approx(squares));
    CHECK(near > 100);
    const auto worst = [&](const RigidMotion& found) {
      double most = 0.0;
      for (std::size_t k = 0; k < points.size(); k += 3) {
        most = std::max(most, distance(found.apply(&points[k]).data(), &points[k]));
      }
      return most;
    };
    // Of a tenth: some points take a neighbour for their own.
    CHECK(worst(refine_motion(grid, cloud, motion, {0.25, 0.5}, 15, best)) < 0.02);
    CHECK(worst(polish_motion(grid, cloud, motion, {0.25, 0.5}, 15, best)) < 0.02);
  }
  // Nothing near, or too little: it stays where it is.
  RigidMotion away;
  away.translation = {1e3, 0.0, 0.0};
  CHECK(refine_motion(grid, cloud, away, {0.25, 0.5}, 5, best).translation == away.translation);
  const OrientedPoints few{std::span(points).first(12), std::span(normals).first(12), {}};
  RigidMotion shifted;
  shifted.translation = {0.01, 0.02, 0.03};
  CHECK(refine_motion(grid, few, shifted, {0.25, 0.5}, 5, best).translation == shifted.translation);
  CHECK(measure_overlap(grid, OrientedPoints{}, shifted, {0.1, 0.8}, best).near == 0);
}

TEST_CASE("alignment gives the same bits with every instruction set, and what plain sums give") {
  Random random(7);
  Control control;
  const simd::Kernels& portable = *simd::available().back();
  // One box of cells has a directory, the other is too wide for it.
  for (const double size : {1.0, 300.0}) {
    const auto points = random_points(700, random, size), normals = random_directions(700, random);
    const SurfaceGrid grid(points, normals, 0.2, 2, control);
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{700}}) {
      const auto steps = normal_numbers(3 * n, random, 0.1);
      std::vector<double> near(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(3 * n));
      for (std::size_t k = 0; k < near.size(); ++k) near[k] += steps[k];
      const std::span<const double> along = std::span(normals).first(3 * n);
      std::vector<double> masses = normal_numbers(n, random);
      for (double& mass : masses) mass = std::abs(mass);
      const OrientedPoints cloud(near, along, masses);
      const PairRule rule{0.3, 0.5};
      for (int repetition = 0; repetition < 5; ++repetition) {
        INFO(n, " points in ", size, " m, motion ", repetition);
        RigidMotion motion;
        if (repetition < 4) {
          const auto shift = normal_numbers(3, random, 0.05);
          std::copy_n(shift.begin(), 3, motion.translation.begin());
        } else {
          motion = random_motion(random);
        }
        // The pairs, one after the other: the sums that are asked for, and how large their terms are.
        const auto sums_of = [&](bool precise, const Vector3& centre) {
          NormalEquations sums;
          Vector3 mean{};
          for (std::size_t k = 0; k < near.size(); k += 3) {
            const auto place = motion.apply(&near[k]), turned = motion.turn(&normals[k]);
            const auto found = precise ? grid.nearest(place) : grid.near(place);
            if (found < 0 || distance(grid.point(found), place.data()) > rule.distance) continue;
            const double *q = grid.point(found), *p = grid.normal(found);
            const Vector3 normal{p[0], p[1], p[2]};
            if (std::abs(dot(turned, normal)) < rule.least_cosine) continue;
            const Vector3 d{place[0] - q[0], place[1] - q[1], place[2] - q[2]};
            const Vector3 arm{place[0] - centre[0], place[1] - centre[1], place[2] - centre[2]};
            const Vector3 turn = cross(arm, normal);
            const double row[] = {turn[0], turn[1], turn[2], normal[0], normal[1], normal[2]};
            const double mass = masses[k / 3], residual = dot(normal, d);
            for (std::size_t i = 0; i < 6; ++i) {
              for (std::size_t j = 0; j <= i; ++j) sums.information[i][j] += mass * row[i] * row[j];
              sums.slope[i] -= mass * row[i] * residual;
            }
            for (std::size_t a = 0; a < 3; ++a) mean[a] += mass * place[a];
            sums.weights += mass, sums.squares += mass * residual * residual, sums.arms += mass * dot(arm, arm);
          }
          for (std::size_t a = 0; a < 3; ++a) sums.centre[a] = mean[a] / std::max(1e-300, sums.weights);
          return sums;
        };
        const Vector3 centre = sums_of(false, {}).centre;
        const NormalEquations expected = sums_of(true, centre);
        const NormalEquations fit = measure_fit(grid, cloud, motion, rule, portable);
        const double scale = std::max(1.0, expected.arms);
        CHECK(fit.weights == doctest::Approx(expected.weights));
        CHECK(fit.squares == doctest::Approx(expected.squares));
        CHECK(fit.arms == doctest::Approx(expected.arms));
        for (std::size_t a = 0; a < 3; ++a) CHECK(std::abs(fit.centre[a] - centre[a]) < 1e-9 * (1.0 + size));
        for (std::size_t i = 0; i < 6; ++i) {
          CHECK(std::abs(fit.slope[i] - expected.slope[i]) < 1e-9 * scale);
          for (std::size_t j = 0; j <= i; ++j) {
            CHECK(std::abs(fit.information[i][j] - expected.information[i][j]) < 1e-9 * scale);
          }
        }
        const RigidMotion refined = refine_motion(grid, cloud, motion, rule, 3, portable);
        const RigidMotion polished = polish_motion(grid, cloud, motion, rule, 3, portable);
        const Overlap overlap = measure_overlap(grid, cloud, motion, rule, portable);
        for (const auto* kernels : simd::available()) {
          INFO("on ", simd::name_of(*kernels));
          const NormalEquations same = measure_fit(grid, cloud, motion, rule, *kernels);
          CHECK(same.information == fit.information);
          CHECK(same.slope == fit.slope);
          CHECK(same.centre == fit.centre);
          CHECK(same.arms == fit.arms);
          const RigidMotion again = refine_motion(grid, cloud, motion, rule, 3, *kernels);
          CHECK(again.rotation == refined.rotation);
          CHECK(again.translation == refined.translation);
          CHECK(polish_motion(grid, cloud, motion, rule, 3, *kernels).rotation == polished.rotation);
          const Overlap measured = measure_overlap(grid, cloud, motion, rule, *kernels);
          CHECK(measured.near == overlap.near);
          CHECK(measured.agreeing == overlap.agreeing);
          CHECK(measured.detail == overlap.detail);
          CHECK(measured.squares == overlap.squares);
        }
      }
    }
  }
}

// What a sensor saw in directions that may, or must, be those of a pixel and the eight around it: pixels are between
// 0.0104 (in a corner of the cube) and 0.0313 rad wide.
TEST_CASE("range images agree with plain loops") {
  Random random(4);
  constexpr double kSurelyWithin = 0.0104, kPerhapsWithin = 2.0 * 0.0313 * std::numbers::sqrt2;
  const Vector3 viewpoint{1.0, -2.0, 0.5};
  std::uniform_real_distribution<double> range_of(1.0, 10.0);
  auto seen = random_directions(1200, random);
  std::vector<double> ranges(1200), points(seen.size());
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    ranges[k] = range_of(random);
    for (std::size_t a = 0; a < 3; ++a) points[3 * k + a] = viewpoint[a] + ranges[k] * seen[3 * k + a];
  }
  Control control;
  const simd::Kernels& best = *simd::available().front();
  const RangeImage image(std::span<const double>(points), viewpoint, 1, control);
  const double margin = 0.2;
  std::size_t in_front = 0, not_in_front = 0, decided = 0;
  const auto motion = random_motion(random);
  RigidMotion back;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 3; ++b) back.rotation[a][b] = motion.rotation[b][a];
  }
  const auto turned = back.turn(motion.translation.data());
  for (std::size_t a = 0; a < 3; ++a) back.translation[a] = -turned[a];
  for (int query = 0; query < 2000; ++query) {
    const std::size_t along = random() % ranges.size();
    const double range = 0.1 * range_of(random) * ranges[along];
    Vector3 place;
    for (std::size_t a = 0; a < 3; ++a) place[a] = viewpoint[a] + range * seen[3 * along + a];
    double surely = std::numeric_limits<double>::infinity(), perhaps = surely;
    for (std::size_t k = 0; k < ranges.size(); ++k) {
      const Vector3 here{seen[3 * along], seen[3 * along + 1], seen[3 * along + 2]};
      const Vector3 other{seen[3 * k], seen[3 * k + 1], seen[3 * k + 2]};
      const double cosine = dot(here, other), sine = std::sqrt(dot(cross(here, other), cross(here, other)));
      const double angle = std::atan2(sine, cosine);
      if (angle < kSurelyWithin) surely = std::min(surely, ranges[k]);
      if (angle < kPerhapsWithin) perhaps = std::min(perhaps, ranges[k]);
    }
    const auto before = back.apply(place.data());
    const std::size_t count = image.count_in_front({before, {}, {}}, motion, margin, best);
    CAPTURE(query);
    CHECK(count <= 1);
    const bool behind = range > surely - margin + 1e-5, before_all = range < perhaps - margin - 1e-5;
    if (behind) CHECK(count == 0);
    if (before_all) CHECK(count == 1);
    decided += behind || before_all ? 1 : 0;
    (count == 1 ? in_front : not_in_front) += 1;
  }
  const OrientedPoints around(points, {}, {});
  for (const auto* kernels : simd::available()) {
    INFO("on ", simd::name_of(*kernels));
    for (const double beyond : {0.0, 0.5, -0.5}) {
      CHECK(image.count_in_front(around, motion, beyond, *kernels) ==
            image.count_in_front(around, motion, beyond, *simd::available().back()));
    }
  }
  CHECK(in_front > 200);
  CHECK(not_in_front > 200);
  CHECK(decided > 500);

  const std::vector<double> at_the_sensor{viewpoint[0], viewpoint[1], viewpoint[2]}, far{1e300, -1e300, 1e300};
  CHECK(image.count_in_front({at_the_sensor, {}, {}}, RigidMotion{}, 0.1, best) <= 1);
  CHECK(image.count_in_front({far, {}, {}}, RigidMotion{}, 0.1, best) == 0);
  const RangeImage nothing(std::span<const double>{}, viewpoint, 1, control);
  CHECK(nothing.count_in_front({points, {}, {}}, RigidMotion{}, 0.0, best) == 0);
  CHECK(nothing.count_in_front(OrientedPoints{}, RigidMotion{}, 0.0, best) == 0);
  const RangeImage odd(std::span<const double>(at_the_sensor), viewpoint, 1, control);
  CHECK(odd.count_in_front({at_the_sensor, {}, {}}, RigidMotion{}, 0.1, best) == 0);
}

TEST_CASE("a range image can be made of its parts again, and of nothing else") {
  Random random(5);
  Control control;
  const simd::Kernels& best = *simd::available().front();
  const auto points = random_points(500, random, 3.0), places = random_points(500, random, 3.0);
  const RangeImage image(std::span<const double>(points), {0.1, 0.2, 0.3}, 1, control);
  const RangeImage again(image.viewpoint(), image.free());
  CHECK(again.viewpoint() == image.viewpoint());
  CHECK(again.free() == image.free());
  CHECK(image.count_in_front({places, {}, {}}, RigidMotion{}, 0.1, best) > 0);
  CHECK(again.count_in_front({places, {}, {}}, RigidMotion{}, 0.1, best) ==
        image.count_in_front({places, {}, {}}, RigidMotion{}, 0.1, best));
  auto short_of_one = image.free();
  short_of_one.pop_back();
  CHECK_THROWS_AS(RangeImage(image.viewpoint(), short_of_one), std::invalid_argument);
}

TEST_CASE("matches that a motion explains are counted") {
  Random random(6);
  const auto motion = random_motion(random);
  const auto source = random_points(400, random, 1.0);
  std::vector<double> target;
  std::size_t expected = 0;
  for (std::size_t k = 0; k < source.size(); k += 3) {
    const auto moved = motion.apply(&source[k]);
    const auto step = normal_numbers(3, random, 0.1);
    for (std::size_t a = 0; a < 3; ++a) target.push_back(moved[a] + step[a]);
    expected += distance(moved.data(), &target[k]) < 0.15 ? 1 : 0;
  }
  CHECK(expected > 50);
  CHECK(expected < 350);
  for (const auto* kernels : simd::available()) {
    CHECK(count_explained({source, target, {}}, motion, 0.15, *kernels) == expected);
  }
}

TEST_CASE("points are checked one by one as their definition says") {
  Random random(11);
  Control control;
  const auto target = random_points(400, random, 1.0, 0.0), target_normals = random_directions(400, random);
  const SurfaceGrid grid(target, target_normals, 0.2, 2, control);
  const RangeImage sight(std::span<const double>(target), {0.1, 0.2, 0.3}, 1, control);
  const auto points = random_points(5000, random, 1.5, 0.0), normals = random_directions(5000, random);
  RigidMotion motion = random_motion(random);
  motion.translation = {0.1, -0.2, 0.05};
  const PairRule rule{0.2, 0.5};
  for (const RangeImage* seen : {&sight, static_cast<const RangeImage*>(nullptr)}) {
    std::vector<std::uint8_t> checks(5000);
    check_points(grid, seen, points, normals, motion, rule, 0.1, checks);
    std::size_t kinds[5] = {};
    for (std::size_t k = 0; k < checks.size(); ++k) {
      const Vector3 place = motion.apply(&points[3 * k]), normal = motion.turn(&normals[3 * k]);
      const auto found = grid.near(place);
      int expected = 0;
      if (found >= 0 && distance(grid.point(found), place.data()) <= rule.distance) {
        const double* n = grid.normal(found);
        expected = std::abs(dot(normal, {n[0], n[1], n[2]})) >= rule.least_cosine ? 1 : 2;
      }
      if (seen != nullptr && expected != 1 && seen->is_in_front(place, 0.1)) expected = 3;
      if (seen != nullptr && expected == 0 && seen->is_hidden(place, 0.1)) expected = 4;
      REQUIRE_EACH(checks[k] == expected, "point ", k);
      ++kinds[checks[k]];
    }
    CHECK(kinds[1] > 10);
    CHECK(kinds[2] > 10);
    CHECK((kinds[3] > 0) == (seen != nullptr));
    CHECK((kinds[4] > 0) == (seen != nullptr));
  }
  check_points(grid, &sight, {}, {}, motion, rule, 0.1, {});
}

TEST_CASE("the scale of a scaled surface is found, and that of nothing is one") {
  Random random(12);
  Control control;
  std::vector<double> points, normals;
  for (int k = 0; k < 3000; ++k) {  // the faces of a box
    auto place = random_points(1, random, 1.0, 0.0);
    const auto axis = static_cast<std::size_t>(k % 3);
    place[axis] = k % 2 == 0 ? 1.0 : -1.0;
    Vector3 normal{};
    normal[axis] = 1.0;
    points.insert(points.end(), place.begin(), place.end());
    normals.insert(normals.end(), normal.begin(), normal.end());
  }
  const SurfaceGrid grid(points, normals, 0.1, 2, control);
  for (const double scale : {0.95, 1.0, 1.05}) {
    auto scaled = points;
    for (double& x : scaled) x /= scale;
    const auto fit = fit_similarity(grid, scaled, normals, RigidMotion{}, {0.25, 0.5}, 20);
    CHECK(std::abs(fit.scale - scale) < 2e-3);
    CHECK(fit.information > 0.0);
    CHECK(fit.weights > 100.0);
  }
  const auto nothing = fit_similarity(grid, {}, {}, RigidMotion{}, {0.25, 0.5}, 5);
  CHECK(nothing.scale == 1.0);
  CHECK(nothing.information == 0.0);
}
