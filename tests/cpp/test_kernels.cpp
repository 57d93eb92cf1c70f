// Every instruction set gives the bits that the portable one gives, and the portable one what a plain loop gives. The
// kernels that colour and search are tested through their algorithms in test_clique.cpp, those that grow cliques in
// test_clouds.cpp.
#include "simd/kernels.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "random_clouds.h"
#include "testing.h"

using namespace clipperplus;

namespace {

std::vector<Word> random_words(std::size_t count, double density, unsigned seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution set(density);
  std::vector<Word> words(count, 0);
  for (Word& word : words) {
    for (std::size_t b = 0; b < kWordBits; ++b) word |= Word{set(random)} << b;
  }
  return words;
}

AlignedVector<double> random_doubles(std::size_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  AlignedVector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

AlignedVector<Word> aligned(const std::vector<Word>& words) { return {words.begin(), words.end()}; }

const simd::Kernels& portable() { return *simd::available().back(); }

// Runs work(kernels) for every instruction set, whose name goes with each failure.
template <class Work>
void on_each_path(Work work) {
  for (const auto* kernels : simd::available()) {
    INFO("on ", simd::name_of(*kernels));
    work(*kernels);
  }
}

}  // namespace

TEST_CASE("the last instruction set is the portable one") {
  CHECK(std::string(simd::name_of(portable())) == "portable");
}

TEST_CASE("gathering and transposing gives the transpose") {
  on_each_path([](const simd::Kernels& kernels) {
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{37}, std::size_t{64}}) {
      const std::size_t stride = 8;
      const auto rows = aligned(random_words(100 * stride, 0.4, 7));
      std::vector<Vertex> vertices(count);
      for (std::size_t j = 0; j < count; ++j) vertices[j] = static_cast<Vertex>((j * 13 + 5) % 100);
      alignas(64) Word block[64];
      kernels.gather_transposed(rows.data(), stride, vertices.data(), count, 3, block);
      for (std::size_t t = 0; t < 64; ++t) {
        for (std::size_t j = 0; j < 64; ++j) {
          const bool expected =
              j < count && test_bit(rows.data() + static_cast<std::size_t>(vertices[j]) * stride, 3 * 64 + t);
          REQUIRE_EACH(((block[t] >> j) & 1U) == expected, "count = ", count, ", t = ", t, ", j = ", j);
        }
      }
    }
  });
}

TEST_CASE("the bits of rows are counted") {
  on_each_path([](const simd::Kernels& kernels) {
    const auto rows = aligned(random_words(5 * 24, 0.3, 1));
    std::vector<Vertex> counts(5);
    std::size_t expected_total = 0;
    const std::size_t total = kernels.count_rows(rows.data(), 24, 5, counts.data());
    for (std::size_t i = 0; i < 5; ++i) {
      Vertex expected = 0;
      for_each_bit(rows.data() + i * 24, 24, [&](std::size_t) { ++expected; });
      CHECK(counts[i] == expected);
      expected_total += static_cast<std::size_t>(expected);
    }
    CHECK(total == expected_total);
  });
}

TEST_CASE("keys are lowered, and the smallest is found") {
  on_each_path([](const simd::Kernels& kernels) {
    const std::size_t words = 16;
    const auto row = aligned(random_words(words, 0.2, 3));
    std::mt19937 random(5);
    AlignedVector<simd::PeelKey> keys(words * 64);
    for (auto& key : keys) key = 1000000 + random() % 1000000;
    auto expected = keys;
    simd::PeelKey smallest = ~simd::PeelKey{0};
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (test_bit(row.data(), i)) expected[i] -= 4096;
      smallest = std::min(smallest, expected[i]);
    }
    CHECK(kernels.subtract_and_find_min(keys.data(), row.data(), words, 4096) == smallest);
    CHECK(difference(keys, expected) == "");
  });
}

TEST_CASE("adding to the others leaves the row alone") {
  on_each_path([](const simd::Kernels& kernels) {
    const std::size_t words = 16;
    const auto row = aligned(random_words(words, 0.6, 4));
    auto y = random_doubles(words * 64, 9);
    auto expected = y;
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (!test_bit(row.data(), i)) expected[i] += 0.3;
    }
    kernels.add_to_others(y.data(), row.data(), words, 0.3);
    CHECK(difference(y, expected) == "");
  });
}

