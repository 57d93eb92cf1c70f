// An immutable, simple, undirected graph on the vertices 0 to n-1.
//
//   const auto graph = Graph::from_edges(5, {{0, 1}, {1, 2}, {0, 2}, {3, 4}});
//   graph.num_edges();     // 4
//   graph.has_edge(2, 0);  // true
//
// Pairs may come in any container, as std::pair, std::array or Eigen::Vector2i, or in a matrix; a matrix of zeros and
// ones becomes a graph by from_adjacency, a file by read_graph (graph_file.h).
//
// Representation, chosen from (n, m) alone so that equal graphs are always stored alike:
//   bits  n padded bit rows (see bits.h): n^2/8 bytes. Set algebra on 64 to 512 vertices an instruction.
//   csr   row offsets (8 bytes a vertex) and sorted neighbours (4 bytes a direction of an edge).
// Bits are kept while they cost at most 4 MiB, or at most twice what CSR would; in a compact graph and those made from
// it, at most once.
//
// Invariants: symmetric, no loops, neighbours sorted and unique, bits past n zero. The factories check their input
// once and throw InvalidGraph, which names an offender.
//
// What is moved from is the empty graph. What takes or returns words, Kernels, a Control, rows or offsets is for the
// kernels and the bindings: it trusts its caller, and may change.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clipperplus/bits.h"
#include "clipperplus/control.h"
#include "clipperplus/export.h"
#include "clipperplus/instruction_sets.h"
#include "clipperplus/views.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

// What is wrong with a graph's input, in words that name the place.
struct CLIPPERPLUS_API InvalidGraph : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// Pairs of integers somewhere in memory: element (i, k) at data + i * row_stride + k * column_stride, in elements.
template <class Int>
struct EdgeView {  // of std::int32_t or std::int64_t
  const Int* data;
  std::size_t count;
  std::ptrdiff_t row_stride, column_stride;

  std::int64_t at(std::size_t row, int k) const {
    // volatile: what is checked must be what is used, even if another thread writes here.
    const volatile Int* place = data + static_cast<std::ptrdiff_t>(row) * row_stride + k * column_stride;
    return static_cast<std::int64_t>(*place);
  }
};

class CLIPPERPLUS_API Graph {
 public:
  static constexpr std::int64_t kMaxVertices = std::int64_t{1} << 26;  // offsets alone are then 512 MiB

  Graph() = default;  // without vertices
  Graph(const Graph&) = default;
  Graph(Graph&& other) noexcept { swap(other); }
  Graph& operator=(const Graph& other) {
    Graph(other).swap(*this);  // all of it, or nothing where the memory does not suffice
    return *this;
  }
  Graph& operator=(Graph&& other) noexcept {
    Graph(std::move(other)).swap(*this);
    return *this;
  }
  ~Graph() = default;

  // Duplicate edges, in either direction, collapse. O(n + edges). The edges may change while they are read (they
  // belong to the caller, who may have threads): that gives some graph or an error, nothing worse.
  static Graph from_edges(std::size_t n, EdgeView<std::int32_t> edges);
  static Graph from_edges(std::size_t n, EdgeView<std::int64_t> edges);
  // The same from any range of pairs of integers; 16 bytes an edge besides.
  template <RangeOfPairs Edges>
  static Graph from_edges(std::size_t n, const Edges& edges) {
    return from_pairs(n, detail::Pairs(edges));
  }
  static Graph from_edges(std::size_t n, std::initializer_list<std::pair<std::int64_t, std::int64_t>> edges) {
    return from_pairs(n, detail::Pairs(edges));
  }
  // Or from a matrix with one in each row or in each column, as the side says whose two entries are fixed when it is
  // compiled, else its size.
  template <MatrixLike Matrix>
  static Graph from_edges(std::size_t n, const Matrix& edges) {
    return from_pairs(n, detail::Pairs("edges", edges));
  }
  template <MatrixLike Matrix>
  static Graph from_edges(std::size_t n, const Matrix& edges, PointsView::Layout read_as) {
    return from_pairs(n, detail::Pairs("edges", edges, read_as));
  }

