// The headers in cpp/include need nothing but each other: this file is compiled without the path to the others.
#include <doctest/doctest.h>

#include <vector>

#include "clipperplus/bits.h"
#include "clipperplus/consistency_graph.h"
#include "clipperplus/control.h"
#include "clipperplus/graph.h"
#include "clipperplus/instruction_sets.h"

using namespace clipperplus;

TEST_CASE("points that were moved agree with each other, and those that were not do not") {
  const std::vector<double> source{0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 5.0, 5.0, 5.0};
  std::vector<double> target = source;
  for (std::size_t k = 0; k < 9; ++k) target[k] += 3.0;
  DistanceProblem problem{.dimension = 3, .source = source, .target = target, .associations = {}, .count = 4};
  problem.epsilon = 0.1;
  for (const simd::Kernels* kernels : simd::available()) {
    CAPTURE(simd::name_of(*kernels));
    Control control;
    const Graph graph = join_by_distance(problem, {}, *kernels, control);
    CHECK(graph.num_edges() == 3);
    CHECK(graph.has_edge(0, 1));
    CHECK(!graph.has_edge(0, 3));
  }
}
