// Every instruction set gives the bits that the portable one gives, and the portable one what a plain loop gives. The
// kernels that grow cliques, colour and search are tested through their algorithms in test_algorithms.cpp.
#include <cmath>

#include "check.h"
#include "simd/kernels.h"

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

void gather_transposed_is_a_transpose(const simd::Kernels& kernels) {
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
        CHECK(((block[t] >> j) & 1U) == expected);
      }
    }
  }
}

void count_rows_counts(const simd::Kernels& kernels) {
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
}

void subtract_and_find_min_does_both(const simd::Kernels& kernels) {
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
  CHECK(keys == expected);
}

void add_to_others_leaves_the_row_alone(const simd::Kernels& kernels) {
  const std::size_t words = 16;
  const auto row = aligned(random_words(words, 0.6, 4));
  auto y = random_doubles(words * 64, 9);
  auto expected = y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!test_bit(row.data(), i)) expected[i] += 0.3;
  }
  kernels.add_to_others(y.data(), row.data(), words, 0.3);
  CHECK(y == expected);
}

void table_sums_agree_with_plain_sums(const simd::Kernels& kernels, const simd::Kernels& reference) {
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
    reference.table_sums(blocks.data(), row_blocks, column_blocks, tables.data(), y_reference.data());
    CHECK(y == y_reference);
    for (std::size_t i = 0; i < row_blocks * 64; ++i) {
      double plain = 0.0;
      for (std::size_t j = 0; j < column_blocks * 64; ++j) {
        const Word word = blocks[((i / 64) * column_blocks + j / 64) * 64 + i % 64];
        if (word >> (j % 64) & 1U) plain += values[j];
      }
      CHECK(std::abs(y[i] - plain) < 1e-12);
    }
  }
}

void vector_passes_agree(const simd::Kernels& kernels, const simd::Kernels& reference) {
  const std::size_t n = 192;
  const auto u = random_doubles(n, 21), g = random_doubles(n, 22), y = random_doubles(n, 23);
  AlignedVector<double> x(n), x_reference(n);
  CHECK(kernels.step(u.data(), g.data(), 0.3, n, x.data()) ==
        reference.step(u.data(), g.data(), 0.3, n, x_reference.data()));
  CHECK(x == x_reference);
  double squares = 0.0;
  for (double value : x) {
    CHECK(value >= 0.0);
    squares += value * value;
  }
  CHECK(std::abs(squares - kernels.step(u.data(), g.data(), 0.3, n, x.data())) < 1e-12);

  const auto scaled = kernels.scale(x.data(), 0.7, n);
  const auto scaled_reference = reference.scale(x_reference.data(), 0.7, n);
  CHECK(scaled.sum == scaled_reference.sum && scaled.nonzeros == scaled_reference.nonzeros && x == x_reference);
  std::size_t nonzeros = 0;
  for (double value : x) nonzeros += value != 0.0 ? 1 : 0;
  CHECK(scaled.nonzeros == nonzeros && nonzeros > 0 && nonzeros < n);

  AlignedVector<double> gradient(n), gradient_reference(n);
  const double value = kernels.gradient(y.data(), x.data(), 2.5, 3.0, n, gradient.data());
  CHECK(value == reference.gradient(y.data(), x.data(), 2.5, 3.0, n, gradient_reference.data()));
  CHECK(gradient == gradient_reference);
  CHECK(gradient[5] == 2.5 - 4.0 * y[5]);
  const auto ascent = kernels.project(gradient.data(), value, x.data(), u.data(), g.data(), n);
  const auto expected = reference.project(gradient_reference.data(), value, x.data(), u.data(), g.data(), n);
  CHECK(ascent.slope == expected.slope && ascent.squared_delta == expected.squared_delta);
  CHECK(gradient == gradient_reference);
}

}  // namespace

int main() {
  const auto paths = simd::available();
  CHECK(std::string(paths.back()->name) == "portable");
  for (const auto* kernels : paths) {
    gather_transposed_is_a_transpose(*kernels);
    count_rows_counts(*kernels);
    subtract_and_find_min_does_both(*kernels);
    add_to_others_leaves_the_row_alone(*kernels);
    table_sums_agree_with_plain_sums(*kernels, *paths.back());
    vector_passes_agree(*kernels, *paths.back());
  }
}
