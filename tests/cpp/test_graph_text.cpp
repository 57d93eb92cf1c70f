// Parsers take what they understand and name the line of what they do not; mutated files never break them.
#include "graph/graph_text.h"

#include <initializer_list>
#include <optional>

#include "random_graphs.h"

using namespace clipperplus;
using namespace std::string_literals;

namespace {

std::string as_edge_list(const Graph& graph) {
  return "# vertices " + std::to_string(graph.num_vertices()) + " edges " + std::to_string(graph.num_edges()) + "\n" +
         format_edges(graph, "", 0, true);
}

template <Graph (*parse)(std::string_view)>
std::string refusal(std::string_view text) {
  return message_of<TextError>([&] { parse(text); });
}

}  // namespace

TEST_CASE("good files are read") {
  CHECK(parse_dimacs("c hello\np edge 4 2\ne 1 2\r\n\ne 4 3\n") == make_graph(4, {0, 1, 3, 2}));
  CHECK(parse_dimacs("p col 3 2\ne 1 2\ne 2 1\n") == make_graph(3, {0, 1}));  // twice the same
  CHECK(parse_matrix_market("%%MatrixMarket matrix coordinate integer general\n% c\n3 3 5\n1 2 1\n2 1 1\n3 1 0\n"
                            "2 3 1\n3 2 1\n") == make_graph(3, {0, 1, 1, 2}));
  CHECK(parse_matrix_market("%%MatrixMarket MATRIX coordinate Real symmetric\n3 3 2\n2 1 1.0\n3 1 0e0\n") ==
        make_graph(3, {0, 1}));
  CHECK(parse_edge_list("# any\n0 5\n2 1") == make_graph(6, {0, 5, 2, 1}));
  CHECK(parse_edge_list("# vertices 9 edges 0\n") == make_graph(9, {}));
  CHECK(parse_edge_list("# vertices are counted from 0\n3 4\n") == make_graph(5, {3, 4}));
  CHECK(parse_dimacs_binary("11\np edge 3 3\n\x00\x80\xC0"s) == make_graph(3, {0, 1, 0, 2, 1, 2}));
}

TEST_CASE("edges are written in order, with either vertex first") {
  const auto graph = make_graph(11, {10, 2, 1, 0, 9, 2});
  CHECK(format_edges(graph, "e ", 1, true) == "e 1 2\ne 3 10\ne 3 11\n");
  CHECK(format_edges(graph, "", 0, false) == "1 0\n9 2\n10 2\n");
  CHECK(format_edges(make_graph(4, {}), "e ", 1, true).empty());
  CHECK(format_dimacs_binary(make_graph(3, {2, 1, 0, 1})) == "11\np edge 3 2\n\x00\x80\x40"s);
}

TEST_CASE("what is written is read again as the same graph") {
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{9}, std::size_t{100}}) {
    for (const double density : {0.0, 0.3, 1.0}) {
      CAPTURE(n);
      CAPTURE(density);
      const auto graph = random_graph(n, density, 7);
      const std::string vertices = std::to_string(n), edges = std::to_string(graph.num_edges());
      for (const bool lower_first : {true, false}) {
        CHECK(parse_dimacs("p edge " + vertices + " " + edges + "\n" + format_edges(graph, "e ", 1, lower_first)) ==
              graph);
        CHECK(parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n" + vertices + " " + vertices +
                                  " " + edges + "\n" + format_edges(graph, "", 1, lower_first)) == graph);
      }
      CHECK(parse_edge_list(as_edge_list(graph)) == graph);
      CHECK(parse_dimacs_binary(format_dimacs_binary(graph)) == graph);
    }
  }
  const auto sparse = random_graph(6000, 0.0005, 8);
  REQUIRE(!sparse.has_bits());
  CHECK(parse_edge_list(as_edge_list(sparse)) == sparse);
  CHECK(parse_dimacs_binary(format_dimacs_binary(sparse)) == sparse);
}

TEST_CASE("bad files are refused with the line") {
  CHECK(refusal<parse_dimacs>("p edge 2 1\ne 1 3\n") == "line 2: vertex 3 is not in 1 … 2 (the graph has 2 vertices)");
  CHECK(refusal<parse_dimacs>("p edge 3 2\ne 1 3\n") == "line 2: the header promises 2 edges, the file holds 1");
  CHECK(refusal<parse_dimacs>("p edge 3 1\ne 1\n") == "line 2: expected a vertex number, the line ends");
  CHECK(refusal<parse_dimacs>("e 1 2\n") == "line 1: an 'e' line before the 'p' line");
  CHECK(refusal<parse_dimacs>("") == "line 1: no 'p edge N M' line");
  CHECK(refusal<parse_dimacs>("p edge 3 1\ne 1 1\n") == "line 2: self-loop at vertex 1");
  CHECK(refusal<parse_dimacs>("p edge 99999999999 1\n").starts_with("line 1: the number of vertices must be"));
  CHECK(refusal<parse_dimacs>("p edge 12 1\ne 1 1") == "line 2: self-loop at vertex 1");
  CHECK(refusal<parse_dimacs>("p edge 12 1\ne 1 2") == "line 2: the file ends inside this line (no line feed)");
  CHECK(refusal<parse_dimacs>("c x\rp edge 2 0\r") == "line 1: carriage return inside the line");
  CHECK(refusal<parse_edge_list>("# c\r0 1\r1 2\r") == "line 1: carriage return inside the line");
  CHECK(refusal<parse_edge_list>("") == "line 1: no edges, and no comment '# vertices N edges M'");
  CHECK(refusal<parse_matrix_market>("1 2\n") == "line 1: the first line must start with %%MatrixMarket");
  const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";
  CHECK(refusal<parse_matrix_market>(general + "2 2 1\n1 2\n") ==
        "line 3: the matrix is not symmetric: entry (1, 2) has no counterpart");
  CHECK(refusal<parse_matrix_market>(general + "2 3 1\n1 2\n").starts_with("line 2: an adjacency matrix is square"));
  CHECK(refusal<parse_matrix_market>("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 0.5\n") ==
        "line 3: an adjacency matrix holds 0 and 1, got '0.5'");
  CHECK(refusal<parse_edge_list>("0 1\n1 2 0.5\n") == "line 2: expected the end of the line, got '0.5'");
  CHECK(refusal<parse_edge_list>("0 \x80\n") == "line 1: expected a vertex number, got '?'");
  CHECK(refusal<parse_edge_list>("0 x\n") == "line 1: expected a vertex number, got 'x'");
  CHECK(refusal<parse_edge_list>("# vertices 2 edges 1\n0 2\n").starts_with("line 2: vertex 2 is not in 0 … 1"));
}

