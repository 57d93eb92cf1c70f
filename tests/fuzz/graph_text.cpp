// One parser of graphs under libFuzzer: compiled once for each, with PARSER as its name.
//
// A graph that is understood must come back from the edge list that is written of it.
#include "graph/graph_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t kLimit = std::size_t{4} << 20;  // less than in Python: sanitizers are slow

// The formats with weights of vertices have a place for them.
template <typename Text>
clipperplus::Graph parse(Text text) {
  clipperplus::VertexWeights weights;
  if constexpr (requires { clipperplus::PARSER(text, weights, kLimit); }) {
    return clipperplus::PARSER(text, weights, kLimit);
  } else {
    return clipperplus::PARSER(text, kLimit);
  }
}

bool comes_back(const clipperplus::Graph& graph) {
  const std::string edges = clipperplus::format_edges(graph, "", 0, true);
  const std::string header =
      "# vertices " + std::to_string(graph.num_vertices()) + " edges " + std::to_string(graph.num_edges()) + "\n";
  const clipperplus::Graph again = clipperplus::parse_edge_list(header + edges);
  return again.num_vertices() == graph.num_vertices() && clipperplus::format_edges(again, "", 0, true) == edges;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (!comes_back(parse(text))) {
      std::abort();
    }
  } catch (const clipperplus::TextError&) {
  } catch (const clipperplus::TextTooLarge&) {
  } catch (const std::invalid_argument&) {  // a graph that is too large
  }
  return 0;
}
