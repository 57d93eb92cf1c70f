// Graphs from and to files: DIMACS ASCII and binary, MatrixMarket coordinate files and plain edge lists.
//
// Works on a buffer in memory; reading files is the caller's business. Parsers accept what they understand completely
// and throw TextError with the line or byte otherwise. Where a header says how many edges follow, the last line must
// end with a line feed: without it a file cut inside the last number would pass for another graph. O(bytes), and 8
// bytes an edge besides the graph. Files may name many more vertices than they have bytes; `limit` bounds the bytes
// that a graph and what it is made from may take, and is checked before any of it is reserved.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

struct TextError : std::invalid_argument {
  TextError(std::size_t line, const std::string& what)
      : std::invalid_argument("line " + std::to_string(line) + ": " + what) {}
  explicit TextError(const std::string& what) : std::invalid_argument(what) {}
};

// A graph that would take more than it may.
struct TextTooLarge : std::runtime_error {
  std::size_t bytes;

  explicit TextTooLarge(std::size_t needed) : std::runtime_error(std::to_string(needed)), bytes(needed) {}
};
inline constexpr std::size_t kNoTextLimit = static_cast<std::size_t>(-1);

// What the vertices of a file weigh: nothing is said, or one number each, finite and at least 0.
struct VertexWeights {
  std::vector<double> numbers;
  std::vector<std::int64_t> integers;  // the same, if all of them are
};

// "c" comments, one "p edge N M" (or "p col N M"), M lines "e i j" with vertices from 1, and "n i w" for each vertex or
// for none.
Graph parse_dimacs(std::string_view text);
Graph parse_dimacs(std::string_view text, VertexWeights& weights, std::size_t limit);

// A line with the length of a preamble, the preamble (DIMACS ASCII without edges), then row i of the lower triangle in
// i / 8 + 1 bytes, column 0 in the highest bit.
Graph parse_dimacs_binary(std::string_view text);
Graph parse_dimacs_binary(std::string_view text, VertexWeights& weights, std::size_t limit);
// `weights` are lines "n i w" for the preamble, or nothing.
std::string format_dimacs_binary(const Graph& graph, std::string_view weights = {});

// "%%MatrixMarket matrix coordinate pattern|integer|real symmetric|general", vertices from 1, values 0 or 1.
Graph parse_matrix_market(std::string_view text);
Graph parse_matrix_market(std::string_view text, std::size_t limit);

// Lines "i j" with vertices from 0; "#" and "%" start comments. A comment "# vertices N edges M" before the first edge
// fixes both numbers; without it N is the largest index plus one, and there must be an edge.
Graph parse_edge_list(std::string_view text);
Graph parse_edge_list(std::string_view text, std::size_t limit);

// One line per edge: prefix, two numbers counted from `base`, line feed. Edges are sorted by their lower vertex, then
// by the other; which of the two comes first in the line is `lower_first`.
std::string format_edges(const Graph& graph, std::string_view prefix, int base, bool lower_first);

}  // namespace clipperplus::inline v0
