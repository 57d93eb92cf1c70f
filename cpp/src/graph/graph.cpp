#include "clipperplus/graph.h"

#include <algorithm>
#include <utility>

#include "simd/kernels.h"
#include "words.h"

namespace clipperplus::inline v0 {

namespace {

[[noreturn]] void refuse_vertex(const char* name, std::size_t v, std::size_t n) {
  if (n == 0) throw InvalidGraph(words_of(name, ": the graph has no vertex ", v));
  throw InvalidGraph(words_of(name, ": expected an integer from 0 to ", n - 1, ", got ", v));
}

}  // namespace

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

std::size_t Graph::degree_sum(const simd::Kernels& kernels) const {
  std::vector<Vertex> degrees(n_);
  return kernels.count_rows(bits_.data(), stride_, n_, degrees.data());
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

bool Graph::operator==(const Graph& other) const {
  return n_ == other.n_ && m_ == other.m_ && bits_ == other.bits_ && offsets_ == other.offsets_ &&
         neighbours_ == other.neighbours_;
}

}  // namespace clipperplus::inline v0
