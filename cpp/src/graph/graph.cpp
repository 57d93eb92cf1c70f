#include "clipperplus/graph.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "simd/kernels.h"
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

void check_vertex_count(const char* name, std::size_t n) {
  if (n <= static_cast<std::size_t>(Graph::kMaxVertices)) return;
  throw InvalidGraph(words_of(name, ": expected an integer from 0 to ", Graph::kMaxVertices, ", got ", n));
}

std::size_t count_bits(const AlignedVector<Word>& words) {
  std::size_t total = 0;
  for (Word w : words) total += static_cast<std::size_t>(std::popcount(w));
  return total;
}

[[noreturn]] void refuse_vertex(const char* name, std::size_t v, std::size_t n) {
  if (n == 0) throw InvalidGraph(words_of(name, ": the graph has no vertex ", v));
  throw InvalidGraph(words_of(name, ": expected an integer from 0 to ", n - 1, ", got ", v));
}

constexpr std::size_t kRowsPerPoll = 1024;

// Rows of a directed pattern, transposed: row v of the result lists the rows that contain v, in increasing order.
template <class Poll>
void transpose(std::size_t n, const std::vector<std::int64_t>& offsets, const std::vector<Vertex>& columns,
               std::vector<std::int64_t>& out_offsets, std::vector<Vertex>& out_columns, Poll poll) {
  out_offsets.assign(n + 1, 0);
  out_columns.resize(columns.size());
  for (Vertex v : columns) ++out_offsets[static_cast<std::size_t>(v) + 1];
  std::partial_sum(out_offsets.begin(), out_offsets.end(), out_offsets.begin());
  std::vector<std::int64_t> next(out_offsets.begin(), out_offsets.end() - 1);
  for (std::size_t u = 0; u < n; ++u) {
    if (u % kRowsPerPoll == 0) poll();
    for (auto k = offsets[u]; k < offsets[u + 1]; ++k) {
      const auto v = static_cast<std::size_t>(columns[static_cast<std::size_t>(k)]);
      out_columns[static_cast<std::size_t>(next[v]++)] = static_cast<Vertex>(u);
    }
  }
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

void Graph::refuse_entry(std::size_t row, std::size_t column, double value, bool real) {
  const std::string entry = real ? number_text(value) : words_of(static_cast<std::int64_t>(value));
  throw InvalidGraph(words_of("adjacency: entry ", shape_text(row, column), " is ", entry, "; expected 0 or 1"));
}

bool Graph::bits_pay(std::size_t n, std::size_t m, bool compact) {
  constexpr std::size_t kAlwaysBytes = std::size_t{4} << 20;
  const std::size_t bit_bytes = n * row_words(n) * sizeof(Word);
  const std::size_t csr_bytes = (n + 1) * sizeof(std::int64_t) + 2 * m * sizeof(Vertex);
  return bit_bytes <= kAlwaysBytes || bit_bytes <= (compact ? 1 : 2) * csr_bytes;
}

void Graph::allocate_bits(std::size_t n) {
  n_ = n;
  stride_ = row_words(n);
  bits_.assign(n * stride_, 0);
  has_bits_ = true;
}

template <class Int>
Graph Graph::from_edges(std::size_t n, EdgeView<Int> edges) {
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

template Graph Graph::from_edges(std::size_t, EdgeView<std::int32_t>);
template Graph Graph::from_edges(std::size_t, EdgeView<std::int64_t>);

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

void Graph::to_preferred_form() {
  const bool want_bits = bits_pay(n_, m_, compact_);
  if (want_bits && !has_bits_) csr_to_bits();
  if (!want_bits && has_bits_) bits_to_csr();
}

void Graph::csr_to_bits() {
  const auto offsets = std::move(offsets_);
  const auto columns = std::move(neighbours_);
  offsets_.clear();
  neighbours_.clear();
  allocate_bits(n_);
  for (std::size_t v = 0; v < n_; ++v) {
    for (auto k = offsets[v]; k < offsets[v + 1]; ++k) {
      set_bit(bits_.data() + v * stride_, static_cast<std::size_t>(columns[static_cast<std::size_t>(k)]));
    }
  }
}

void Graph::bits_to_csr() {
  offsets_.assign(n_ + 1, 0);
  neighbours_.resize(2 * m_);
  Vertex* next = neighbours_.data();  // a push_back for each would take longer than finding the bits
  for (std::size_t v = 0; v < n_; ++v) {
    for_each_neighbour(v, [&](Vertex u) { *next++ = u; });
    offsets_[v + 1] = next - neighbours_.data();
  }
  AlignedVector<Word>().swap(bits_);  // unlike an assignment, gives the memory back
  stride_ = 0;
  has_bits_ = false;
}

std::size_t Graph::bytes() const noexcept {
  return sizeof(Graph) + bits_.capacity() * sizeof(Word) + offsets_.capacity() * sizeof(std::int64_t) +
         neighbours_.capacity() * sizeof(Vertex);
}

bool Graph::has_edge(std::size_t u, std::size_t v) const {
  if (u >= n_ || v >= n_) refuse_vertex(u >= n_ ? "u" : "v", u >= n_ ? u : v, n_);
  if (has_bits_) return test_bit(row(u), v);
  const auto list = neighbours(u);
  return std::binary_search(list.begin(), list.end(), static_cast<Vertex>(v));
}

std::vector<Vertex> Graph::degrees(const simd::Kernels& kernels) const {
  std::vector<Vertex> result(n_);
  if (has_bits_) {
    kernels.count_rows(bits_.data(), stride_, n_, result.data());
  } else {
    for (std::size_t v = 0; v < n_; ++v) result[v] = static_cast<Vertex>(offsets_[v + 1] - offsets_[v]);
  }
  return result;
}

std::vector<std::pair<Vertex, Vertex>> Graph::edges() const {
  std::vector<std::pair<Vertex, Vertex>> result;
  result.reserve(m_);
  for (std::size_t v = 0; v < n_; ++v) {
    for_each_neighbour(v, [&](Vertex u) {
      if (static_cast<std::size_t>(u) > v) result.emplace_back(static_cast<Vertex>(v), u);
    });
  }
  return result;
}

template <class PositionOf>
Graph Graph::relabel_csr(std::span<const Vertex> vertices, PositionOf position_of, Control& control) const {
  // Rows in the new order with unsorted neighbours; symmetric, so the transpose is the same graph with sorted rows.
  std::vector<std::int64_t> offsets{0};
  std::vector<Vertex> columns;
  offsets.reserve(vertices.size() + 1);
  std::size_t most = 0;
  for (const Vertex v : vertices) most += neighbours(static_cast<std::size_t>(v)).size();
  columns.reserve(most);
  for (const Vertex v : vertices) {
    for (Vertex u : neighbours(static_cast<std::size_t>(v))) {
      if (const Vertex position = position_of(u); position >= 0) columns.push_back(position);
    }
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
    if (offsets.size() % kRowsPerPoll == 0) control.expired();
  }
  Graph result;
  result.n_ = vertices.size();
  result.has_bits_ = false;
  transpose(result.n_, offsets, columns, result.offsets_, result.neighbours_, [&] { control.expired(); });
  result.m_ = columns.size() / 2;
  return result;
}

Graph Graph::subgraph(std::span<const Vertex> vertices, const simd::Kernels& kernels, Control& control) const {
  constexpr std::size_t kFew = 64;
  const std::size_t count = vertices.size();
  if (!has_bits_) {  // those at the end that have no neighbours only need a row
    while (!vertices.empty() && neighbours(static_cast<std::size_t>(vertices.back())).empty()) {
      vertices = vertices.first(vertices.size() - 1);
    }
  }
  Graph result;
  if (!has_bits_ && vertices.size() < n_ / kFew) {
    // The subproblems of a large sparse graph are tiny: nothing may take time in proportion to n.
    std::vector<std::pair<Vertex, Vertex>> places;
    for (const Vertex v : vertices) places.emplace_back(v, static_cast<Vertex>(places.size()));
    std::sort(places.begin(), places.end());
    const auto position_of = [&](Vertex u) {
      const auto place = std::lower_bound(places.begin(), places.end(), std::pair(u, Vertex{0}));
      return place != places.end() && place->first == u ? place->second : Vertex{-1};
    };
    result = relabel_csr(vertices, position_of, control);
  } else {
    std::vector<Vertex> position(n_, -1);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      position[static_cast<std::size_t>(vertices[i])] = static_cast<Vertex>(i);
    }
    const auto position_of = [&](Vertex u) { return position[static_cast<std::size_t>(u)]; };
    result =
        has_bits_ ? relabel_bits(vertices, position, kernels, control) : relabel_csr(vertices, position_of, control);
  }
  if (!has_bits_) {
    result.offsets_.resize(count + 1, result.offsets_.back());
    result.n_ = count;
  }
  result.compact_ = compact_;
  result.to_preferred_form();
  return result;
}

Graph Graph::prefix(std::size_t k, const simd::Kernels& kernels, Control& control) const {
  if (!has_bits_) return prefix_of_csr(k, control);
  Graph result;
  result.allocate_bits(k);
  AlignedVector<Word> mask(result.stride_, 0);
  set_prefix(mask.data(), k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t w = 0; w < result.stride_; ++w) result.bits_[i * result.stride_ + w] = row(i)[w] & mask[w];
  }
  result.m_ = result.degree_sum(kernels) / 2;
  result.compact_ = compact_;
  result.to_preferred_form();
  return result;
}