TEST_CASE("sums from tables agree with plain sums") {
  on_each_path([](const simd::Kernels& kernels) {
    for (std::size_t column_blocks : {std::size_t{1}, std::size_t{3}}) {
      const std::size_t row_blocks = 2;
      const auto blocks = aligned(random_words(row_blocks * column_blocks * 64, 0.5, 11));
      const auto values = random_doubles(column_blocks * 64, 12);
      AlignedVector<double> tables(column_blocks * 8 * 32);
      for (std::size_t group = 0; group < column_blocks * 16; ++group) {
        for (std::size_t subset = 0; subset < 16; ++subset) {
          double sum = 0.0;
          for (std::size_t k = 0; k < 4; ++k) {
            if (subset >> k & 1U) sum += values[group * 4 + k];
          }
          tables[group * 16 + subset] = sum;
        }
      }
      AlignedVector<double> y(row_blocks * 64), y_reference(row_blocks * 64);
      kernels.table_sums(blocks.data(), row_blocks, column_blocks, tables.data(), y.data());
      portable().table_sums(blocks.data(), row_blocks, column_blocks, tables.data(), y_reference.data());
      CHECK(difference(y, y_reference) == "");
      for (std::size_t i = 0; i < row_blocks * 64; ++i) {
        double plain = 0.0;
        for (std::size_t j = 0; j < column_blocks * 64; ++j) {
          const Word word = blocks[((i / 64) * column_blocks + j / 64) * 64 + i % 64];
          if (word >> (j % 64) & 1U) plain += values[j];
        }
        CHECK(std::abs(y[i] - plain) < 1e-12);
      }
    }
  });
}

TEST_CASE("passes over vectors agree with the portable ones") {
  on_each_path([](const simd::Kernels& kernels) {
    const std::size_t n = 192;
    const auto u = random_doubles(n, 21), g = random_doubles(n, 22), y = random_doubles(n, 23);
    AlignedVector<double> x(n), x_reference(n);
    CHECK(kernels.step(u.data(), g.data(), 0.3, n, x.data()) ==
          portable().step(u.data(), g.data(), 0.3, n, x_reference.data()));
    CHECK(difference(x, x_reference) == "");
    double squares = 0.0;
    for (double value : x) {
      CHECK(value >= 0.0);
      squares += value * value;
    }
    CHECK(std::abs(squares - kernels.step(u.data(), g.data(), 0.3, n, x.data())) < 1e-12);

    const auto scaled = kernels.scale(x.data(), 0.7, n);
    const auto scaled_reference = portable().scale(x_reference.data(), 0.7, n);
    CHECK(scaled.sum == scaled_reference.sum);
    CHECK(scaled.nonzeros == scaled_reference.nonzeros);
    CHECK(difference(x, x_reference) == "");
    std::size_t nonzeros = 0;
    for (double value : x) nonzeros += value != 0.0 ? 1 : 0;
    CHECK(scaled.nonzeros == nonzeros);
    CHECK(nonzeros > 0);
    CHECK(nonzeros < n);

    AlignedVector<double> gradient(n), gradient_reference(n);
    const double value = kernels.gradient(y.data(), x.data(), 2.5, 3.0, n, gradient.data());
    CHECK(value == portable().gradient(y.data(), x.data(), 2.5, 3.0, n, gradient_reference.data()));
    CHECK(difference(gradient, gradient_reference) == "");
    CHECK(gradient[5] == 2.5 - 4.0 * y[5]);
    const auto ascent = kernels.project(gradient.data(), value, x.data(), u.data(), g.data(), n);
    const auto expected = portable().project(gradient_reference.data(), value, x.data(), u.data(), g.data(), n);
    CHECK(ascent.slope == expected.slope);
    CHECK(ascent.squared_delta == expected.squared_delta);
    CHECK(difference(gradient, gradient_reference) == "");
  });
}

