// Rows of neighbours, one after the other: row v is columns[offsets[v]] … columns[offsets[v + 1] - 1].
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "clipperplus/graph.h"

namespace clipperplus::inline v0 {

inline constexpr std::size_t kRowsPerPoll = 1024;

// Rows of a directed pattern, transposed: row v of the result lists the rows that contain v, in increasing order.
template <class Poll>
void transpose(std::size_t n, const std::vector<std::int64_t>& offsets, const std::vector<Vertex>& columns,
               std::vector<std::int64_t>& out_offsets, std::vector<Vertex>& out_columns, Poll poll) {
  out_offsets.assign(n + 1, 0);
  out_columns.resize(columns.size());
  for (Vertex v : columns) ++out_offsets[static_cast<std::size_t>(v) + 1];
  std::partial_sum(out_offsets.begin(), out_offsets.end(), out_offsets.begin());
  std::vector<std::int64_t> next(out_offsets.begin(), out_offsets.end() - 1);
  for (std::size_t u = 0; u < n; ++u) {
    if (u % kRowsPerPoll == 0) poll();
    for (auto k = offsets[u]; k < offsets[u + 1]; ++k) {
      const auto v = static_cast<std::size_t>(columns[static_cast<std::size_t>(k)]);
      out_columns[static_cast<std::size_t>(next[v]++)] = static_cast<Vertex>(u);
    }
  }
}

}  // namespace clipperplus::inline v0
