// Graphs from files.
//
//   const Graph graph = read_graph("brock200_4.clq");
//
// The format follows from the name: .clq and .col are DIMACS, "p edge N M" and "e i j" with vertices from 1; .clq.b and
// .col.b the same in binary; .mtx is a MatrixMarket coordinate matrix; .txt and .edges have an edge a line, vertices
// from 0. What is not understood completely is refused with its line. Weights of vertices, which DIMACS files may have,
// are left out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "clipperplus/export.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

// Throws std::invalid_argument, which names the file, where it cannot be read or holds no graph, and before anything is
// reserved for one that takes more than `size_limit` bytes: a few bytes can name millions of vertices. If nothing is
// said, that is 256 MiB, or a hundred times the size of the file if that is more, or what the machine has if it is
// less.
CLIPPERPLUS_API Graph read_graph(const std::filesystem::path& path, std::optional<std::size_t> size_limit = {});

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
