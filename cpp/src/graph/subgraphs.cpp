// Graphs from a graph: on some of its vertices, in another order, or with the other edges.
#include <algorithm>
#include <utility>

#include "clipperplus/graph.h"
#include "graph/rows.h"
#include "simd/kernels.h"
#include "words.h"

namespace clipperplus::inline v0 {

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

Graph Graph::complement() const {
  constexpr std::size_t kMostBytes = std::size_t{4} << 30;  // as in Python
  if (n_ * n_ / 8 > kMostBytes) {
    const std::string gibibytes = fixed_text(static_cast<double>(n_) * static_cast<double>(n_) / 0x1p33, 0);
    throw InvalidGraph(
        words_of("the complement of a sparse graph of ", n_, " vertices would take ", gibibytes, " GiB"));
  }
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

}  // namespace clipperplus::inline v0
