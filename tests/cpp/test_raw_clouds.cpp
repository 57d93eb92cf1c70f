// What is done with millions of raw points, against plain loops: bounds, voxels and range images, in either precision
// and on any number of threads; and the compression of their files.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "clouds/bounds.h"
#include "clouds/lzf.h"
#include "clouds/range_image.h"
#include "clouds/voxels.h"
#include "random_clouds.h"
#include "testing.h"

using namespace clipperplus;
using namespace std::string_literals;

namespace {

constexpr std::size_t kThreads[] = {1, 2, 3, 8};

template <class Real>
std::vector<Real> converted(const std::vector<double>& values) {
  std::vector<Real> result;
  for (double value : values) result.push_back(static_cast<Real>(value));
  return result;
}

template <class Real>
std::span<const Real> all(const std::vector<Real>& values) {
  return values;
}

template <class Real>
Bounds plain_bounds(const std::vector<Real>& points) {
  Bounds bounds;
  for (std::size_t k = 0; k < points.size(); k += 3) {
    if (!std::isfinite(points[k]) || !std::isfinite(points[k + 1]) || !std::isfinite(points[k + 2])) continue;
    for (std::size_t a = 0; a < 3; ++a) {
      const double x = points[k + a];
      bounds.low[a] = bounds.finite == 0 ? x : std::min(bounds.low[a], x);
      bounds.high[a] = bounds.finite == 0 ? x : std::max(bounds.high[a], x);
    }
    ++bounds.finite;
  }
  return bounds;
}

template <class Real>
void check_bounds(const std::vector<Real>& points) {
  const auto expected = plain_bounds(points);
  for (const std::size_t threads : kThreads) {
    INFO((points.size() / 3), " points on ", threads, " threads");
    Control control;
    const auto bounds = bounds_of(all(points), threads, control);
    CHECK(bounds.finite == expected.finite);
    CHECK(bounds.low == expected.low);
    CHECK(bounds.high == expected.high);
  }
}

// As a scanner sees a room: one point near the last, most of them in the same cell, longest along an axis.
std::vector<double> scanned_points(std::size_t n, std::size_t axis, Random& random) {
  std::vector<double> points;
  const auto steps = normal_numbers(3 * n, random, 0.02);
  Vector3 here{};
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const std::size_t a = k % 3;
    const double size = a == axis ? 7.0 : 1.0;
    here[a] += steps[k] * size;
    if (std::abs(here[a]) > size) here[a] = 0.0;
    if (random() % 200 == 0) here[a] = 0.25 * std::round(4.0 * here[a]);  // on the border of a cell
    points.push_back(here[a] - 0.3);
  }
  return points;
}

constexpr std::size_t kChunk = std::size_t{1} << 18;  // points whose sums are taken one after the other

struct Cell {
  std::size_t last_chunk = 0, count = 0;
  Vector3 sum{}, sum_of_chunk{};

  Vector3 total() const { return {sum[0] + sum_of_chunk[0], sum[1] + sum_of_chunk[1], sum[2] + sum_of_chunk[2]}; }
};

// By z, then y, then x.
template <class Real>
std::map<std::array<double, 3>, Cell> plain_cells(const std::vector<Real>& points, double size) {
  std::map<std::array<double, 3>, Cell> cells;
  auto last = cells.end();
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const auto along = [&](std::size_t a) { return std::floor(static_cast<double>(points[k + a]) / size); };
    const std::array<double, 3> place{along(2), along(1), along(0)};
    if (last == cells.end() || last->first != place) last = cells.try_emplace(place).first;
    Cell& cell = last->second;
    if (cell.last_chunk != k / 3 / kChunk) {
      cell.sum = cell.total();
      cell.sum_of_chunk = {};
      cell.last_chunk = k / 3 / kChunk;
    }
    ++cell.count;
    for (std::size_t a = 0; a < 3; ++a) cell.sum_of_chunk[a] += static_cast<double>(points[k + a]);
  }
  return cells;
}

template <class Real>
void check_voxels(const std::vector<Real>& points, double size) {
  Control control;
  const auto cells = plain_cells(points, size);
  std::vector<double> means;
  std::vector<std::int32_t> counts;
  for (const auto& [place, cell] : cells) {
    for (double total : cell.total()) means.push_back(total / static_cast<double>(cell.count));
    counts.push_back(static_cast<std::int32_t>(cell.count));
  }
  const auto bounds = bounds_of(all(points), 1, control);
  for (const std::size_t threads : kThreads) {
    INFO((points.size() / 3), " points in cells of ", size, " on ", threads, " threads");
    const auto voxels = voxel_means(all(points), bounds, size, threads, control);
    CHECK(difference(voxels.points, means) == "");
    CHECK(difference(voxels.counts, counts) == "");
    CHECK(count_voxels(all(points), bounds, size, threads, control) == cells.size());
  }
}

