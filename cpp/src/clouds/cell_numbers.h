// The occupied cells of a grid, numbered 0, 1, 2, … in the order in which they are met.
//
// Where the box around the cloud has few cells for its points, each has a place in an array: a point then costs one
// read (4 bytes a cell of the box, so the arrays of most clouds fit the second cache). Otherwise cells are found by
// their keys in a hash table.
#pragma once

#include <cstdint>
#include <vector>

#include "clouds/cells.h"
#include "clouds/key_table.h"

namespace clipperplus::inline v0 {

class CellNumbers {
 public:
  CellNumbers(const CellKeys& cells, std::size_t points) : cells_(cells) {
    const double box =
        static_cast<double>(cells.count(0)) * static_cast<double>(cells.count(1)) * static_cast<double>(cells.count(2));
    if (box <= kCellsPerPoint * static_cast<double>(points)) numbers_.assign(static_cast<std::size_t>(box), -1);
  }

  // The number of the cell that a point lies in. A point outside the bounds of the grid, which has changed since it was
  // measured, is taken for one in the first cell.
  std::size_t of(const double* point) {
    if (numbers_.empty()) return static_cast<std::size_t>(table_.number_of(cells_.of(point)));
    std::size_t place = 0;
    for (std::size_t axis = 3; axis-- > 0;) {
      const auto cell = static_cast<std::uint64_t>(cells_.along(axis, point[axis]) - 1);
      place = place * cells_.count(axis) + (cell < cells_.count(axis) ? cell : 0);
    }
    if (numbers_[place] < 0) {
      numbers_[place] = static_cast<std::int32_t>(met_.size());
      met_.push_back({place, cells_.of(point)});
    }
    return static_cast<std::size_t>(numbers_[place]);
  }

  std::size_t size() const { return numbers_.empty() ? table_.keys().size() : met_.size(); }
  std::uint64_t key(std::size_t number) const { return numbers_.empty() ? table_.keys()[number] : met_[number].key; }

  // Forgets all cells, but not the memory.
  void clear() {
    table_.clear();
    for (const Met& cell : met_) numbers_[cell.place] = -1;
    met_.clear();
  }

 private:
  static constexpr double kCellsPerPoint = 4.0;
  struct Met {
    std::size_t place;
    std::uint64_t key;
  };

  CellKeys cells_;
  std::vector<std::int32_t> numbers_;  // by place in the box; empty: the table is used
  std::vector<Met> met_;
  KeyTable table_;
};

}  // namespace clipperplus::inline v0