  // From a square, symmetric matrix of zeros and ones with a zero diagonal: a MatrixView, or an Eigen matrix of any
  // scalar and order. O(n^2).
  template <class Scalar>
  static Graph from_adjacency(const MatrixView<Scalar>& matrix) {
    check_square(matrix.rows, matrix.columns);
    const std::size_t n = matrix.rows, row_bytes = (n + 7) / 8;
    std::vector<std::uint8_t> packed(n * row_bytes, 0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (is_one(matrix.place(i, j), i, j)) packed[i * row_bytes + j / 8] |= static_cast<std::uint8_t>(1U << (j % 8));
      }
    }
    return from_packed_rows(n, packed.data(), row_bytes);
  }
  template <MatrixLike Matrix>
  static Graph from_adjacency(const Matrix& matrix) {
    return from_adjacency(view_of(matrix));
  }

  // `rows` holds n rows of `row_bytes` bytes each, column 0 in the lowest bit of the first byte.
  static Graph from_packed_rows(std::size_t n, const std::uint8_t* rows, std::size_t row_bytes);

  // Symmetric rows of row_words(n) words each, trusted.
  static Graph from_bit_rows(std::size_t n, AlignedVector<Word> rows, const simd::Kernels& kernels);

  // Sorted rows of both directions, trusted.
  static Graph from_sorted_rows(std::size_t n, std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours);

  // Directed pattern of a square CSR matrix whose rows are sorted and unique; it must be symmetric.
  static Graph from_csr_pattern(std::size_t n, std::span<const std::int64_t> offsets,
                                std::span<const Vertex> neighbours);

  // Whether a graph of n vertices and m edges is stored as bits.
  static bool prefers_bits(std::size_t n, std::size_t m) { return bits_pay(n, m); }
  void to_preferred_form();  // after a factory that does not choose it

  std::size_t num_vertices() const noexcept { return n_; }
  std::size_t num_edges() const noexcept { return m_; }
  bool has_bits() const noexcept { return has_bits_; }
  std::size_t bytes() const noexcept;

  // Bits only.
  const Word* row(std::size_t v) const { return bits_.data() + v * stride_; }
  std::size_t stride() const { return stride_; }

  // CSR only.
  std::span<const Vertex> neighbours(std::size_t v) const {
    return {neighbours_.data() + offsets_[v], static_cast<std::size_t>(offsets_[v + 1] - offsets_[v])};
  }

  // Whether two vertices are neighbours; InvalidGraph if one of them is not there.
  bool has_edge(std::size_t u, std::size_t v) const;
  // All edges u < v, sorted.
  std::vector<std::pair<Vertex, Vertex>> edges() const;
  std::vector<Vertex> degrees(const simd::Kernels& kernels) const;
  // Calls visit(u) for the neighbours of v in increasing order.
  template <class Visit>
  void for_each_neighbour(std::size_t v, Visit visit) const {
    if (has_bits_) {
      for_each_bit(row(v), stride_, [&](std::size_t u) { visit(static_cast<Vertex>(u)); });
    } else {
      for (Vertex u : neighbours(v)) visit(u);
    }
  }

  // The graph on `vertices` (distinct, in range), relabelled 0 to k-1 in the order given: a permutation of all
  // vertices reorders the graph. Bits: k * n / 4096 transposed blocks; CSR: O(n + sum of degrees), without n for few
  // vertices. The deadline is not observed, the periodic check is.
  Graph subgraph(std::span<const Vertex> vertices, const simd::Kernels& kernels, Control& control) const;
  // The graph on the first k vertices: a copy of words for bits.
  Graph prefix(std::size_t k, const simd::Kernels& kernels, Control& control) const;
  // The graph with the other edges; InvalidGraph if its bits would take more than 4 GiB.
  Graph complement() const;
  // The same graph where memory counts more than time: in the smaller form, and so are graphs made from it.
  Graph compact() const;
  // The same graph in bits, whatever it costs: for algorithms that know it to be small.
  Graph with_bits() &&;
  AlignedVector<Word> take_rows() && { return Graph(std::move(*this)).bits_; }  // bits only

  bool operator==(const Graph& other) const;

 private:
  void swap(Graph& other) noexcept {
    std::swap(n_, other.n_);
    std::swap(m_, other.m_);
    std::swap(stride_, other.stride_);
    std::swap(has_bits_, other.has_bits_);
    std::swap(compact_, other.compact_);
    bits_.swap(other.bits_);
    offsets_.swap(other.offsets_);
    neighbours_.swap(other.neighbours_);
  }
  static Graph from_pairs(std::size_t n, const detail::Pairs& edges);
  template <class Int>
  static Graph of_edges(std::size_t n, EdgeView<Int> edges);
  static void check_square(std::size_t rows, std::size_t columns);
  // What an entry says; refuses what is neither 0 nor 1. The library decides on numbers with a fraction: a program may
  // be compiled with -ffast-math, which takes NaN for what it likes.
  static bool is_one(const float* entry, std::size_t row, std::size_t column);
  static bool is_one(const double* entry, std::size_t row, std::size_t column);
  static bool is_one(const long double* entry, std::size_t row, std::size_t column);
  template <std::integral Int>
  static bool is_one(const Int* entry, std::size_t row, std::size_t column) {
    if (*entry == Int(0)) return false;
    if (*entry == Int(1)) return true;
    if constexpr (std::is_signed_v<Int>) refuse_entry(row, column, static_cast<std::int64_t>(*entry));
    refuse_entry(row, column, static_cast<std::uint64_t>(*entry));
  }
  [[noreturn]] static void refuse_entry(std::size_t row, std::size_t column, std::int64_t value);
  [[noreturn]] static void refuse_entry(std::size_t row, std::size_t column, std::uint64_t value);
  static bool bits_pay(std::size_t n, std::size_t m, bool compact = false);
  void allocate_bits(std::size_t n);
  std::size_t degree_sum(const simd::Kernels& kernels) const;  // bits only
  Graph prefix_of_csr(std::size_t k, Control& control) const;
  Graph relabel_bits(std::span<const Vertex> vertices, const std::vector<Vertex>& position,
                     const simd::Kernels& kernels, Control& control) const;
  template <class PositionOf>
  Graph relabel_csr(std::span<const Vertex> vertices, PositionOf position_of, Control& control) const;
  void bits_to_csr();
  void csr_to_bits();

  std::size_t n_ = 0, m_ = 0, stride_ = 0;
  bool has_bits_ = true, compact_ = false;
  AlignedVector<Word> bits_;
  std::vector<std::int64_t> offsets_;
  std::vector<Vertex> neighbours_;
};

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