TEST_CASE("bad binary files are refused with the line or the byte") {
  const std::string start = "11\np edge 2 1\n";
  CHECK(refusal<parse_dimacs_binary>("x\n") == "line 1: expected the length of the preamble; not a DIMACS binary file");
  CHECK(refusal<parse_dimacs_binary>("15\np edge 2 1\np e\n") == "line 3: a second 'p' line");
  CHECK(refusal<parse_dimacs_binary>("99\np edge 2 1\n") ==
        "line 1: the preamble should have 99 bytes, the file has 11 more");
  CHECK(refusal<parse_dimacs_binary>(start + "\x00"s) == "byte 14: 2 vertices need 2 bytes of rows, the file has 1");
  CHECK(refusal<parse_dimacs_binary>(start + "\x00\x40"s) == "byte 15: row 2 has bit 2 set, on or above the diagonal");
  CHECK(refusal<parse_dimacs_binary>(start + "\x00\x00"s) == "line 1: the preamble promises 1 edges, the rows hold 0");
}

TEST_CASE("mutated files are read as graphs or refused") {
  const std::string seeds[] = {
      format_dimacs_binary(make_graph(12, {0, 1, 10, 11, 2, 3})),
      "c x\np edge 12 3\ne 1 2\ne 11 12\ne 3 4\n",
      "%%MatrixMarket matrix coordinate real symmetric\n12 12 2\n2 1 1\n12 11 1.0\n",
      "# vertices 12 edges 2\n0 1\n10 11\n",
  };
  std::mt19937 random(17);
  std::size_t read = 0, refused = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text = seeds[round % 4];
    for (unsigned k = 0; k < 1 + random() % 4; ++k) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        case 2:
          text.insert(at, 1, "0123456789 \n-ep%#"[random() % 17]);
          break;
        default:
          text.resize(at);
          break;
      }
      if (text.empty()) text.assign(1, '\n');
    }
    for (auto* parse : std::initializer_list<Graph (*)(std::string_view)>{parse_dimacs, parse_dimacs_binary,
                                                                          parse_matrix_market, parse_edge_list}) {
      std::optional<Graph> graph;
      try {
        graph = parse(text);
      } catch (const TextError&) {
        ++refused;
        continue;
      }
      ++read;
      std::size_t directions = 0, wrong = 0;
      for (std::size_t v = 0; v < graph->num_vertices(); ++v) {
        graph->for_each_neighbour(v, [&](Vertex u) {
          ++directions;
          const auto other = static_cast<std::size_t>(u);
          if (u < 0 || other >= graph->num_vertices() || other == v || !graph->has_edge(other, v)) ++wrong;
        });
      }
      REQUIRE_EACH(wrong == 0, text);
      REQUIRE_EACH(directions == 2 * graph->num_edges(), text);
      REQUIRE_EACH(parse_edge_list(as_edge_list(*graph)) == *graph, text);
    }
  }
  CHECK(read > 1000);
  CHECK(refused > 1000);
}

TEST_CASE("what would take more than it may is refused before it is reserved, and taken at the very limit") {
  const std::string many = "p edge 67108864 1\ne 1 67108864\n", weighted = "p edge 67108864 0\nn 1 5\n";
  const auto refused = [](auto parse) { return std::stoull(message_of<TextTooLarge>(parse)); };
  VertexWeights weights;
  CHECK(refused([&] { parse_dimacs(many, weights, 1 << 20); }) >= 24ULL << 26);
  CHECK(refused([&] { parse_dimacs(weighted, weights, 1 << 20); }) >= 41ULL << 26);
  CHECK(refused([&] { parse_edge_list("0 67108863\n", 1 << 20); }) >= 24ULL << 26);
  const std::string square = "%%MatrixMarket matrix coordinate pattern symmetric\n67108864 67108864 0\n";
  CHECK(refused([&] { parse_matrix_market(square, 1 << 20); }) >= 24ULL << 26);
  const std::size_t needed = refused([&] { parse_edge_list("0 9999\n", 0); });
  CHECK(needed >= parse_edge_list("0 9999\n").bytes());
  CHECK(parse_edge_list("0 9999\n", needed).num_vertices() == 10'000);
  CHECK(refused([&] { parse_edge_list("0 9999\n", needed - 1); }) == needed);
}
