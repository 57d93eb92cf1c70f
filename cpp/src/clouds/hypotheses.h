// Many large cliques of a consistency graph instead of one: each is a guess at the motion between two scans.
//
// From every start a clique is grown by taking, again and again, the candidate that has the most neighbours among the
// candidates, counted anew whenever a fifth of them is gone, ties to the lower number. Each clique that
// is large enough gives a motion; from the largest clique down, those that lay the source where an earlier one
// does are left out.
//
// A count takes |candidates| rows of n / 512 vectors each: a start takes about 4 µs in the graphs of 3DMatch, n = 900
// at a density of 0.05, and 0.1 ms in one of a density of 0.5. Graphs in compressed rows are first cut to the
// neighbours of the start.
#pragma once

#include <span>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "geometry/motion_model.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0 {

struct HypothesisOptions {
  std::size_t most = 40;       // hypotheses
  std::size_t least_size = 3;  // associations of a clique
  double apart = 0.0;          // motions whose results are closer than this (RMS over the source points) are the same
  std::size_t threads = 1;
  MotionModel model;  // the motions to choose from
};

struct Hypothesis {
  RigidMotion motion;
  std::vector<Vertex> clique;  // sorted
};

// `source` and `target`: the matched points of every association, x y z of each. `known`: a clique that comes first,
// or nothing. Then the largest cliques first, ties to the lower start. The deadline is not observed, the periodic check
// is.
std::vector<Hypothesis> find_hypotheses(const Graph& graph, std::span<const double> source,
                                        std::span<const double> target, std::span<const Vertex> known,
                                        std::span<const Vertex> starts, const HypothesisOptions& options,
                                        const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
