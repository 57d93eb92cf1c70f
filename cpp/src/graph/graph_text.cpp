#include "graph/graph_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <locale>
#include <optional>
#include <sstream>
#include <vector>

namespace clipperplus {

namespace {

constexpr std::int64_t kMaxVertices = Graph::kMaxVertices;
constexpr std::int64_t kMaxEdges = std::int64_t{1} << 40;

// What a file says: pairs of vertices from 0, in range and without loops, maybe twice.
struct Edges {
  std::int64_t num_vertices = 0;
  std::vector<Vertex> pairs;

  std::size_t count() const { return pairs.size() / 2; }
  Graph graph() const {
    return Graph::from_edges<Vertex>(static_cast<std::size_t>(num_vertices), {pairs.data(), count(), 2, 1});
  }
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Walks a buffer line by line and, inside a line, token by token.
class Lines {
 public:
  // `before`: lines of the file that are not part of `text`.
  explicit Lines(std::string_view text, std::size_t before = 0) : rest_(text), number_(before) {}

  bool next() {
    if (rest_.empty()) return false;
    const auto end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
    ++number_;
    complete_ = end != std::string_view::npos;
    const auto carriage_return = line_.find('\r');
    if (carriage_return < line_.size() && carriage_return + 1 != line_.size()) fail("carriage return inside the line");
    return true;
  }

  // Whether the last line read ended with a line feed.
  bool complete() const { return complete_; }

  // The next token of the line; empty at its end.
  std::string_view token() {
    std::size_t begin = 0;
    while (begin < line_.size() && is_blank(line_[begin])) ++begin;
    std::size_t end = begin;
    while (end < line_.size() && !is_blank(line_[end])) ++end;
    const auto found = line_.substr(begin, end - begin);
    line_ = line_.substr(end);
    return found;
  }

  std::int64_t integer(const char* what) {
    const auto word = token();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty()) fail(std::string("expected ") + what + ", the line ends");
    if (error != std::errc() || end != word.data() + word.size()) fail(std::string("expected ") + what + got(word));
    return value;
  }

  std::int64_t count(const char* what, std::int64_t limit) {
    const auto value = integer(what);
    if (value < 0 || value > limit) {
      fail(std::string(what) + " must be from 0 to " + std::to_string(limit) + ", got " + std::to_string(value));
    }
    return value;
  }

  void end_of_line() {
    if (const auto word = token(); !word.empty()) fail("expected the end of the line" + got(word));
  }

  [[noreturn]] void fail(const std::string& what) const { throw TextError(number_, what); }
  // The offending word for a message: short, and in ASCII whatever the file holds.
  static std::string got(std::string_view word) {
    std::string shown(word.substr(0, 40));
    for (char& c : shown) c = c >= ' ' && c <= '~' ? c : '?';
    return ", got '" + shown + "'";
  }
  std::size_t number() const { return number_; }

