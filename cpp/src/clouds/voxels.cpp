#include "clouds/voxels.h"

#include <algorithm>
#include <utility>

#include "clouds/cell_numbers.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 18;  // points

// At least one, also of no points.
template <class Real>
std::size_t chunks_of(std::span<const Real> points) {
  return std::max<std::size_t>(1, (points.size() / 3 + kChunk - 1) / kChunk);
}

// Calls look(point) for the points that the bounds do not leave out.
template <class Real, class Look>
void for_each_point(std::span<const Real> points, const Bounds& bounds, Look look) {
  for (std::size_t k = 0; k < points.size(); k += 3) {
    const Vector3 point{points[k], points[k + 1], points[k + 2]};
    if (bounds.whole || is_in_box(point, bounds.low, bounds.high)) look(point);
  }
}

struct Sum {
  Vector3 total{};
  std::int32_t count = 0;
};

// The cells of a chunk of points, with the sum of the points in each.
class SummedCells {
 public:
  explicit SummedCells(CellNumbers numbers) : numbers_(std::move(numbers)) {}

  template <class Real>
  void assign(std::span<const Real> points, const Bounds& bounds) {
    numbers_.clear();
    sums_.clear();
    for_each_point(points, bounds, [&](const Vector3& point) {
      const std::size_t cell = numbers_.of(point.data());
      if (cell == sums_.size()) sums_.emplace_back();
      for (std::size_t a = 0; a < 3; ++a) sums_[cell].total[a] += point[a];
      ++sums_[cell].count;
    });
  }
  std::size_t size() const { return sums_.size(); }
  std::uint64_t key(std::size_t cell) const { return numbers_.key(cell); }
  const Sum& sum(std::size_t cell) const { return sums_[cell]; }

  void add_to(KeyTable& table, std::vector<Sum>& sums) const {
    for (std::size_t cell = 0; cell < sums_.size(); ++cell) {
      const auto number = static_cast<std::size_t>(table.number_of(numbers_.key(cell)));
      if (number == sums.size()) {
        sums.push_back(sums_[cell]);
        continue;
      }
      for (std::size_t a = 0; a < 3; ++a) sums[number].total[a] += sums_[cell].total[a];
      sums[number].count += sums_[cell].count;
    }
  }

 private:
  CellNumbers numbers_;
  std::vector<Sum> sums_;
};

// The same without sums.
class CountedCells {
 public:
  explicit CountedCells(CellNumbers numbers) : numbers_(std::move(numbers)) {}

  template <class Real>
  void assign(std::span<const Real> points, const Bounds& bounds) {
    numbers_.clear();
    for_each_point(points, bounds, [&](const Vector3& point) { numbers_.of(point.data()); });
  }
  void add_to(KeyTable& table) const {
    for (std::size_t cell = 0; cell < numbers_.size(); ++cell) table.number_of(numbers_.key(cell));
  }

 private:
  CellNumbers numbers_;
};

// Looks at as many chunks of the points at a time as there are threads, then calls join(its cells) for each, in order.
template <class Cells, class Real, class Join>
void for_cells_of_chunks(std::span<const Real> points, const Bounds& bounds, double size, std::size_t threads,
                         Control& control, Join join) {
  const CellKeys keys(bounds, size);
  const std::size_t n = points.size() / 3, chunks = chunks_of(points);
  std::vector<Cells> at_once;
  for (std::size_t k = 0; k < std::clamp<std::size_t>(threads, 1, chunks); ++k) {
    at_once.emplace_back(CellNumbers(keys, std::min(n, kChunk)));
  }
  for (std::size_t first = 0; first < chunks; first += at_once.size()) {
    const std::size_t count = std::min(at_once.size(), chunks - first);
    const auto look = [&](std::size_t k) {
      const std::size_t begin = (first + k) * kChunk;
      at_once[k].assign(points.subspan(3 * begin, 3 * std::min(kChunk, n - begin)), bounds);
    };
    for_each_index(count, threads, control, look, 1);
    for (std::size_t k = 0; k < count; ++k) join(at_once[k]);
  }
}

}  // namespace

template <class Real>
VoxelMeans voxel_means(std::span<const Real> points, const Bounds& bounds, double size, std::size_t threads,
                       Control& control) {
  const bool one_chunk = chunks_of(points) == 1;
  KeyTable table;
  std::vector<Sum> sums;
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for_cells_of_chunks<SummedCells>(points, bounds, size, threads, control, [&](const SummedCells& cells) {
    if (!one_chunk) return cells.add_to(table, sums);
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {  // nothing to add up
      order.emplace_back(cells.key(cell), cell);
      sums.push_back(cells.sum(cell));
    }
  });
  for (std::size_t cell = 0; cell < table.keys().size(); ++cell) order.emplace_back(table.keys()[cell], cell);
  std::sort(order.begin(), order.end());

  VoxelMeans result;
  result.points.reserve(3 * order.size());
  result.counts.reserve(order.size());
  for (const auto& [key, cell] : order) {
    result.counts.push_back(sums[cell].count);
    for (const double total : sums[cell].total) result.points.push_back(total / sums[cell].count);
  }
  return result;
}

template <class Real>
std::size_t count_voxels(std::span<const Real> points, const Bounds& bounds, double size, std::size_t threads,
                         Control& control) {
  KeyTable table;
  for_cells_of_chunks<CountedCells>(points, bounds, size, threads, control,
                                    [&](const CountedCells& cells) { cells.add_to(table); });
  return table.keys().size();
}

template <class Real>
std::vector<std::int32_t> voxel_numbers(std::span<const Real> points, const Bounds& bounds, double size,
                                        Control& control) {
  const std::size_t n = points.size() / 3;
  CellNumbers cells(CellKeys(bounds, size), n);
  std::vector<std::int32_t> numbers(n, -1);
  for (std::size_t i = 0; i < n; ++i) {
    if (i % kChunk == 0) control.expired();
    const Vector3 point{points[3 * i], points[3 * i + 1], points[3 * i + 2]};
    if (!bounds.whole && !is_in_box(point, bounds.low, bounds.high)) continue;
    numbers[i] = static_cast<std::int32_t>(cells.of(point.data()));
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t cell = 0; cell < cells.size(); ++cell) order.emplace_back(cells.key(cell), cell);
  std::sort(order.begin(), order.end());
  std::vector<std::int32_t> place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[order[k].second] = static_cast<std::int32_t>(k);
  for (std::int32_t& number : numbers) {
    if (number >= 0) number = place[static_cast<std::size_t>(number)];
  }
  return numbers;
}

template VoxelMeans voxel_means(std::span<const float>, const Bounds&, double, std::size_t, Control&);
template VoxelMeans voxel_means(std::span<const double>, const Bounds&, double, std::size_t, Control&);
template std::size_t count_voxels(std::span<const float>, const Bounds&, double, std::size_t, Control&);
template std::size_t count_voxels(std::span<const double>, const Bounds&, double, std::size_t, Control&);
template std::vector<std::int32_t> voxel_numbers(std::span<const float>, const Bounds&, double, Control&);
template std::vector<std::int32_t> voxel_numbers(std::span<const double>, const Bounds&, double, Control&);

}  // namespace clipperplus::inline v0
