// Parsers take what they understand and name the line of what they do not; mutated files never break them.
#include "check.h"
#include "edge_text.h"

using namespace clipperplus;

namespace {

using Edges = std::vector<std::int64_t>;

void good_files_are_read() {
  const auto dimacs = parse_dimacs("c hello\np edge 4 2\ne 1 2\r\n\ne 4 3\n");
  CHECK(dimacs.num_vertices == 4 && (dimacs.edges == Edges{0, 1, 3, 2}));
  const auto matrix = parse_matrix_market(
      "%%MatrixMarket matrix coordinate integer general\n% c\n3 3 5\n1 2 1\n2 1 1\n3 1 0\n2 3 1\n3 2 1\n");
  CHECK(matrix.num_vertices == 3 && (matrix.edges == Edges{0, 1, 1, 0, 1, 2, 2, 1}));
  const auto list = parse_edge_list("# any\n0 5\n2 1");
  CHECK(list.num_vertices == 6 && (list.edges == Edges{0, 5, 2, 1}));
  CHECK(parse_edge_list("# vertices 9 edges 0\n").num_vertices == 9);
  CHECK(parse_edge_list("# vertices are counted from 0\n3 4\n").num_vertices == 5);
  const auto binary = parse_dimacs_binary(format_dimacs_binary(10, Edges{0, 1, 8, 9, 9, 2}));
  CHECK(binary.num_vertices == 10 && (binary.edges == Edges{1, 0, 9, 2, 9, 8}));
  CHECK(format_edges(Edges{0, 1, 10, 2}, "e ", 1) == "e 1 2\ne 11 3\n");
}

template <EdgeText (*parse)(std::string_view)>
std::string refusal(std::string_view text) {
  return message_of<TextError>([&] { parse(text); });
}

void bad_files_are_refused_with_the_line() {
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
  CHECK(refusal<parse_dimacs_binary>("15\np edge 2 1\np e\n") == "line 3: a second 'p' line");
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

void mutated_files_are_read_or_refused() {
  const std::string seeds[] = {
      format_dimacs_binary(12, Edges{0, 1, 10, 11, 2, 3}),
      "c x\np edge 12 3\ne 1 2\ne 11 12\ne 3 4\n",
      "%%MatrixMarket matrix coordinate real symmetric\n12 12 2\n2 1 1\n12 11 1.0\n",
      "# vertices 12 edges 2\n0 1\n10 11\n",
  };
  std::mt19937 random(17);
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
      if (text.empty()) text = "\n";
    }
    for (auto* parse : {parse_dimacs, parse_dimacs_binary, parse_matrix_market, parse_edge_list}) {
      try {
        const auto parsed = parse(text);
        for (std::int64_t v : parsed.edges) CHECK(v >= 0 && v < parsed.num_vertices);
        CHECK(parsed.edges.size() % 2 == 0);
      } catch (const TextError&) {
      }
    }
  }
}

}  // namespace

int main() {
  good_files_are_read();
  bad_files_are_refused_with_the_line();
  mutated_files_are_read_or_refused();
}