 private:
  std::string_view rest_, line_;
  std::size_t number_;
  bool complete_ = true;
};

// Reads "i j", counted from `base`, and checks it against n vertices.
void read_edge(Lines& lines, int base, std::int64_t n, Edges& edges) {
  for (int k = 0; k < 2; ++k) {
    const auto value = lines.integer("a vertex number");
    if (value < base || value >= n + base) {
      if (n == kMaxVertices && value >= base) lines.fail("vertex " + std::to_string(value) + " is too large");
      lines.fail("vertex " + std::to_string(value) + " is not in " + std::to_string(base) + " … " +
                 std::to_string(n + base - 1) + " (the graph has " + std::to_string(n) + " vertices)");
    }
    edges.pairs.push_back(static_cast<Vertex>(value - base));
  }
}

void refuse_loop(const Lines& lines, int base, const Edges& edges) {
  const auto u = edges.pairs[edges.pairs.size() - 2], v = edges.pairs.back();
  if (u == v) lines.fail("self-loop at vertex " + std::to_string(u + base));
}

void check_count(const Lines& lines, std::int64_t declared, std::size_t found) {
  if (!lines.complete()) lines.fail("the file ends inside this line (no line feed)");
  if (static_cast<std::size_t>(declared) != found) {
    throw TextError(lines.number(), "the header promises " + std::to_string(declared) + " edges, the file holds " +
                                        std::to_string(found));
  }
}

std::string lower(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

// Reads the lines of a DIMACS file, with its edges or (in the preamble of a binary file) without any; returns the
// number of edges that the header promises.
std::int64_t read_dimacs(Lines& lines, bool with_edges, Edges& result) {
  std::optional<std::int64_t> declared;
  while (lines.next()) {
    const auto kind = lines.token();
    if (kind.empty() || kind[0] == 'c') continue;
    if (kind == "p") {
      if (declared) lines.fail("a second 'p' line");
      const auto format = lines.token();
      if (format != "edge" && format != "col") lines.fail("expected 'p edge' or 'p col'" + Lines::got(format));
      result.num_vertices = lines.count("the number of vertices", kMaxVertices);
      declared = lines.count("the number of edges", kMaxEdges);
      lines.end_of_line();
    } else if (kind == "e" && with_edges) {
      if (!declared) lines.fail("an 'e' line before the 'p' line");
      read_edge(lines, 1, result.num_vertices, result);
      lines.end_of_line();
      refuse_loop(lines, 1, result);
    } else {
      lines.fail("expected a line that starts with c, p or e" + Lines::got(kind));
    }
  }
  if (!declared) throw TextError(std::max<std::size_t>(lines.number(), 1), "no 'p edge N M' line");
  return *declared;
}

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

// Whether a word is the number `wanted`; read in the classic locale, whatever the program's is.
bool is_zero_or_one(std::string_view word, double wanted) {
  if (word == (wanted == 0.0 ? "0" : "1")) return true;
  std::istringstream stream{std::string(word)};
  stream.imbue(std::locale::classic());
  double value = -1.0;
  return stream >> value && stream.peek() == std::istringstream::traits_type::eof() && value == wanted;
}

// Calls visit(low, high) for every edge, sorted.
template <class Visit>
void for_each_edge(const Graph& graph, Visit visit) {
  for (std::size_t low = 0; low < graph.num_vertices(); ++low) {
    graph.for_each_neighbour(low, [&](Vertex high) {
      if (static_cast<std::size_t>(high) > low) visit(low, static_cast<std::size_t>(high));
    });
  }
}

// Bytes before row i of a packed lower triangle: the sum of k / 8 + 1 over k < i.
std::size_t row_start(std::size_t i) {
  const std::size_t full = i / 8, rest = i % 8;
  return i + (full == 0 ? 0 : 4 * full * (full - 1)) + full * rest;
}

}  // namespace

Graph parse_dimacs(std::string_view text) {
  Edges result;
  Lines lines(text);
  const auto declared = read_dimacs(lines, true, result);
  check_count(lines, declared, result.count());
  return result.graph();
}

Graph parse_dimacs_binary(std::string_view text) {
  const std::size_t first_line = text.find('\n');
  std::size_t length = 0;
  const char* end = text.data() + std::min(first_line, text.size());
  const auto [parsed, error] = std::from_chars(text.data(), end, length);
  if (first_line == std::string_view::npos || error != std::errc() ||
      std::any_of(parsed, end, [](char c) { return !is_blank(c); })) {
    throw TextError(1, "expected the length of the preamble; not a DIMACS binary file");
  }
  const std::string_view rest = text.substr(first_line + 1);
  if (length > rest.size()) {
    throw TextError(1, "the preamble should have " + std::to_string(length) + " bytes, the file has " +
                           std::to_string(rest.size()) + " more");
  }
  Edges result;
  Lines lines(rest.substr(0, length), 1);
  const auto declared = read_dimacs(lines, false, result);

  const auto n = static_cast<std::size_t>(result.num_vertices);
  const std::string_view rows = rest.substr(length);
  const std::size_t origin = first_line + 1 + length;
  if (rows.size() != row_start(n)) {
    throw TextError("byte " + std::to_string(origin) + ": " + std::to_string(n) + " vertices need " +
                    std::to_string(row_start(n)) + " bytes of rows, the file has " + std::to_string(rows.size()));
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t at = row_start(i); at < row_start(i + 1); ++at) {
      for (auto bits = static_cast<unsigned char>(rows[at]); bits != 0;) {
        const auto place = static_cast<std::size_t>(std::countl_zero(bits));
        const std::size_t j = 8 * (at - row_start(i)) + place;
        if (j >= i) {
          throw TextError("byte " + std::to_string(origin + at) + ": row " + std::to_string(i + 1) + " has bit " +
                          std::to_string(j + 1) + " set, on or above the diagonal");
        }
        result.pairs.insert(result.pairs.end(), {static_cast<Vertex>(i), static_cast<Vertex>(j)});
        bits = static_cast<unsigned char>(bits & ~(0x80U >> place));
      }
    }
  }
  if (static_cast<std::size_t>(declared) != result.count()) {
    throw TextError(1, "the preamble promises " + std::to_string(declared) + " edges, the rows hold " +
                           std::to_string(result.count()));
  }
  return result.graph();
}

std::string format_dimacs_binary(const Graph& graph) {
  const std::size_t n = graph.num_vertices();
  const std::string preamble = "p edge " + std::to_string(n) + " " + std::to_string(graph.num_edges()) + "\n";
  std::string text = std::to_string(preamble.size()) + "\n" + preamble;
  const std::size_t origin = text.size();
  text.resize(origin + row_start(n), '\0');
  for_each_edge(graph, [&](std::size_t low, std::size_t high) {
    char& byte = text[origin + row_start(high) + low / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 0x80U >> (low % 8));
  });
  return text;
}

Graph parse_matrix_market(std::string_view text) {
  Edges result;
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

Graph parse_edge_list(std::string_view text) {
  Edges result;
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

}  // namespace clipperplus
