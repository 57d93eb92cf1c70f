// Weights of the edges of a graph: a symmetric matrix with entries in [0, 1], stored as sorted rows without its
// diagonal. Entries lie on edges of the graph; edges without an entry weigh zero. 12 bytes an entry, two entries an
// edge.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"

namespace clipperplus {

struct InvalidWeights : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

class EdgeWeights {
 public:
  // Checks everything and throws InvalidWeights with the first entry that is wrong. O(entries), times the logarithm of
  // a degree on CSR. The deadline is not observed, the periodic check is.
  EdgeWeights(const Graph& graph, std::vector<std::int64_t> offsets, std::vector<Vertex> neighbours,
              std::vector<double> weights, Control& control);

  std::size_t num_vertices() const { return offsets_.size() - 1; }

  // product = (W + I) u, for vectors with an entry per vertex; only where u is not zero it costs anything.
  void multiply(const double* u, double* product, Control& control) const;

 private:
  void check_shape(std::size_t n) const;
  void check_entry(const Graph& graph, std::size_t row, std::size_t place) const;

  std::vector<std::int64_t> offsets_;
  std::vector<Vertex> neighbours_;
  std::vector<double> weights_;
};

}  // namespace clipperplus