TEST_CASE("features are compared as in double precision") {
  on_each_path([](const simd::Kernels& kernels) {
    Random random(9);
    for (std::size_t dimensions : {std::size_t{1}, std::size_t{3}, std::size_t{35}, std::size_t{202}}) {
      CAPTURE(dimensions);
      const std::size_t stride = round_up(dimensions, simd::kFeaturePadding);
      AlignedVector<float> rows(64 * stride), columns(64 * dimensions), row_squares(64), column_squares(64);
      AlignedVector<float> row_limits(64), column_limits(64);
      std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
      for (auto* values : {&rows, &columns, &row_squares, &column_squares, &row_limits, &column_limits}) {
        for (float& value : *values) value = uniform(random);
      }
      row_squares[7] = column_squares[8] = std::numeric_limits<float>::infinity();
      row_limits[5] = column_limits[9] = std::numeric_limits<float>::infinity();
      for (float& limit : column_limits) limit = limit > 0.5F ? limit : -std::numeric_limits<float>::infinity();
      AlignedVector<float> squares(64 * 64);
      AlignedVector<Word> hits(64);
      kernels.compare_features({.dimensions = dimensions,
                                .rows = rows.data(),
                                .columns = columns.data(),
                                .row_squares = row_squares.data(),
                                .column_squares = column_squares.data(),
                                .row_limits = row_limits.data(),
                                .column_limits = column_limits.data()},
                               squares.data(), hits.data());
      for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j) {
          double sum = static_cast<double>(row_squares[i]) + static_cast<double>(column_squares[j]), size = 2.0;
          for (std::size_t e = 0; e < dimensions; ++e) {
            const double term = static_cast<double>(rows[i * stride + e]) * columns[e * 64 + j];
            sum += term, size += std::abs(term);
          }
          const float square = squares[64 * i + j];
          const bool close = std::abs(square - sum) <= 6e-8 * static_cast<double>(dimensions + 2) * size;
          const bool as_told = std::isinf(sum) ? square == std::numeric_limits<float>::infinity() : close;
          REQUIRE_EACH(as_told, "i = ", i, ", j = ", j);
          const bool hit = square < row_limits[i] || square < column_limits[j];
          REQUIRE_EACH((hits[i] >> j & 1U) == hit, "i = ", i, ", j = ", j);
        }
      }
    }
  });
}

TEST_CASE("bounds of features are those of a plain loop") {
  on_each_path([](const simd::Kernels& kernels) {
    using simd::kBoundWidth;
    Random random(11);
    std::uniform_int_distribution<int> whole(-4, 4);  // products are exact
    for (const int middle : {0, 60, 400, 5000}) {     // many pairs below a limit, a few, none
      CAPTURE(middle);
      AlignedVector<float> rows(64 * kBoundWidth), columns(64 * kBoundWidth), row_limits(64), column_limits(64);
      for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t e = 0; e < kBoundWidth; ++e) {
          rows[i * kBoundWidth + e] = static_cast<float>(whole(random) + (e == 0 ? middle : e == 1 ? 40 : 0));
          columns[e * 64 + i] = static_cast<float>(whole(random) + (e < 2 ? 20 : 0));
        }
        row_limits[i] = static_cast<float>(whole(random));
        column_limits[i] = i % 5 == 0 ? static_cast<float>(10 * whole(random)) : -1e30F;
      }
      rows[63 * kBoundWidth] = columns[63] = 1e30F;  // as what fills up
      rows[63 * kBoundWidth + 1] = columns[64 + 63] = std::numeric_limits<float>::infinity();
      row_limits[62] = column_limits[62] = std::numeric_limits<float>::infinity();
      AlignedVector<Word> hits(64, ~Word{0});
      const std::size_t count =
          kernels.bound_features({rows.data(), columns.data(), row_limits.data(), column_limits.data()}, hits.data());
      std::size_t expected = 0;
      for (std::size_t i = 0; i < 64; ++i) {
        for (std::size_t j = 0; j < 64; ++j) {
          double first = 0.0, both = 0.0;
          for (std::size_t e = 0; e < kBoundWidth; ++e) {
            const auto a = static_cast<double>(rows[i * kBoundWidth + e]), b = static_cast<double>(columns[e * 64 + j]);
            const double term = e < 2 ? a + b : a * b;
            both += term;
            if (e == 0 || (e >= 2 && e < 2 + simd::kBoundFirst)) first += term;
          }
          const auto limit = static_cast<double>(std::max(row_limits[i], column_limits[j]));
          const bool hit = (hits[i] >> j & 1U) != 0;
          if (hit) REQUIRE_EACH(both < limit, "i = ", i, ", j = ", j);
          // The first part bounds all of it, so that a pair may be left out for either.
          if (both < limit && first < limit) REQUIRE_EACH(hit, "i = ", i, ", j = ", j);
          expected += hit ? 1 : 0;
        }
      }
      CHECK(count == expected);
    }
  });
}

