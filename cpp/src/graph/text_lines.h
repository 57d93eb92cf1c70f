// What the parsers of graph files share: lines, words and numbers of a buffer, each error with its line.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph_text.h"

namespace clipperplus::inline v0::text {

inline constexpr std::int64_t kMaxVertices = Graph::kMaxVertices;
inline constexpr std::int64_t kMaxEdges = std::int64_t{1} << 40;

// What a file says: pairs of vertices from 0, in range and without loops, maybe twice.
struct Edges {
  std::size_t limit = kNoTextLimit;  // bytes that the graph may take
  std::int64_t num_vertices = 0;
  std::vector<Vertex> pairs{};

  std::size_t count() const { return pairs.size() / 2; }
  void add(Vertex v) {
    if (pairs.size() == pairs.capacity()) check(3 * pairs.capacity() * sizeof(Vertex));  // the old ones, and twice that
    pairs.push_back(v);
  }
  // Refuses what would take too much, with so many more bytes for each vertex. While it is made, a graph takes three
  // rows of offsets, the pairs of the file and two copies of them, or bits for at most twice that.
  void check_size(std::size_t more_a_vertex = 0) const {
    check(static_cast<std::size_t>(num_vertices) * (3 * sizeof(std::int64_t) + more_a_vertex) +
          pairs.capacity() * sizeof(Vertex) + 4 * count() * sizeof(Vertex));
  }
  void check(std::size_t bytes) const {
    if (bytes > limit) throw TextTooLarge(bytes);
  }
  Graph graph() const {
    check_size();
    return Graph::from_edges(static_cast<std::size_t>(num_vertices), EdgeView<Vertex>{pairs.data(), count(), 2, 1});
  }
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

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
inline void read_edge(Lines& lines, int base, std::int64_t n, Edges& edges) {
  for (int k = 0; k < 2; ++k) {
    const auto value = lines.integer("a vertex number");
    if (value < base || value >= n + base) {
      if (n == kMaxVertices && value >= base) lines.fail("vertex " + std::to_string(value) + " is too large");
      lines.fail("vertex " + std::to_string(value) + " is not in " + std::to_string(base) + " … " +
                 std::to_string(n + base - 1) + " (the graph has " + std::to_string(n) + " vertices)");
    }
    edges.add(static_cast<Vertex>(value - base));
  }
}

inline void refuse_loop(const Lines& lines, int base, const Edges& edges) {
  const auto u = edges.pairs[edges.pairs.size() - 2], v = edges.pairs.back();
  if (u == v) lines.fail("self-loop at vertex " + std::to_string(u + base));
}

inline void check_count(const Lines& lines, std::int64_t declared, std::size_t found) {
  if (!lines.complete()) lines.fail("the file ends inside this line (no line feed)");
  if (static_cast<std::size_t>(declared) != found) {
    throw TextError(lines.number(), "the header promises " + std::to_string(declared) + " edges, the file holds " +
                                        std::to_string(found));
  }
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

}  // namespace clipperplus::inline v0::text
