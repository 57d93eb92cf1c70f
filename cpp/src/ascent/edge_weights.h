// Weights of the edges of a graph: a symmetric matrix with entries in [0, 1], stored as rows without its diagonal.
// Entries lie on edges of the graph; edges without an entry weigh zero. 12 bytes an entry, two entries an edge.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "clipperplus/control.h"
#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

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
  std::size_t num_entries() const { return neighbours_.size(); }

  // Calls visit(u, weight) for the entries of row v.
  template <class Visit>
  void for_each_entry(std::size_t v, Visit visit) const {
    for (auto e = offsets_[v]; e < offsets_[v + 1]; ++e) {
      const auto place = static_cast<std::size_t>(e);
      visit(static_cast<std::size_t>(neighbours_[place]), weights_[place]);
    }
  }

  // The weights of a graph on `vertices` (distinct, in range), relabelled 0 … k-1 in the order given, which may have
  // lost edges: they lose their entries. O(n + entries of their rows), times the logarithm of a degree on CSR.
  EdgeWeights part(const Graph& graph, std::span<const Vertex> vertices, Control& control) const;

  // u' M u of u = 1 / √k on the k vertices of a clique, 0 elsewhere, where M has these weights and a unit diagonal: one
  // and the mean, over the vertices, of what joins them to the others. 0 for no vertices.
  double value_of(std::span<const std::int64_t> clique) const;

  // product = (W + I) u, for vectors with an entry per vertex; only where u is not zero it costs anything.
  void multiply(const double* u, double* product, Control& control) const;

 private:
  EdgeWeights() = default;
  void check_shape(std::size_t n) const;
  void check_entry(const Graph& graph, std::size_t row, std::size_t place) const;

  std::vector<std::int64_t> offsets_;
  std::vector<Vertex> neighbours_;
  std::vector<double> weights_;
};

// Whether arrays are rows that need no further work: offsets that fit, columns in range and increasing, no diagonal, no
// entry that is stored but zero.
bool are_tidy_rows(std::span<const std::int64_t> offsets, std::span<const Vertex> columns,
                   std::span<const double> values);

}  // namespace clipperplus::inline v0