TEST_CASE("distances of chosen features are those of a plain loop") {
  on_each_path([](const simd::Kernels& kernels) {
    Random random(12);
    std::uniform_int_distribution<int> whole(-8, 8);
    for (std::size_t dimensions : {std::size_t{1}, std::size_t{16}, std::size_t{33}, std::size_t{200}}) {
      const std::size_t stride = round_up(dimensions, simd::kFeaturePadding);
      AlignedVector<float> feature(stride, 0.0F), others(64 * stride, 0.0F);
      for (std::size_t e = 0; e < dimensions; ++e) {
        feature[e] = static_cast<float>(whole(random));
        for (std::size_t j = 0; j < 64; ++j) others[j * stride + e] = static_cast<float>(whole(random));
      }
      for (const Word which : {Word{0}, Word{1} << 63, Word{0x8001}, Word{0x10F0001}, ~Word{0}}) {
        INFO(dimensions, " dimensions, bits ", which);
        std::vector<float> squares(68), expected;
        kernels.measure_features(feature.data(), others.data(), dimensions, which, squares.data());
        for (std::size_t j = 0; j < 64; ++j) {
          if ((which >> j & 1U) == 0) continue;
          float sum = 0.0F;
          for (std::size_t e = 0; e < stride; ++e) {
            sum += (feature[e] - others[j * stride + e]) * (feature[e] - others[j * stride + e]);
          }
          expected.push_back(sum);
        }
        squares.resize(expected.size());
        CHECK(squares == expected);
      }
    }
  });
}

TEST_CASE("near points are those of a plain loop") {
  on_each_path([](const simd::Kernels& kernels) {
    Random random(10);
    for (std::size_t count = 0; count < 70; ++count) {
      auto points = random_points(count, random, 1.0);
      for (double& x : points) x = std::round(8.0 * x) / 8.0;
      std::vector<double> x, y, z;
      std::vector<std::int32_t> indices, near(count + 8), expected;
      for (std::size_t k = 0; k < count; ++k) {
        x.push_back(points[3 * k]), y.push_back(points[3 * k + 1]), z.push_back(points[3 * k + 2]);
        indices.push_back(static_cast<std::int32_t>(1000 - 3 * k));
      }
      const double centre[3] = {0.125, 0.0, -0.25};
      const std::int32_t self = count > 3 ? indices[count / 2] : 7;
      for (std::size_t k = 0; k < count; ++k) {
        const double dx = x[k] - centre[0], dy = y[k] - centre[1], dz = z[k] - centre[2];
        if ((dx * dx + dy * dy) + dz * dz <= 0.75 && indices[k] != self) expected.push_back(indices[k]);
      }
      const simd::NearCandidates candidates{x.data(), y.data(), z.data(), indices.data(), count};
      near.resize(kernels.select_near(candidates, centre, self, 0.75, near.data()));
      CHECK(near == expected);
    }
  });
}

