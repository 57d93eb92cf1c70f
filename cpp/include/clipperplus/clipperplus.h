// All of clipperplus for C++ programs:
//
//   Graph               graph.h              an undirected graph, from edges or a matrix
//   read_graph          graph_file.h         ... or from a file
//   consistency_graph   consistency_graph.h  ... or from associations of points: which of them agree
//   find_clique         find_clique.h        its largest clique, with proof
//   solve               solve.h              from matched points to a rigid motion, through all of these
//
// Everything is in the namespace clipperplus, and to the linker in one of a version, v0, which changes with the layout
// of what is public: programs and libraries that were compiled for different ones can be linked, and do not mix. Wrong
// input throws std::invalid_argument, with the words of the Python package; nothing else is thrown but std::bad_alloc
// and what a callback of the caller's throws. Nothing is printed, no state is kept between calls, and calls from
// several threads run side by side.
#pragma once

#include "clipperplus/consistency_graph.h"
#include "clipperplus/find_clique.h"
#include "clipperplus/graph.h"
#include "clipperplus/graph_file.h"
#include "clipperplus/solve.h"
#include "clipperplus/version.h"
#include "clipperplus/views.h"