// Literal pieces and repetitions by chance, with what they stand for, one byte after the other.
struct Packed {
  std::string packed, plain;
};

Packed random_pieces(std::mt19937& random, std::size_t pieces) {
  Packed result;
  auto& [packed, plain] = result;
  for (std::size_t k = 0; k < pieces; ++k) {
    if (plain.empty() || random() % 3 == 0) {
      const std::size_t length = 1 + random() % 32;
      packed.push_back(static_cast<char>(length - 1));
      for (std::size_t i = 0; i < length; ++i) {
        packed.push_back(static_cast<char>(random() % 256));
        plain.push_back(packed.back());
      }
      continue;
    }
    const std::size_t length = random() % 2 == 0 ? 3 + random() % 6 : 9 + random() % 256;
    const std::size_t most = std::min<std::size_t>(plain.size(), 8192);
    const std::size_t back = 1 + (random() % 2 == 0 ? random() % most : random() % std::min<std::size_t>(most, 12));
    packed.push_back(static_cast<char>(std::min<std::size_t>(length - 2, 7) << 5 | (back - 1) >> 8));
    if (length >= 9) packed.push_back(static_cast<char>(length - 9));
    packed.push_back(static_cast<char>((back - 1) & 255));
    for (std::size_t i = 0; i < length; ++i) plain.push_back(plain[plain.size() - back]);
  }
  return result;
}

std::string refusal(const std::string& packed, std::size_t size) {
  return message_of<LzfError>([&] { decompress_lzf(packed, size); });
}

}  // namespace

TEST_CASE_TEMPLATE("bounds are those of the finite points", Real, float, double) {
  constexpr Real kInfinity = std::numeric_limits<Real>::infinity(), kLargest = std::numeric_limits<Real>::max();
  constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
  Random random(31);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000}, std::size_t{100'000}}) {
    auto points = converted<Real>(random_points(n, random, 3.0, 0.5));
    check_bounds(points);
    for (const Real odd : {kNaN, kInfinity, -kInfinity}) {
      auto some = points;
      for (std::size_t k = 0; k < n / 10 + 1 && n > 0; ++k) some[random() % some.size()] = odd;
      if (n > 0) some.back() = odd;
      check_bounds(some);
      check_bounds(std::vector<Real>(3 * n, odd));
    }
    if (n == 0) continue;
    points[random() % points.size()] = kLargest;
    points[random() % points.size()] = -kLargest;
    check_bounds(points);
  }
  // Infinities that would cancel each other, in what would otherwise be the lowest or the highest point.
  check_bounds(std::vector<Real>{1, 2, 3, kInfinity, -kInfinity, 9, -9, kNaN, 0, 4, -1, 2});
}

// Cells are looked up in an array where they are few, as those of 0.25 are, and in a hash table where they are not:
// those of 0.03, or with a point far away.
TEST_CASE_TEMPLATE("voxels are those of a plain loop, to the bit, on any number of threads", Real, float, double) {
  Random random(32);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{500}, std::size_t{20'000}}) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto points = converted<Real>(scanned_points(n, axis, random));
      check_voxels(points, 0.25);
      check_voxels(points, 0.03);
    }
  }
  auto many = converted<Real>(scanned_points(2 * kChunk + 1000, 0, random));
  check_voxels(many, 0.25);
  many[3 * kChunk] = many[3 * kChunk + 1] = Real{100};
  check_voxels(many, 0.25);
  check_voxels(converted<Real>(random_points(1000, random, 1.0, 1000.0)), 0.1);
  check_voxels(std::vector<Real>(3 * 1000, Real{-0.75}), 0.25);  // one cell, at its border
}