// Angles as clouds/fpfh.h defines them, in double precision.
void count_by_definition(const std::vector<double>& points, const std::vector<double>& normals, std::size_t here,
                         std::size_t there, std::vector<std::int32_t>& counts) {
  const auto at = [](const std::vector<double>& of, std::size_t i) {
    return Vector3{of[3 * i], of[3 * i + 1], of[3 * i + 2]};
  };
  const auto between = [&](std::size_t from, std::size_t to) {
    const Vector3 a = at(points, from), b = at(points, to);
    return Vector3{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  };
  if (std::abs(dot(at(normals, here), between(here, there))) <
      std::abs(dot(at(normals, there), between(here, there)))) {
    std::swap(here, there);
  }
  const Vector3 d = between(here, there), first = at(normals, here), second = at(normals, there);
  Vector3 v = cross(d, first);
  const double sine = std::sqrt(dot(v, v));
  for (double& x : v) x /= sine;
  const double angles[] = {std::atan2(dot(cross(first, v), second), dot(first, second)) / std::numbers::pi,
                           dot(v, second), dot(first, d) / std::sqrt(dot(d, d))};
  for (std::size_t k = 0; k < 3; ++k) {
    const double place = std::floor((angles[k] + 1.0) * 5.5);
    ++counts[11 * k + static_cast<std::size_t>(std::clamp(place, 0.0, 10.0))];
  }
}

TEST_CASE("pairs are described as by the portable one") {
  on_each_path([](const simd::Kernels& kernels) {
    using simd::kOriented;
    Random random(11);
    for (int repetition = 0; repetition < 200; ++repetition) {
      CAPTURE(repetition);
      const std::size_t n = 200, count = random() % (repetition % 2 == 0 ? 70 : 190);
      auto normals = random_directions(n, random);
      auto points = random_points(n, random, 1.0);
      if (repetition % 3 == 0) {  // on a lattice, along its axes
        for (double& x : points) x = std::round(2.0 * x) / 2.0;
        for (std::size_t k = 0; k < normals.size(); k += 3) {
          const std::size_t axis = random() % 3;
          for (std::size_t a = 0; a < 3; ++a) normals[k + a] = a == axis ? (random() % 2 == 0 ? 1.0 : -1.0) : 0.0;
        }
      }
      AlignedVector<double> oriented(n * kOriented, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(&points[3 * i], 3, &oriented[i * kOriented]);
        std::copy_n(&normals[3 * i], 3, &oriented[i * kOriented + 3]);
      }
      const std::size_t self = random() % n;
      std::vector<std::int32_t> near(count);
      for (auto& j : near) j = static_cast<std::int32_t>(random() % n);  // also itself, at the same place
      std::vector<std::int32_t> counts(33, -1), expected_counts(33, -1), totals(3, 0);
      std::vector<float> weights(count), expected_weights(count), plain;
      kernels.describe_pairs(oriented.data(), 0.25, self, near.data(), count, counts.data(), weights.data());
      portable().describe_pairs(oriented.data(), 0.25, self, near.data(), count, expected_counts.data(),
                                expected_weights.data());
      CHECK(counts == expected_counts);
      CHECK(weights == expected_weights);
      double unit = 0.0;
      std::int32_t apart = 0;
      std::vector<std::int32_t> defined(33, 0);
      for (const std::int32_t j : near) {
        double square = 0.0;
        for (std::size_t a = 0; a < 3; ++a) {
          const double d = points[3 * static_cast<std::size_t>(j) + a] - points[3 * self + a];
          square += d * d;
        }
        unit = unit == 0.0 ? square : unit;
        plain.push_back(square > 0.0 ? static_cast<float>(unit / square) : 0.0F);
        apart += square > 0.0 ? 1 : 0;
        if (square > 0.0) count_by_definition(points, normals, self, static_cast<std::size_t>(j), defined);
      }
      for (std::size_t k = 0; k < count; ++k) CHECK(weights[k] == doctest::Approx(plain[k]).epsilon(1e-6));
      if (repetition % 3 != 0) CHECK(counts == defined);  // on the lattice many are on a border
      for (std::size_t b = 0; b < 33; ++b) totals[b / 11] += counts[b];
      CHECK(totals[0] == totals[1]);
      CHECK(totals[0] == totals[2]);
      CHECK(totals[0] <= apart);
      if (repetition % 3 != 0) CHECK(totals[0] == apart);  // no normal along a line between points
    }
  });
}
