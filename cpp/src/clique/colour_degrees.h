// Which vertices see enough colours to belong to a large clique.
//
// The neighbours of v in a clique all have different colours. A vertex of a clique of more than s vertices therefore
// sees at least s colours; one that does not is dropped, and its neighbours may see one colour less then.
// On registration graphs this takes away nearly all wrong associations: their many neighbours share few colours.
// One sweep visits every edge twice and costs a few cycles a visit; it goes from the last vertex to the first, which in
// a graph ordered by core number lets weak vertices fall before those that lean on them.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

// Vertices that are left after sweeps until one drops hardly any; increasing. The deadline ends the sweeps early.
std::vector<Vertex> keep_by_colours(const Graph& graph, std::span<const Vertex> colours, std::size_t size,
                                    Control& control);

}  // namespace clipperplus::inline v0
