#include "clouds/neighbours.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>

#include "clouds/cells.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

// Points sorted by cell, those of a cell by number.
struct SortedCells {
  std::vector<std::int32_t> order;
  std::vector<std::uint64_t> keys;   // of the occupied cells, ascending
  std::vector<std::size_t> offsets;  // where each begins in `order`

  SortedCells(std::span<const double> points, double size, Control& control) {
    // A little more, for distances that are the radius after rounding but not before.
    const CellKeys cells(bounds_of(points, 1, control), size * (1.0 + 0x1p-40));
    std::vector<std::pair<std::uint64_t, std::int32_t>> sorted(points.size() / 3);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i] = {cells.of(&points[3 * i]), static_cast<std::int32_t>(i)};
    }
    std::sort(sorted.begin(), sorted.end());
    order.reserve(sorted.size());
    for (const auto& [key, point] : sorted) {
      if (keys.empty() || key != keys.back()) {
        keys.push_back(key);
        offsets.push_back(order.size());
      }
      order.push_back(point);
    }
    offsets.push_back(order.size());
  }
};

// The points of a cell and those around it, coordinates apart.
struct Candidates {
  std::vector<std::int32_t> indices;
  std::vector<double> x, y, z;

  void gather(const SortedCells& cells, std::size_t cell, std::span<const double> points) {
    indices.clear();
    for (int dz = -1; dz <= 1; ++dz) {
      for (int dy = -1; dy <= 1; ++dy) {
        const std::uint64_t middle = CellKeys::moved(cells.keys[cell], dy, dz);
        const auto first = std::lower_bound(cells.keys.begin(), cells.keys.end(), middle - 1);
        const auto last = std::upper_bound(first, cells.keys.end(), middle + 1);
        const std::size_t begin = cells.offsets[static_cast<std::size_t>(first - cells.keys.begin())];
        const std::size_t end = cells.offsets[static_cast<std::size_t>(last - cells.keys.begin())];
        indices.insert(indices.end(), cells.order.begin() + static_cast<std::ptrdiff_t>(begin),
                       cells.order.begin() + static_cast<std::ptrdiff_t>(end));
      }
    }
    for (auto* axis : {&x, &y, &z}) axis->resize(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const double* point = &points[3 * static_cast<std::size_t>(indices[k])];
      x[k] = point[0], y[k] = point[1], z[k] = point[2];
    }
  }
};

}  // namespace

Neighbours find_neighbours(std::span<const double> points, double radius, std::size_t threads,
                           const simd::Kernels& kernels, Control& control) {
  const std::size_t n = points.size() / 3;
  const SortedCells cells(points, radius, control);
  // Cells are dealt out in chunks; each chunk keeps what it finds until all counts are known.
  constexpr std::size_t kChunk = 64;
  const std::size_t chunks = (cells.keys.size() + kChunk - 1) / kChunk;
  std::vector<std::vector<std::int32_t>> found(chunks);
  std::vector<std::int64_t> counts(n, 0);
  std::atomic<std::size_t> next{0}, total{0};
  const double square = radius * radius;
  const auto work = [&](bool owner) {
    Candidates candidates;
    std::vector<std::int32_t> near;
    for (std::size_t chunk; (chunk = next.fetch_add(1)) < chunks && !control.stopped();) {
      const std::size_t end = std::min(cells.keys.size(), (chunk + 1) * kChunk);
      found[chunk].reserve(64 * (cells.offsets[end] - cells.offsets[chunk * kChunk]));  // often about right
      for (std::size_t cell = chunk * kChunk; cell < end; ++cell) {
        if (owner) control.expired();
        candidates.gather(cells, cell, points);
        near.resize(candidates.indices.size() + 8);
        const simd::NearCandidates arrays{candidates.x.data(), candidates.y.data(), candidates.z.data(),
                                          candidates.indices.data(), candidates.indices.size()};
        for (std::size_t k = cells.offsets[cell]; k < cells.offsets[cell + 1]; ++k) {
          const std::int32_t self = cells.order[k];
          const std::size_t count =
              kernels.select_near(arrays, &points[3 * static_cast<std::size_t>(self)], self, square, near.data());
          if (total.fetch_add(count) + count > kMostNeighbours) throw std::length_error("too many neighbours");
          found[chunk].insert(found[chunk].end(), near.begin(), near.begin() + static_cast<std::ptrdiff_t>(count));
          counts[static_cast<std::size_t>(self)] = static_cast<std::int64_t>(count);
        }
      }
    }
  };
  run_on_threads(std::min(threads, std::max<std::size_t>(1, chunks)), control, work, [] {});

  Neighbours result;
  result.radius = radius;
  result.offsets.resize(n + 1, 0);
  std::partial_sum(counts.begin(), counts.end(), result.offsets.begin() + 1);
  result.indices.resize(static_cast<std::size_t>(result.offsets[n]));
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int32_t* place = found[chunk].data();
    for (std::size_t k = cells.offsets[chunk * kChunk];
         k < cells.offsets[std::min(cells.keys.size(), (chunk + 1) * kChunk)]; ++k) {
      const auto self = static_cast<std::size_t>(cells.order[k]);
      std::copy_n(place, counts[self], result.indices.begin() + result.offsets[self]);
      place += counts[self];
    }
  }
  return result;
}

}  // namespace clipperplus::inline v0
