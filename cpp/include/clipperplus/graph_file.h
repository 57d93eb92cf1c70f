// Graphs from files.
//
//   const Graph graph = read_graph("brock200_4.clq");
//
// The format follows from the name: .clq and .col are DIMACS, "p edge N M" and "e i j" with vertices from 1; .clq.b and
// .col.b the same in binary; .mtx is a MatrixMarket coordinate matrix; .txt and .edges have an edge a line, vertices
// from 0. What is not understood completely is refused with its line. Weights of vertices, which DIMACS files may have,
// are left out.
#pragma once

#include <filesystem>

#include "clipperplus/export.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

// Throws std::invalid_argument, which names the file, where it cannot be read or holds no graph.
CLIPPERPLUS_API Graph read_graph(const std::filesystem::path& path);

}  // namespace clipperplus::inline v0