TEST_CASE_TEMPLATE("points that bounds leave out have no voxels", Real, float, double) {
  Random random(37);
  Control control;
  const Vector3 low{-1.0, -0.5, -2.0}, high{1.5, 0.5, 2.0};
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2000}, kChunk + 500}) {
    auto points = converted<Real>(random_points(n, random, 2.5));
    for (std::size_t k = 0; k + 2 < points.size(); k += 300) points[k] = std::numeric_limits<Real>::max();
    for (std::size_t k = 1; k + 1 < points.size(); k += 150) points[k] = Real{0.5};  // on the border
    std::vector<Real> inside;
    for (std::size_t k = 0; k < points.size(); k += 3) {
      bool is_inside = true;
      for (std::size_t a = 0; a < 3; ++a) is_inside &= points[k + a] >= low[a] && points[k + a] <= high[a];
      if (is_inside) inside.insert(inside.end(), &points[k], &points[k] + 3);
    }
    const auto expected = plain_bounds(inside);
    for (const std::size_t threads : kThreads) {
      const auto bounds = bounds_within(all(points), low, high, threads, control);
      CHECK(bounds.finite == expected.finite);
      CHECK(bounds.low == expected.low);
      CHECK(bounds.high == expected.high);
      CHECK(bounds.whole == (inside.size() == points.size()));
      for (const double size : {0.25, 0.01}) {
        const auto cells = plain_cells(inside, size);
        CHECK(count_voxels(all(points), bounds, size, threads, control) == cells.size());
        std::vector<std::int32_t> counts;
        for (const auto& [place, cell] : cells) counts.push_back(static_cast<std::int32_t>(cell.count));
        CHECK(difference(voxel_means(all(points), bounds, size, threads, control).counts, counts) == "");
      }
    }
  }
}

TEST_CASE_TEMPLATE("points that have changed since they were measured are still counted once each", Real, float,
                   double) {
  Random random(36);
  Control control;
  auto points = converted<Real>(random_points(5000, random, 1.0));
  const auto bounds = bounds_of(all(points), 1, control);
  constexpr Real kChanges[] = {Real{5}, std::numeric_limits<Real>::max(), std::numeric_limits<Real>::quiet_NaN(),
                               -std::numeric_limits<Real>::infinity()};
  for (std::size_t k = 0; k < points.size(); k += 7) points[k] *= kChanges[k % 4];
  const RangeImage image(all(points), {0.0, 0.0, 0.0}, 2, control);
  CHECK(image.free().size() == 6 * 64 * 64);
  for (const double size : {0.25, 0.01}) {
    const auto voxels = voxel_means(all(points), bounds, size, 2, control);
    std::size_t count = 0;
    for (const std::int32_t some : voxels.counts) count += static_cast<std::size_t>(some);
    CHECK(count == 5000);
  }
}

