// Which matches of points and pixels a camera can see together: groups of matches, and the graph that joins those that
// are found together in enough of them.
//
// J. Shi, H. Yang and L. Carlone, "ROBIN: a graph-theoretic approach to reject outliers in robust estimation using
// invariants", ICRA 2021. No two and no three matches say anything about the pose of a camera; four do. Three matches
// have up to four poses (P3P), and a group is such three with all further ones that their pose brings to within epsilon
// pixels; at least one.
//
// Where there are few choices of three (4096, of 30 matches), all are made. Else three are drawn at random, in batches,
// until it is unlikely that a set of matches as large as the best so far was missed, or `max_triples` are done. A pose
// is looked at on a few matches first, and on all only if one of those agrees. The best of a batch is fitted to what it
// explains; distinct ones are kept as rivals. Then triples are drawn from what each of these explains, which gives
// groups of nearly all that belong together. The largest `most_groups` groups make the graph, fewer of many matches.
//
// Work: max_triples × (1 µs + 64 matches) + most_groups × n + what is joined, at most n² / 2 words a group of 64.
// Nothing depends on the number of threads: triple k is the same whoever draws it.
#pragma once

#include <cstdint>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "geometry/camera.h"

namespace clipperplus::inline v0 {

struct CameraGroupOptions {
  double epsilon = 4.0;               // pixels
  std::size_t max_triples = 100'000;  // that are drawn, besides those from what a pose explains
  std::size_t most_groups = 1024;
  std::size_t most_poses = 6;  // distinct ones
  std::uint64_t seed = 0;
  std::size_t threads = 1;
};

struct CameraGroups {
  std::vector<std::vector<std::uint32_t>> members;  // sorted; the largest groups first
  std::vector<RigidMotion> poses;                   // distinct ones, fitted, those that explain most first
  std::size_t triples = 0;                          // that were drawn
};

// Points are x y z of each match, places x y at focal length 1. The deadline is not observed, the periodic check is.
CameraGroups find_camera_groups(std::span<const double> points, std::span<const double> places, PixelScale scale,
                                const CameraGroupOptions& options, Control& control);

// The graph of n matches that joins those that are found together in at least `least` groups.
Graph join_by_groups(std::size_t n, const std::vector<std::vector<std::uint32_t>>& groups, std::size_t least,
                     std::size_t threads, const simd::Kernels& kernels, Control& control);

}  // namespace clipperplus::inline v0
