// Graphs from what callers have: read once, checked, and refused with the name of an offender.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include "clipperplus/graph.h"
#include "graph/rows.h"
#include "words.h"

namespace clipperplus::inline v0 {

namespace {

std::string pair_text(std::size_t u, std::size_t v) { return std::to_string(u) + ", " + std::to_string(v); }

[[noreturn]] void refuse_loop(std::size_t v) {
  throw InvalidGraph("adjacency: entry (" + pair_text(v, v) + ") is a self-loop; the diagonal must be zero");
}

[[noreturn]] void refuse_asymmetry(std::size_t u, std::size_t v) {
  throw InvalidGraph("adjacency: not symmetric: entry (" + pair_text(u, v) + ") is 1 and entry (" + pair_text(v, u) +
                     ") is 0");
}

template <class Number>
[[noreturn]] void refuse_cell(std::size_t row, std::size_t column, Number value) {
  throw InvalidGraph(words_of("adjacency: entry ", shape_text(row, column), " is ", value, "; expected 0 or 1"));
}

// By all bits but the sign: to a comparison the smallest numbers are zero where a program has them flushed.
bool is_zero(float value) { return std::bit_cast<std::uint32_t>(value) << 1 == 0; }
bool is_zero(double value) { return std::bit_cast<std::uint64_t>(value) << 1 == 0; }
bool is_zero(long double value) { return value == 0.0L; }

template <class Real>
bool is_real_one(const Real* entry, std::size_t row, std::size_t column) {
  if (*entry == Real(1)) return true;
  if (!is_zero(*entry)) refuse_cell(row, column, static_cast<double>(*entry));
  return false;
}

void check_vertex_count(const char* name, std::size_t n) {
  if (n <= static_cast<std::size_t>(Graph::kMaxVertices)) return;
  throw InvalidGraph(words_of(name, ": expected an integer from 0 to ", Graph::kMaxVertices, ", got ", n));
}

std::size_t count_bits(const AlignedVector<Word>& words) {
  std::size_t total = 0;
  for (Word w : words) total += static_cast<std::size_t>(std::popcount(w));
  return total;
}

// Drops repeated neighbours from sorted rows, in place.
void drop_duplicates(std::vector<std::int64_t>& offsets, std::vector<Vertex>& columns) {
  std::size_t kept = 0;
  auto begin = offsets[0];
  for (std::size_t v = 0; v + 1 < offsets.size(); ++v) {
    const auto end = offsets[v + 1];
    const std::size_t row_start = kept;
    for (auto k = begin; k < end; ++k) {
      const Vertex u = columns[static_cast<std::size_t>(k)];
      if (kept == row_start || columns[kept - 1] != u) columns[kept++] = u;
    }
    begin = end;
    offsets[v + 1] = static_cast<std::int64_t>(kept);
  }
  if (kept < columns.size()) {
    columns.resize(kept);
    columns.shrink_to_fit();
  }
}

}  // namespace

void Graph::check_square(std::size_t rows, std::size_t columns) {
  if (rows != columns) {
    throw InvalidGraph(words_of("adjacency: expected a square matrix, got shape ", shape_text(rows, columns)));
  }
  check_vertex_count("adjacency: number of rows", rows);
}

bool Graph::is_one(const float* entry, std::size_t i, std::size_t j) { return is_real_one(entry, i, j); }
bool Graph::is_one(const double* entry, std::size_t i, std::size_t j) { return is_real_one(entry, i, j); }
bool Graph::is_one(const long double* entry, std::size_t i, std::size_t j) { return is_real_one(entry, i, j); }
void Graph::refuse_entry(std::size_t row, std::size_t column, std::int64_t value) { refuse_cell(row, column, value); }
void Graph::refuse_entry(std::size_t row, std::size_t column, std::uint64_t value) { refuse_cell(row, column, value); }

template <class Int>
Graph Graph::of_edges(std::size_t n, EdgeView<Int> edges) {
  check_vertex_count("n", n);
  // Reads edge i once and checks what it read.
  const auto edge = [&](std::size_t i) {
    const std::int64_t u = edges.at(i, 0), v = edges.at(i, 1);
    const auto limit = static_cast<std::int64_t>(n);
    if (u < 0 || u >= limit || v < 0 || v >= limit || u == v) {
      const std::string text =
          "edges: edge " + std::to_string(i) + " is (" + std::to_string(u) + ", " + std::to_string(v) + ")";
      if (u == v) throw InvalidGraph(text + ", a self-loop");
      throw InvalidGraph(text + ", but there are " + std::to_string(n) + " vertices, counted from 0");
    }
    return std::pair(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
  };
  Graph graph;
  if (bits_pay(n, edges.count)) {
    graph.allocate_bits(n);
    for (std::size_t i = 0; i < edges.count; ++i) {
      const auto [u, v] = edge(i);
      set_bit(graph.bits_.data() + u * graph.stride_, v);
      set_bit(graph.bits_.data() + v * graph.stride_, u);
    }
    graph.m_ = count_bits(graph.bits_) / 2;
  } else {
    // Bucket both directions by first vertex, then transpose: buckets come out sorted, without a comparison sort.
    graph.n_ = n;
    graph.has_bits_ = false;
    std::vector<std::int64_t> offsets(n + 1, 0);
    for (std::size_t i = 0; i < edges.count; ++i) {
      const auto [u, v] = edge(i);
      ++offsets[u + 1];
      ++offsets[v + 1];
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Vertex> columns(2 * edges.count);
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::size_t i = 0; i < edges.count; ++i) {
      const auto [u, v] = edge(i);
      if (next[u] == offsets[u + 1] || next[v] == offsets[v + 1]) {
        throw InvalidGraph("edges: edge " + std::to_string(i) + " changed while the graph was made");
      }
      columns[static_cast<std::size_t>(next[u]++)] = static_cast<Vertex>(v);
      columns[static_cast<std::size_t>(next[v]++)] = static_cast<Vertex>(u);
    }
    std::vector<std::int64_t>().swap(next);
    transpose(n, offsets, columns, graph.offsets_, graph.neighbours_, [] {});
    drop_duplicates(graph.offsets_, graph.neighbours_);
    graph.m_ = graph.neighbours_.size() / 2;
  }
  graph.to_preferred_form();
  return graph;
}

// Two functions, not a template: a DLL shows them with the rest of the class.
Graph Graph::from_edges(std::size_t n, EdgeView<std::int32_t> edges) { return of_edges(n, edges); }
Graph Graph::from_edges(std::size_t n, EdgeView<std::int64_t> edges) { return of_edges(n, edges); }

Graph Graph::from_pairs(std::size_t n, const detail::Pairs& edges) {
  check_vertex_count("n", n);
  std::uint64_t largest = 0;
  for (std::size_t k = 0; k < edges.numbers.size(); ++k) {
    if (edges.without_sign[k % 2]) largest = std::max(largest, static_cast<std::uint64_t>(edges.numbers[k]));
  }
  if (largest > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw InvalidGraph(words_of("edges: vertex ", largest, " is out of range for ", n, " vertices"));
  }
  return from_edges(n, EdgeView<std::int64_t>{edges.numbers.data(), edges.numbers.size() / 2, 2, 1});
}

Graph Graph::from_packed_rows(std::size_t n, const std::uint8_t* rows, std::size_t row_bytes) {
  Graph graph;
  graph.allocate_bits(n);
  const std::size_t used_bytes = (n + 7) / 8;
  for (std::size_t v = 0; v < n; ++v) {
    Word* row = graph.bits_.data() + v * graph.stride_;
    for (std::size_t b = 0; b < used_bytes; ++b) {
      row[b / sizeof(Word)] |= Word{rows[v * row_bytes + b]} << (8 * (b % sizeof(Word)));
    }
    if (n % kWordBits != 0) row[n / kWordBits] &= (Word{1} << (n % kWordBits)) - 1;
  }
  for (std::size_t u = 0; u < n; ++u) {
    for_each_bit(graph.row(u), graph.stride_, [&](std::size_t v) {
      if (u == v) refuse_loop(u);
      if (!test_bit(graph.row(v), u)) refuse_asymmetry(u, v);
    });
  }
  graph.m_ = count_bits(graph.bits_) / 2;
  graph.to_preferred_form();
  return graph;
}

Graph Graph::from_bit_rows(std::size_t n, AlignedVector<Word> rows, const simd::Kernels& kernels) {
  Graph graph;
  graph.n_ = n;
  graph.stride_ = row_words(n);
  graph.bits_ = std::move(rows);
  graph.m_ = graph.degree_sum(kernels) / 2;
  return graph;
}

Graph Graph::from_sorted_rows(std::size_t n, std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours) {
  Graph graph;
  graph.n_ = n;
  graph.has_bits_ = false;
  graph.m_ = neighbours.size() / 2;
  graph.offsets_ = std::move(offsets);
  graph.neighbours_ = std::move(neighbours);
  return graph;
}

Graph Graph::from_csr_pattern(std::size_t n, std::span<const std::int64_t> offsets,
                              std::span<const Vertex> neighbours) {
  Graph graph;
  graph.n_ = n;
  graph.has_bits_ = false;
  graph.offsets_.assign(offsets.begin(), offsets.end());
  graph.neighbours_.assign(neighbours.begin(), neighbours.end());
  for (Vertex v : graph.neighbours_) {
    if (v < 0 || static_cast<std::size_t>(v) >= n) {
      throw InvalidGraph("adjacency: column " + std::to_string(v) + " does not exist: the matrix has " +
                         std::to_string(n));
    }
  }
  for (std::size_t u = 0; u < n; ++u) {
    for (Vertex neighbour : graph.neighbours(u)) {
      const auto v = static_cast<std::size_t>(neighbour);
      if (u == v) refuse_loop(u);
      if (!graph.has_edge(v, u)) refuse_asymmetry(u, v);
    }
  }
  graph.m_ = graph.neighbours_.size() / 2;
  graph.to_preferred_form();
  return graph;
}

}  // namespace clipperplus::inline v0