TEST_CASE("single precision gives what the same numbers give in double precision") {
  Random random(33);
  Control control;
  const auto single = converted<float>(scanned_points(50'000, 1, random));
  const std::vector<double> same(single.begin(), single.end());
  const auto bounds = bounds_of(all(single), 1, control);
  CHECK(bounds.low == bounds_of(all(same), 1, control).low);
  CHECK(bounds.high == bounds_of(all(same), 1, control).high);
  const auto voxels = voxel_means(all(single), bounds, 0.1, 2, control);
  const auto expected = voxel_means(all(same), bounds, 0.1, 2, control);
  CHECK(difference(voxels.points, expected.points) == "");
  CHECK(difference(voxels.counts, expected.counts) == "");
  const RangeImage image(all(single), {0.0, 0.5, 0.1}, 2, control), other(all(same), {0.0, 0.5, 0.1}, 2, control);
  CHECK(difference(image.free(), other.free()) == "");
}

TEST_CASE("cells that are too small for a cloud are refused") {
  Control control;
  const std::vector<double> wide{0.0, 0.0, 0.0, 1e9, 0.0, 0.0}, far{1e15, 0.0, 0.0};
  for (const auto* points : {&wide, &far}) {
    const auto bounds = bounds_of(all(*points), 1, control);
    CHECK_THROWS_AS(voxel_means(all(*points), bounds, 1e-3, 1, control), std::length_error);
    CHECK_THROWS_AS(count_voxels(all(*points), bounds, 1e-3, 1, control), std::length_error);
  }
}

TEST_CASE_TEMPLATE("a range image depends neither on threads nor on the order of the points", Real, float, double) {
  Random random(34);
  Control control;
  const std::size_t n = (std::size_t{1} << 19) + 1000;  // more than two blocks
  auto points = converted<Real>(random_points(n, random, 4.0));
  const Vector3 viewpoint{0.3, -0.2, 0.1};
  const RangeImage expected(all(points), viewpoint, 1, control);
  CHECK(*std::max_element(expected.free().begin(), expected.free().end()) > 0.0F);
  for (const std::size_t threads : kThreads) {
    CAPTURE(threads);
    const RangeImage image(all(points), viewpoint, threads, control);
    CHECK(difference(image.free(), expected.free()) == "");
  }
  for (std::size_t i = 0, j = n - 1; i < j; ++i, --j) {
    std::swap_ranges(points.begin() + static_cast<std::ptrdiff_t>(3 * i),
                     points.begin() + static_cast<std::ptrdiff_t>(3 * i + 3),
                     points.begin() + static_cast<std::ptrdiff_t>(3 * j));
  }
  const RangeImage reversed(all(points), viewpoint, 2, control);
  CHECK(difference(reversed.free(), expected.free()) == "");
}

TEST_CASE("pieces of compressed bytes are what they stand for") {
  CHECK(decompress_lzf("", 0) == "");
  CHECK(decompress_lzf("\2abc"s, 3) == "abc");
  CHECK(decompress_lzf("\2abc\x20\x02"s, 6) == "abcabc");                     // three bytes, from three back
  CHECK(decompress_lzf("\2abc\xC0\x01"s, 11) == "abcbcbcbcbc");               // eight, over its own end
  CHECK(decompress_lzf("\x00x\xE0\x00\x00"s, 10) == std::string(10, 'x'));    // nine, the least of the long ones
  CHECK(decompress_lzf("\x00x\xE0\xFF\x00"s, 265) == std::string(265, 'x'));  // 264, the most
  std::string packed, plain;
  for (char c = 'a'; c < 'a' + 16; ++c) {
    packed += "\x1F" + std::string(32, c);  // the longest literal
    plain += std::string(32, c);
  }
  CHECK(decompress_lzf(packed + "\x21\xFF"s, 515) == plain + "aaa");  // 512 back
  CHECK(decompress_lzf(packed + "\xE0\x01\x1F"s, 522) == plain + "pppppppppp");
}

TEST_CASE("what is not compressed bytes of the size is refused") {
  CHECK(refusal("\2abc"s, 353) == "4 bytes cannot be the compressed form of 353");  // at most 88 for one
  CHECK(refusal("\2abc"s, 352) == "there are 3 bytes instead of 352");
  CHECK(refusal("", 1) == "0 bytes cannot be the compressed form of 1");
  CHECK(refusal("\2abc"s, 4) == "there are 3 bytes instead of 4");
  CHECK(refusal("\2abc"s, 2) == "there are more than 2 bytes");
  CHECK(refusal("\x00x\xE0\xFF\x00"s, 264) == "there are more than 264 bytes");
  CHECK(refusal("\2ab"s, 3) == "the last piece is cut off");
  CHECK(refusal("\2abc\x20"s, 6) == "the last piece is cut off");
  CHECK(refusal("\2abc\xE0"s, 12) == "the last piece is cut off");
  CHECK(refusal("\2abc\xE0\x05"s, 17) == "the last piece is cut off");
  CHECK(refusal("\x20\x00"s, 3) == "a repetition goes back 1 bytes where there are 0");
  CHECK(refusal("\2abc\x20\x03"s, 6) == "a repetition goes back 4 bytes where there are 3");
  CHECK(refusal("\2abc\x3F\xFF"s, 6) == "a repetition goes back 8192 bytes where there are 3");
}

TEST_CASE("random pieces are unpacked byte by byte, and mutated ones to the right size or not at all") {
  std::mt19937 random(35);
  std::size_t unpacked = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const auto [packed, plain] = random_pieces(random, 1 + random() % (round % 50 == 0 ? 300 : 8));
    REQUIRE_EACH(decompress_lzf(packed, plain.size()) == plain, "round ", round);
    std::string mutated = packed;
    for (unsigned k = 0; k < 1 + random() % 3; ++k) {
      const std::size_t at = random() % mutated.size();
      switch (random() % 4) {
        case 0:
          mutated[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          mutated.erase(at, 1 + random() % 3);
          break;
        case 2:
          mutated.insert(at, 1, static_cast<char>(random() % 256));
          break;
        default:
          mutated.resize(at);
          break;
      }
      if (mutated.empty()) mutated.assign(1, '\0');
    }
    const std::size_t size = plain.size() + (random() % 4 == 0 ? random() % 5 : 0);
    try {
      REQUIRE_EACH(decompress_lzf(mutated, size).size() == size, "round ", round);
      ++unpacked;
    } catch (const LzfError&) {
      ++refused;
    }
  }
  CHECK(unpacked > 1000);
  CHECK(refused > 1000);
}
