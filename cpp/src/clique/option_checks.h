// What find_clique's options must be. The words are those of the Python package.
#pragma once

#include <span>

#include "clipperplus/find_clique.h"

namespace clipperplus::inline v0 {

// Throws std::invalid_argument, which names the option, what was expected and what came.
void check_options(const Graph& graph, const CliqueOptions& options, bool method_searches);

// Vertices that are distinct, in range, and joined to each other.
void check_start(const Graph& graph, std::span<const Vertex> start);

}  // namespace clipperplus::inline v0
