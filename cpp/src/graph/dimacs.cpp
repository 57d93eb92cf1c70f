#include "graph/text_lines.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "words.h"

namespace clipperplus::inline v0 {

using namespace text;

namespace {

// The weights of vertices, as lines of a file say them.
class WeightLines {
 public:
  // Reads the rest of a line "n i w".
  void read(Lines& lines, const Edges& edges) {
    const std::int64_t n = edges.num_vertices;
    const auto v = lines.integer("a vertex number");
    if (v < 1 || v > n) {
      lines.fail("vertex " + std::to_string(v) + " is not in 1 … " + std::to_string(n) + " (the graph has " +
                 std::to_string(n) + " vertices)");
    }
    const auto k = static_cast<std::size_t>(v - 1);
    if (said_.empty()) {
      edges.check_size(sizeof(double) + sizeof(std::int64_t) + 1);
      said_.resize(static_cast<std::size_t>(n));
      weights_.numbers.resize(said_.size());
      weights_.integers.resize(said_.size());
    }
    if (said_[k]) lines.fail("a second weight for vertex " + std::to_string(v));
    said_[k] = true;
    const auto word = lines.token();
    if (word.empty()) lines.fail("expected a weight, the line ends");
    const char* const end = word.data() + word.size();
    const auto whole = std::from_chars(word.data(), end, weights_.integers[k]);
    const bool is_integer = whole.ec == std::errc() && whole.ptr == end;
    const double number = is_integer ? static_cast<double>(weights_.integers[k]) : number_of(word);
    if (!std::isfinite(number) || number < 0.0 || word[0] == '-') {
      lines.fail("expected a weight, finite and at least 0" + Lines::got(word));
    }
    weights_.numbers[k] = number;
    integers_ = integers_ && is_integer;
    lines.end_of_line();
  }

  // All of them, or none; `lines` are those of the file.
  VertexWeights take(const Lines& lines) && {
    const auto silent = std::find(said_.begin(), said_.end(), false);
    if (silent != said_.end()) {
      throw TextError(lines.number(), "vertex " + std::to_string(silent - said_.begin() + 1) +
                                          " has no weight, unlike others: expected a line 'n' for each, or none");
    }
    if (!integers_) weights_.integers.clear();
    return std::move(weights_);
  }

 private:
  VertexWeights weights_;
  std::vector<bool> said_;
  bool integers_ = true;
};

// Reads the lines of a DIMACS file, with its edges or (in the preamble of a binary file) without any; returns the
// number of edges that the header promises.
std::int64_t read_dimacs(Lines& lines, bool with_edges, Edges& result, VertexWeights& weights) {
  std::optional<std::int64_t> declared;
  WeightLines weighing;
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
    } else if (kind == "n") {
      if (!declared) lines.fail("an 'n' line before the 'p' line");
      weighing.read(lines, result);
    } else {
      lines.fail(std::string("expected a line that starts with c, p") + (with_edges ? ", n or e" : " or n") +
                 Lines::got(kind));
    }
  }
  if (!declared) throw TextError(std::max<std::size_t>(lines.number(), 1), "no 'p edge N M' line");
  weights = std::move(weighing).take(lines);
  return *declared;
}

// Bytes before row i of a packed lower triangle: the sum of k / 8 + 1 over k < i.
std::size_t row_start(std::size_t i) {
  const std::size_t full = i / 8, rest = i % 8;
  return i + (full == 0 ? 0 : 4 * full * (full - 1)) + full * rest;
}

}  // namespace

Graph parse_dimacs(std::string_view text) {
  VertexWeights weights;
  return parse_dimacs(text, weights, kNoTextLimit);
}

Graph parse_dimacs(std::string_view text, VertexWeights& weights, std::size_t limit) {
  Edges result{limit};
  Lines lines(text);
  const auto declared = read_dimacs(lines, true, result, weights);
  check_count(lines, declared, result.count());
  return result.graph();
}

Graph parse_dimacs_binary(std::string_view text) {
  VertexWeights weights;
  return parse_dimacs_binary(text, weights, kNoTextLimit);
}

Graph parse_dimacs_binary(std::string_view text, VertexWeights& weights, std::size_t limit) {
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
  Edges result{limit};
  Lines lines(rest.substr(0, length), 1);
  const auto declared = read_dimacs(lines, false, result, weights);

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
        result.add(static_cast<Vertex>(i));
        result.add(static_cast<Vertex>(j));
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

std::string format_dimacs_binary(const Graph& graph, std::string_view weights) {
  const std::size_t n = graph.num_vertices();
  std::string preamble = "p edge " + std::to_string(n) + " " + std::to_string(graph.num_edges()) + "\n";
  preamble += weights;
  std::string text = std::to_string(preamble.size()) + "\n" + preamble;
  const std::size_t origin = text.size();
  text.resize(origin + row_start(n), '\0');
  for_each_edge(graph, [&](std::size_t low, std::size_t high) {
    char& byte = text[origin + row_start(high) + low / 8];
    byte = static_cast<char>(static_cast<unsigned char>(byte) | 0x80U >> (low % 8));
  });
  return text;
}

}  // namespace clipperplus::inline v0
