#include "api/arguments.h"

#include <cmath>
#include <cstring>

#include "clipperplus/graph.h"
#include "words.h"

namespace clipperplus::inline v0 {

namespace {

// Associations that are all compared with each other: half a million million pairs take minutes, twice as many four
// times as long, and nothing ends that.
constexpr std::size_t kMostCompared = 1'000'000;

void check_compared(std::size_t count) {
  if (count <= kMostCompared) return;
  const double bytes = static_cast<double>(count) * static_cast<double>(count) / 8.0;
  refuse("associations: expected at most ", kMostCompared, ", as each is compared with all others, got ", count,
         "; their graph could take ", fixed_text(bytes / 0x1p30, 1), " GiB");
}

bool is_dimension(std::size_t count, bool plane_too) { return count == 3 || (plane_too && count == 2); }

// Whether points are in columns.
bool in_columns(const char* name, const PointsView& view, bool plane_too) {
  const bool rows = view.layout != PointsView::Layout::kColumns && is_dimension(view.columns, plane_too);
  const bool columns = view.layout != PointsView::Layout::kRows && is_dimension(view.rows, plane_too);
  const std::string shape = shape_text(view.rows, view.columns);
  if (rows && columns) {
    refuse(name, ": points of shape ", shape, " may be in rows or in columns; pass PointsView(", name,
           ", PointsView::Layout::kColumns), or kRows");
  }
  if (!rows && !columns) {
    refuse(name, ": expected points of shape ", plane_too ? "(n, 3) or (n, 2)" : "(n, 3)", ", got ", shape);
  }
  return columns;
}

}  // namespace

void PointsView::refuse_names() { refuse("points: expected x, y and z one after the other in memory"); }

void PointsView::refuse_references() {
  refuse("points: expected elements that hold their numbers, not maps or references");
}

std::size_t PointsView::count_of(std::size_t coordinates, std::size_t dimension) {
  if (dimension < 2 || dimension > 3) refuse("dimension: expected 2 or 3, got ", dimension);
  if (coordinates % dimension != 0) {
    refuse("points: expected ", dimension, " coordinates each, got ", coordinates, " in all");
  }
  return coordinates / dimension;
}

bool detail::Pairs::in_columns(const char* name, std::size_t rows, std::size_t columns, Layout read_as) {
  const bool as_rows = read_as != Layout::kColumns && columns == 2;
  const bool as_columns = read_as != Layout::kRows && rows == 2;
  if (as_rows && as_columns) {
    refuse(name, ": pairs of shape (2, 2) may be in rows or in columns; say PointsView::Layout::kColumns, or kRows");
  }
  if (!as_rows && !as_columns) refuse(name, ": expected an array of shape (m, 2), got ", shape_text(rows, columns));
  return as_columns;
}

namespace api {

void check_integer(const char* name, std::size_t value, std::int64_t low, std::int64_t high) {
  if (value < static_cast<std::size_t>(low) || value > static_cast<std::size_t>(high)) {
    refuse(name, ": expected an integer from ", low, " to ", high, ", got ", value);
  }
}

void check_number(const char* name, double value, bool above_zero) {
  if (std::isfinite(value) && (above_zero ? value > 0.0 : value >= 0.0)) return;
  refuse(name, ": expected a finite number ", above_zero ? "above" : "of at least", " 0, got ", value);
}

Points read_points(const char* name, const PointsView& view, bool plane_too) {
  const bool columns = in_columns(name, view, plane_too);
  const std::size_t count = columns ? view.columns : view.rows;
  check_integer(words_of(name, ": number of points").c_str(), count, 0, std::numeric_limits<std::int32_t>::max());
  const auto point_step = columns ? view.column_step : view.row_step;
  const auto step = columns ? view.row_step : view.column_step;
  Points points{columns ? view.rows : view.columns, {}};
  points.coordinates.resize(count * points.dimension);
  const auto* first = static_cast<const char*>(view.data);
  for (std::size_t k = 0; k < points.coordinates.size(); ++k) {
    const auto point = static_cast<std::ptrdiff_t>(k / points.dimension);
    const char* place = first + point * point_step + static_cast<std::ptrdiff_t>(k % points.dimension) * step;
    if (view.single_precision) {
      float value;
      std::memcpy(&value, place, sizeof(value));
      points.coordinates[k] = static_cast<double>(value);
    } else {
      std::memcpy(&points.coordinates[k], place, sizeof(double));
    }
  }
  for (std::size_t k = 0; k < points.coordinates.size(); ++k) {
    if (std::isfinite(points.coordinates[k])) continue;
    const std::size_t wrong = k / points.dimension;
    std::string text;
    for (std::size_t a = 0; a < points.dimension; ++a) {
      if (a > 0) text += ", ";
      text += number_text(points.coordinates[wrong * points.dimension + a]);
    }
    refuse(name, ": point ", wrong, " is [", text, "]; expected finite coordinates");
  }
  return points;
}

Matches read_matches(const PointsView& source, const PointsView& target, const Associations* associations,
                     bool plane_too) {
  Matches matches{read_points("source", source, plane_too), read_points("target", target, plane_too), {}, 0};
  const std::size_t here = matches.source.count(), there = matches.target.count();
  if (here > 0 && there > 0 && matches.source.dimension != matches.target.dimension) {
    refuse("target: ", matches.target.dimension, " coordinates a point, the source has ", matches.source.dimension);
  }
  if (associations == nullptr) {
    if (here != there) {
      refuse("target: ", there, " landmarks for ", here, " of the source; pass associations, or as many of both");
    }
    matches.count = here;
    check_compared(matches.count);
  } else {
    check_compared(associations->size());
    const auto numbers = associations->numbers();
    matches.pairs.assign(numbers.begin(), numbers.end());
    matches.count = associations->size();
    for (std::size_t side = 0; side < 2; ++side) {
      const auto most = static_cast<std::int64_t>(side == 0 ? here : there);
      for (std::size_t row = 0; row < matches.count; ++row) {
        const std::int64_t number = matches.pairs[2 * row + side];
        if (number >= 0 && number < most) continue;
        const bool too_large = number < 0 && associations->without_sign(side);
        const std::string text = too_large ? words_of(static_cast<std::uint64_t>(number)) : words_of(number);
        refuse("associations: row ", row, " names number ", text, " of the ", side == 0 ? "first" : "second",
               " set; it has ", most);
      }
    }
  }
  return matches;
}

void check_epsilon(double epsilon, std::span<const double> epsilons, std::size_t count) {
  if (epsilons.empty()) {
    check_number("epsilon", epsilon, true);
    return;
  }
  if (epsilons.size() != count) {
    refuse("epsilon: expected a number or one per association, shape (", count, ",), got shape (", epsilons.size(),
           ",), dtype float64");
  }
  for (std::size_t k = 0; k < count; ++k) {
    if (std::isfinite(epsilons[k]) && epsilons[k] > 0.0) continue;
    refuse("epsilon: entry ", k, " is ", epsilons[k], "; expected finite numbers above 0");
  }
}

}  // namespace api

}  // namespace clipperplus::inline v0
