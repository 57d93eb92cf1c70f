#include "ascent/complement_sums.h"

#include <algorithm>

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kGroup = 8;        // columns of a look-up
constexpr std::size_t kGroupTable = 32;  // two tables of sixteen subsets

// table[subset] = sum of the values in the subset, added in increasing order.
void fill_table(const double* values, double* table) {
  table[0] = 0.0;
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::size_t subset = 0; subset < std::size_t{1} << k; ++subset) {
      table[subset | std::size_t{1} << k] = table[subset] + values[k];
    }
  }
}

}  // namespace

ComplementSums::ComplementSums(const Graph& graph, const simd::Kernels& kernels, Control& control)
    : graph_(graph), kernels_(kernels), control_(control), padded_(round_up(graph.num_vertices(), simd::kBlock)) {}

void ComplementSums::compute(const double* u, double sum, std::size_t nonzeros, double* y) {
  if (graph_.has_bits()) {
    compute_bits(u, nonzeros, y);
  } else {
    compute_csr(u, sum, y);
  }
  // Padding has no vertex: a gradient that is negative for every d keeps u at zero there.
  std::fill(y + graph_.num_vertices(), y + padded_, 2.0 * sum);
}

void ComplementSums::settle(const double* u, std::size_t nonzeros) {
  if (!graph_.has_bits() || columns_.size() <= simd::kBlock || 4 * nonzeros > 3 * columns_.size()) return;
  std::erase_if(columns_, [u](Vertex v) { return u[v] == 0.0; });
  pack();
}

void ComplementSums::pack() {
  const std::size_t row_blocks = padded_ / simd::kBlock;
  const std::size_t column_blocks = (columns_.size() + simd::kBlock - 1) / simd::kBlock;
  blocks_.resize(row_blocks * column_blocks * simd::kBlock);
  tables_.resize(column_blocks * (simd::kBlock / kGroup) * kGroupTable);
  for (std::size_t c = 0; c < column_blocks; ++c) {
    const std::size_t first = c * simd::kBlock;
    const std::size_t count = std::min(simd::kBlock, columns_.size() - first);
    for (std::size_t r = 0; r < row_blocks; ++r) {
      // By symmetry column v of A is row v; 64 of its bits make a row of the transposed block.
      Word* block = blocks_.data() + (r * column_blocks + c) * simd::kBlock;
      kernels_.gather_transposed(graph_.row(0), graph_.stride(), columns_.data() + first, count, r, block);
      for (std::size_t i = 0; i < simd::kBlock; ++i) block[i] = ~block[i];
    }
    for (std::size_t j = 0; j < count; ++j) {  // M has ones on the diagonal
      const auto v = static_cast<std::size_t>(columns_[first + j]);
      clear_bit(blocks_.data() + ((v / simd::kBlock) * column_blocks + c) * simd::kBlock + v % simd::kBlock, j);
    }
  }
}

void ComplementSums::compute_bits(const double* u, std::size_t nonzeros, double* y) {
  std::size_t covered = 0;
  for (Vertex v : columns_) covered += u[v] != 0.0 ? 1 : 0;
  if (covered < nonzeros) {
    std::vector<Vertex> wider;
    auto packed = columns_.begin();
    for (std::size_t v = 0; v < graph_.num_vertices(); ++v) {
      const bool had = packed != columns_.end() && *packed == static_cast<Vertex>(v);
      if (had) ++packed;
      if (had || u[v] != 0.0) wider.push_back(static_cast<Vertex>(v));
    }
    columns_ = std::move(wider);
    pack();
  }
  const std::size_t column_blocks = (columns_.size() + simd::kBlock - 1) / simd::kBlock;
  double values[kGroup];
  for (std::size_t first = 0; first < column_blocks * simd::kBlock; first += kGroup) {
    for (std::size_t k = 0; k < kGroup; ++k) {
      values[k] = first + k < columns_.size() ? u[columns_[first + k]] : 0.0;
    }
    double* table = tables_.data() + first / kGroup * kGroupTable;
    fill_table(values, table);
    fill_table(values + 4, table + 16);
  }
  kernels_.table_sums(blocks_.data(), padded_ / simd::kBlock, column_blocks, tables_.data(), y);
}

void ComplementSums::compute_csr(const double* u, double sum, double* y) const {
  constexpr std::size_t kVerticesPerPoll = 4096;
  std::fill(y, y + padded_, 0.0);
  for (std::size_t v = 0; v < graph_.num_vertices(); ++v) {
    if (v % kVerticesPerPoll == 0) control_.expired();
    if (u[v] == 0.0) continue;
    for (Vertex w : graph_.neighbours(v)) y[w] += u[v];
  }
  for (std::size_t v = 0; v < padded_; ++v) y[v] = sum - (y[v] + u[v]);
}

}  // namespace clipperplus::inline v0
