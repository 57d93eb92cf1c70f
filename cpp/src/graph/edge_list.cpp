#include "graph/text_lines.h"

#include <algorithm>
#include <optional>

namespace clipperplus::inline v0 {

using namespace text;

namespace {

// Takes the two numbers from a comment "# vertices N edges M" of which the first token is read; other comments have
// none.
void read_edge_list_header(Lines& comment, std::optional<std::int64_t>& vertices, std::optional<std::int64_t>& edges) {
  const auto number = [](std::string_view word, std::int64_t& value) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return !word.empty() && error == std::errc() && end == word.data() + word.size() && value >= 0;
  };
  std::int64_t n = 0, m = 0;
  if (comment.token() != "vertices" || !number(comment.token(), n) || comment.token() != "edges" ||
      !number(comment.token(), m) || !comment.token().empty()) {
    return;
  }
  if (n > kMaxVertices) comment.fail(std::to_string(n) + " vertices are too many");
  vertices = n;
  edges = m;
}

}  // namespace

Graph parse_edge_list(std::string_view text) { return parse_edge_list(text, kNoTextLimit); }

Graph parse_edge_list(std::string_view text, std::size_t limit) {
  Edges result{limit};
  Lines lines(text);
  std::optional<std::int64_t> vertices, declared;
  while (lines.next()) {
    auto ahead = lines;
    const auto first = ahead.token();
    if (first.empty()) continue;
    if (first[0] == '#' || first[0] == '%') {
      if (!declared && result.pairs.empty()) read_edge_list_header(ahead, vertices, declared);
      continue;
    }
    read_edge(lines, 0, vertices.value_or(kMaxVertices), result);
    lines.end_of_line();
    refuse_loop(lines, 0, result);
  }
  if (declared) check_count(lines, *declared, result.count());
  if (!declared && result.pairs.empty()) {
    throw TextError(std::max<std::size_t>(lines.number(), 1), "no edges, and no comment '# vertices N edges M'");
  }
  const auto largest = std::max_element(result.pairs.begin(), result.pairs.end());
  result.num_vertices = vertices.value_or(largest == result.pairs.end() ? 0 : *largest + 1);
  return result.graph();
}

std::string format_edges(const Graph& graph, std::string_view prefix, int base, bool lower_first) {
  std::string text;
  text.reserve(graph.num_edges() * (prefix.size() + 12));
  char digits[24];
  const auto append = [&](std::size_t vertex) {
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, vertex + static_cast<std::size_t>(base));
    text.append(digits, end);
  };
  for_each_edge(graph, [&](std::size_t low, std::size_t high) {
    text.append(prefix);
    append(lower_first ? low : high);
    text.push_back(' ');
    append(lower_first ? high : low);
    text.push_back('\n');
  });
  return text;
}

}  // namespace clipperplus::inline v0