std::size_t Graph::degree_sum(const simd::Kernels& kernels) const {
  std::vector<Vertex> degrees(n_);
  return kernels.count_rows(bits_.data(), stride_, n_, degrees.data());
}

Graph Graph::prefix_of_csr(std::size_t k, Control& control) const {
  Graph result;
  result.n_ = k;
  result.has_bits_ = false;
  result.offsets_.assign(1, 0);
  result.offsets_.reserve(k + 1);
  for (std::size_t v = 0; v < k; ++v) {
    if (v % kRowsPerPoll == 0) control.expired();
    const auto list = neighbours(v);
    const auto end = std::lower_bound(list.begin(), list.end(), static_cast<Vertex>(k));
    result.neighbours_.insert(result.neighbours_.end(), list.begin(), end);
    result.offsets_.push_back(static_cast<std::int64_t>(result.neighbours_.size()));
  }
  result.m_ = result.neighbours_.size() / 2;
  result.compact_ = compact_;
  result.to_preferred_form();
  return result;
}

Graph Graph::relabel_bits(std::span<const Vertex> vertices, const std::vector<Vertex>& position,
                          const simd::Kernels& kernels, Control& control) const {
  Graph result;
  result.allocate_bits(vertices.size());
  AlignedVector<Word> dropped(result.stride_);
  std::vector<Word*> row_of(n_);  // where the new row of an old vertex goes; dropped ones share a scratch row
  for (std::size_t v = 0; v < n_; ++v) {
    row_of[v] =
        position[v] < 0 ? dropped.data() : result.bits_.data() + static_cast<std::size_t>(position[v]) * result.stride_;
  }
  // A cache line of a row is eight words. In this order every line is read once, and the lines that are written (one
  // for each of 512 rows) stay in the first-level cache until they are full.
  alignas(64) Word block[kWordBits];
  const std::size_t words = (n_ + kWordBits - 1) / kWordBits;
  for (std::size_t line = 0; line < words; line += kRowAlignWords) {
    control.expired();
    for (std::size_t first = 0; first < vertices.size(); first += kWordBits) {
      const std::size_t count = std::min(kWordBits, vertices.size() - first);
      for (std::size_t w = line; w < std::min(line + kRowAlignWords, words); ++w) {
        // Row t: which of these vertices are neighbours of old vertex 64 w + t.
        kernels.gather_transposed(bits_.data(), stride_, vertices.data() + first, count, w, block);
        const std::size_t rows = std::min(kWordBits, n_ - w * kWordBits);
        for (std::size_t t = 0; t < rows; ++t) row_of[w * kWordBits + t][first / kWordBits] = block[t];
      }
    }
  }
  result.m_ = result.degree_sum(kernels) / 2;
  return result;
}

Graph Graph::compact() const {
  Graph result(*this);
  result.compact_ = true;
  result.to_preferred_form();
  return result;
}

Graph Graph::with_bits() && {
  if (!has_bits_) csr_to_bits();
  return std::move(*this);
}

Graph Graph::complement() const {
  Graph result;
  result.allocate_bits(n_);
  for (std::size_t v = 0; v < n_; ++v) {
    Word* out = result.bits_.data() + v * result.stride_;
    set_prefix(out, n_);
    clear_bit(out, v);
    if (has_bits_) {
      for (std::size_t w = 0; w < stride_; ++w) out[w] &= ~row(v)[w];
    } else {
      for (Vertex u : neighbours(v)) clear_bit(out, static_cast<std::size_t>(u));
    }
  }
  result.m_ = n_ * (n_ - (n_ > 0 ? 1 : 0)) / 2 - m_;
  result.to_preferred_form();
  return result;
}

bool Graph::operator==(const Graph& other) const {
  return n_ == other.n_ && m_ == other.m_ && bits_ == other.bits_ && offsets_ == other.offsets_ &&
         neighbours_ == other.neighbours_;
}

}  // namespace clipperplus::inline v0
