#include "ascent/edge_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace clipperplus::inline v0 {

namespace {

constexpr double kAsymmetry = 1e-9;  // entries that should be equal may have been computed one by one
constexpr std::size_t kRowsPerPoll = 1024;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string entry(std::size_t row, std::size_t column) {
  return "entry (" + std::to_string(row) + ", " + std::to_string(column) + ")";
}

[[noreturn]] void refuse_lonely(std::size_t row, std::size_t column) {
  throw InvalidWeights("not symmetric: " + entry(row, column) + " is positive, " + entry(column, row) + " is 0");
}

}  // namespace

EdgeWeights::EdgeWeights(const Graph& graph, std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours,
                         std::vector<double> weights, Control& control)
    : offsets_(std::move(offsets)), neighbours_(std::move(neighbours)), weights_(std::move(weights)) {
  const std::size_t n = graph.num_vertices();
  check_shape(n);
  // Entry (v, u) with u > v meets its mirror image at the cursor of row u: rows are sorted and visited in order.
  std::vector<std::int64_t> cursor(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t v = 0; v < n; ++v) {
    if (v % kRowsPerPoll == 0) control.expired();
    for (auto e = offsets_[v]; e < offsets_[v + 1]; ++e) {
      const auto place = static_cast<std::size_t>(e);
      check_entry(graph, v, place);
      const auto u = static_cast<std::size_t>(neighbours_[place]);
      if (u < v) {
        if (e >= cursor[v]) refuse_lonely(v, u);
        continue;
      }
      const auto mirror = static_cast<std::size_t>(cursor[u]);
      if (cursor[u] == offsets_[u + 1] || static_cast<std::size_t>(neighbours_[mirror]) > v) refuse_lonely(v, u);
      if (static_cast<std::size_t>(neighbours_[mirror]) < v) {
        refuse_lonely(u, static_cast<std::size_t>(neighbours_[mirror]));
      }
      if (!(std::abs(weights_[place] - weights_[mirror]) <= kAsymmetry)) {
        throw InvalidWeights("not symmetric: " + entry(v, u) + " is " + number(weights_[place]) + " and " +
                             entry(u, v) + " is " + number(weights_[mirror]));
      }
      ++cursor[u];
    }
  }
}

void EdgeWeights::check_shape(std::size_t n) const {
  const auto outside = [n](Vertex v) { return v < 0 || static_cast<std::size_t>(v) >= n; };
  if (offsets_.size() != n + 1 || offsets_.front() != 0 ||
      offsets_.back() != static_cast<std::int64_t>(neighbours_.size()) || weights_.size() != neighbours_.size() ||
      !std::is_sorted(offsets_.begin(), offsets_.end()) ||
      std::any_of(neighbours_.begin(), neighbours_.end(), outside)) {
    throw InvalidWeights("these are not the rows of a square matrix");
  }
}

void EdgeWeights::check_entry(const Graph& graph, std::size_t row, std::size_t place) const {
  const auto column = static_cast<std::size_t>(neighbours_[place]);
  const bool first = place == static_cast<std::size_t>(offsets_[row]);
  if (column == row || (!first && neighbours_[place - 1] >= neighbours_[place])) {
    throw InvalidWeights("these are not sorted rows without a diagonal");
  }
  if (!(weights_[place] >= 0.0 && weights_[place] <= 1.0)) {
    throw InvalidWeights(entry(row, column) + " is " + number(weights_[place]) + "; expected a number from 0 to 1");
  }
  if (!(graph.has_bits() ? test_bit(graph.row(row), column) : graph.has_edge(row, column))) {
    throw InvalidWeights(entry(row, column) +
                         " is positive, but the graph has no such edge; expected zeros where two vertices are not "
                         "joined");
  }
}

EdgeWeights EdgeWeights::part(const Graph& graph, std::span<const Vertex> vertices, Control& control) const {
  constexpr Vertex kOutside = -1;
  const std::size_t k = vertices.size();
  std::vector<Vertex> label(num_vertices(), kOutside);
  for (std::size_t i = 0; i < k; ++i) label[static_cast<std::size_t>(vertices[i])] = static_cast<Vertex>(i);
  EdgeWeights result;
  result.offsets_.reserve(k + 1);
  result.offsets_.push_back(0);
  result.neighbours_.reserve(2 * graph.num_edges());
  result.weights_.reserve(2 * graph.num_edges());
  for (std::size_t i = 0; i < k; ++i) {
    if (i % kRowsPerPoll == 0) control.expired();
    for_each_entry(static_cast<std::size_t>(vertices[i]), [&](std::size_t u, double weight) {
      if (label[u] == kOutside || !graph.has_edge(i, static_cast<std::size_t>(label[u]))) return;
      result.neighbours_.push_back(label[u]);
      result.weights_.push_back(weight);
    });
    result.offsets_.push_back(static_cast<std::int64_t>(result.neighbours_.size()));
  }
  return result;
}

double EdgeWeights::value_of(std::span<const std::int64_t> clique) const {
  if (clique.empty()) return 0.0;
  std::vector<bool> member(num_vertices(), false);
  for (const auto v : clique) member[static_cast<std::size_t>(v)] = true;
  double total = 0.0;
  for (const auto v : clique) {
    for_each_entry(static_cast<std::size_t>(v), [&](std::size_t u, double weight) {
      if (member[u]) total += weight;
    });
  }
  return 1.0 + total / static_cast<double>(clique.size());
}

bool are_tidy_rows(std::span<const std::int64_t> offsets, std::span<const Vertex> columns,
                   std::span<const double> values) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(columns.size()) ||
      columns.size() != values.size() || !std::is_sorted(offsets.begin(), offsets.end())) {
    return false;
  }
  const std::size_t n = offsets.size() - 1;
  for (std::size_t v = 0; v < n; ++v) {
    std::int64_t before = -1;
    for (auto e = static_cast<std::size_t>(offsets[v]); e < static_cast<std::size_t>(offsets[v + 1]); ++e) {
      const std::int64_t u = columns[e];
      if (u <= before || u == static_cast<std::int64_t>(v) || values[e] == 0.0) return false;
      before = u;
    }
    if (before >= static_cast<std::int64_t>(n)) return false;
  }
  return true;
}

void EdgeWeights::multiply(const double* u, double* product, Control& control) const {
  const std::size_t n = num_vertices();
  std::copy_n(u, n, product);
  for (std::size_t v = 0; v < n; ++v) {
    if (v % kRowsPerPoll == 0) control.expired();
    if (u[v] == 0.0) continue;
    for (auto e = offsets_[v]; e < offsets_[v + 1]; ++e) {
      const auto place = static_cast<std::size_t>(e);
      product[static_cast<std::size_t>(neighbours_[place])] += weights_[place] * u[v];
    }
  }
}

}  // namespace clipperplus::inline v0
