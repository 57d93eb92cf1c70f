#include "graph/text_lines.h"

#include <algorithm>
#include <locale>
#include <optional>
#include <sstream>
#include <utility>

namespace clipperplus::inline v0 {

using namespace text;

namespace {

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

// Whether a word is the number `wanted`; read in the classic locale, whatever the program's is.
bool is_zero_or_one(std::string_view word, double wanted) {
  if (word == (wanted == 0.0 ? "0" : "1")) return true;
  std::istringstream stream{std::string(word)};
  stream.imbue(std::locale::classic());
  double value = -1.0;
  return stream >> value && stream.peek() == std::istringstream::traits_type::eof() && value == wanted;
}

}  // namespace

Graph parse_matrix_market(std::string_view text) { return parse_matrix_market(text, kNoTextLimit); }

Graph parse_matrix_market(std::string_view text, std::size_t limit) {
  Edges result{limit};
  Lines lines(text);
  if (!lines.next() || lower(lines.token()) != "%%matrixmarket") {
    throw TextError(1, "the first line must start with %%MatrixMarket");
  }
  if (const auto word = lower(lines.token()); word != "matrix") lines.fail("expected 'matrix'" + Lines::got(word));
  if (const auto word = lower(lines.token()); word != "coordinate") {
    lines.fail("only coordinate matrices are read" + Lines::got(word));
  }
  const auto field = lower(lines.token());
  if (field != "pattern" && field != "integer" && field != "real") {
    lines.fail("expected pattern, integer or real" + Lines::got(field));
  }
  const auto symmetry = lower(lines.token());
  if (symmetry != "symmetric" && symmetry != "general") {
    lines.fail("expected symmetric or general" + Lines::got(symmetry));
  }
  lines.end_of_line();

  std::optional<std::int64_t> declared;
  std::int64_t entries = 0;
  std::vector<std::size_t> edge_lines;
  while (lines.next()) {
    auto ahead = lines;
    const auto first = ahead.token();
    if (first.empty() || first[0] == '%') continue;
    if (!declared) {
      result.num_vertices = lines.count("the number of rows", kMaxVertices);
      const auto columns = lines.integer("the number of columns");
      if (columns != result.num_vertices) {
        lines.fail("an adjacency matrix is square, this one is " + std::to_string(result.num_vertices) + " × " +
                   std::to_string(columns));
      }
      declared = lines.count("the number of entries", kMaxEdges);
      lines.end_of_line();
      continue;
    }
    ++entries;
    read_edge(lines, 1, result.num_vertices, result);
    bool edge = true;
    if (field != "pattern") {
      const auto word = lines.token();
      edge = is_zero_or_one(word, 1.0);
      if (!edge && !is_zero_or_one(word, 0.0)) lines.fail("an adjacency matrix holds 0 and 1" + Lines::got(word));
    }
    lines.end_of_line();
    if (edge) {
      refuse_loop(lines, 1, result);
      edge_lines.push_back(lines.number());
    } else {
      result.pairs.resize(result.pairs.size() - 2);
    }
  }
  if (!declared) throw TextError(std::max<std::size_t>(lines.number(), 1), "no line with the matrix size");
  check_count(lines, *declared, static_cast<std::size_t>(entries));
  if (symmetry == "general") {
    std::vector<std::pair<Vertex, Vertex>> sorted;
    for (std::size_t k = 0; k < result.pairs.size(); k += 2) sorted.emplace_back(result.pairs[k], result.pairs[k + 1]);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t k = 0; k < result.pairs.size(); k += 2) {
      const auto u = result.pairs[k], v = result.pairs[k + 1];
      if (!std::binary_search(sorted.begin(), sorted.end(), std::pair{v, u})) {
        throw TextError(edge_lines[k / 2], "the matrix is not symmetric: entry (" + std::to_string(u + 1) + ", " +
                                               std::to_string(v + 1) + ") has no counterpart");
      }
    }
  }
  return result.graph();
}

}  // namespace clipperplus::inline v0
