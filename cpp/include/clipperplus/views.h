// Numbers of the caller's, wherever they are in memory, and without a library of matrices: a view copies nothing.
//
// A matrix is what has data(), rows(), cols(), rowStride() and colStride(), in elements: every Eigen::Matrix, Array,
// Map, Ref and Block of either order. Points come as one, with a point in each row or in each column, or as a
// contiguous range of std::array<float, 3>, Eigen::Vector3d, or anything with x, y and z, as PCL and TEASER have it:
//
//   std::vector<std::array<double, 3>> source;
//   Eigen::Matrix3Xf target;
//   consistency_graph(source, target);
//
// A view lives no longer than what it was made from.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "clipperplus/export.h"

namespace clipperplus::inline v0 {

// Entry (i, j) is data[i * row_stride + j * column_stride].
template <class Scalar>
struct MatrixView {
  const Scalar* data;
  std::size_t rows, columns;
  std::ptrdiff_t row_stride, column_stride;

  const Scalar* place(std::size_t i, std::size_t j) const {
    return data + static_cast<std::ptrdiff_t>(i) * row_stride + static_cast<std::ptrdiff_t>(j) * column_stride;
  }
  Scalar at(std::size_t i, std::size_t j) const { return *place(i, j); }
};

template <class Matrix>
concept MatrixLike = requires(const Matrix& m) {
  requires std::is_arithmetic_v<std::remove_cvref_t<decltype(*m.data())>>;
  { m.rows() } -> std::convertible_to<std::ptrdiff_t>;
  { m.cols() } -> std::convertible_to<std::ptrdiff_t>;
  { m.rowStride() } -> std::convertible_to<std::ptrdiff_t>;
  { m.colStride() } -> std::convertible_to<std::ptrdiff_t>;
};

template <MatrixLike Matrix>
auto view_of(const Matrix& matrix) {
  return MatrixView<std::remove_cvref_t<decltype(*matrix.data())>>{
      matrix.data(), static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols()),
      static_cast<std::ptrdiff_t>(matrix.rowStride()), static_cast<std::ptrdiff_t>(matrix.colStride())};
}

namespace detail {

template <class T>
concept Real = std::same_as<T, float> || std::same_as<T, double>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= sizeof(std::int64_t);

// How many numbers a type holds, if it says so: std::array, C arrays and Eigen's vectors of fixed size; else 0.
template <class T>
constexpr std::size_t fixed_size() {
  if constexpr (std::is_array_v<T>) {
    return std::extent_v<T>;
  } else if constexpr (requires { T::SizeAtCompileTime; }) {
    return T::SizeAtCompileTime > 0 ? static_cast<std::size_t>(T::SizeAtCompileTime) : 0;
  } else if constexpr (requires(const T& t) {
                         t.data();
                         std::tuple_size<T>::value;
                       }) {
    return std::tuple_size_v<T>;
  } else {
    return 0;
  }
}

// Whether a type holds its numbers, as far as it says so: Eigen's maps and blocks lead to those of others.
template <class T>
constexpr bool owns_numbers() {
  if constexpr (requires { typename T::PlainObject; }) {
    return std::derived_from<T, typename T::PlainObject>;
  } else {
    return true;
  }
}

template <class Point>
concept PointOfNumbers = (fixed_size<Point>() == 2 || fixed_size<Point>() == 3) && owns_numbers<Point>() &&
                         requires(const Point& p) { requires Real<std::remove_cvref_t<decltype(p[0])>>; };
template <class Point>
concept PointWithNames = !PointOfNumbers<Point> && requires(const Point& p) {
  requires Real<std::remove_cvref_t<decltype(p.x)>>;
  requires std::same_as<decltype(p.x), decltype(p.y)> && std::same_as<decltype(p.x), decltype(p.z)>;
};

template <class Range>
concept HasData = requires(const Range& range) { *std::data(range); };
template <class Range>
concept HasPlaces = requires(const Range& range) { requires std::contiguous_iterator<decltype(std::begin(range))>; };

// Where a contiguous range begins.
template <class Range>
  requires HasData<Range> || HasPlaces<Range>
auto begin_of(const Range& range) {
  if constexpr (HasData<Range>) {
    return std::data(range);
  } else {
    return std::to_address(std::begin(range));
  }
}
template <class Range>
using ElementOf = std::remove_cvref_t<decltype(*begin_of(std::declval<const Range&>()))>;

// Which way a matrix is to be read: an item in each row, in each column, or in whichever has so many entries.
enum class Layout { kRows, kColumns, kEither };

// By what is fixed when it is compiled.
template <class Matrix>
constexpr Layout layout_of(bool (*is_size)(std::ptrdiff_t)) {
  if constexpr (requires {
                  Matrix::RowsAtCompileTime;
                  Matrix::ColsAtCompileTime;
                }) {
    const bool few_rows = is_size(Matrix::RowsAtCompileTime), few_columns = is_size(Matrix::ColsAtCompileTime);
    if (few_rows && !few_columns) return Layout::kColumns;
    if (few_columns && !few_rows) return Layout::kRows;
  }
  return Layout::kEither;
}

}  // namespace detail

template <class Range>
concept ContiguousRange = !MatrixLike<Range> && requires(const Range& range) {
  { std::size(range) } -> std::convertible_to<std::size_t>;
  detail::begin_of(range);
};
template <class Range>
concept RangeOfPoints = ContiguousRange<Range> && (detail::PointOfNumbers<detail::ElementOf<Range>> ||
                                                   detail::PointWithNames<detail::ElementOf<Range>>);
template <class Range>
concept RangeOfCoordinates = ContiguousRange<Range> && detail::Real<detail::ElementOf<Range>>;
template <class Matrix>
concept MatrixOfPoints =
    MatrixLike<Matrix> && detail::Real<std::remove_cvref_t<decltype(*std::declval<const Matrix&>().data())>>;

// Points in two or three dimensions, in single or double precision.
struct PointsView {
  using Layout = detail::Layout;

  const void* data = nullptr;
  bool single_precision = false;
  std::size_t rows = 0, columns = 3;
  std::ptrdiff_t row_step = 0, column_step = 0;  // bytes
  Layout layout = Layout::kRows;

  template <detail::Real T>
  PointsView(const MatrixView<T>& matrix, Layout read_as = Layout::kEither)  // NOLINT: meant to convert
      : data(matrix.data),
        single_precision(std::same_as<T, float>),
        rows(matrix.rows),
        columns(matrix.columns),
        row_step(matrix.row_stride * static_cast<std::ptrdiff_t>(sizeof(T))),
        column_step(matrix.column_stride * static_cast<std::ptrdiff_t>(sizeof(T))),
        layout(read_as) {}

  // A matrix is read by the dimension that is fixed when it is compiled (Matrix3Xd, MatrixX3d), else by its size.
  template <MatrixOfPoints Matrix>
  PointsView(const Matrix& matrix)  // NOLINT: meant to convert
      : PointsView(view_of(matrix), detail::layout_of<Matrix>([](std::ptrdiff_t n) { return n == 2 || n == 3; })) {}
  template <MatrixOfPoints Matrix>
  PointsView(const Matrix& matrix, Layout read_as) : PointsView(view_of(matrix), read_as) {}

  template <RangeOfPoints Range>
  PointsView(const Range& points)  // NOLINT: meant to convert
      : PointsView(std::span<const detail::ElementOf<Range>>(detail::begin_of(points), std::size(points))) {}
  template <class Point>
    requires detail::PointOfNumbers<Point> || detail::PointWithNames<Point>
  PointsView(std::span<const Point> points)  // NOLINT: meant to convert
      : rows(points.size()), row_step(sizeof(Point)), layout(Layout::kRows) {
    if constexpr (detail::PointOfNumbers<Point>) columns = detail::fixed_size<Point>();
    if (points.empty()) return;
    const Point& first = points.front();
    if constexpr (detail::PointOfNumbers<Point>) {
      place(first, &first[0], &first[1]);
    } else {
      place(first, &first.x, &first.y);
      if (&first.z - &first.y != &first.y - &first.x) refuse_names();
    }
  }

  // Coordinates one after the other.
  template <RangeOfCoordinates Range>
  PointsView(const Range& coordinates, std::size_t dimension)
      : PointsView(MatrixView<detail::ElementOf<Range>>{detail::begin_of(coordinates),
                                                        count_of(std::size(coordinates), dimension), dimension,
                                                        static_cast<std::ptrdiff_t>(dimension), 1},
                   Layout::kRows) {}

 private:
  // The step from point to point is right only for numbers that lie in the points.
  template <class Point, class T>
  void place(const Point& point, const T* first, const T* second) {
    const auto *begin = reinterpret_cast<const std::byte*>(std::addressof(point)), *end = begin + sizeof(Point);
    const auto* number = reinterpret_cast<const std::byte*>(first);
    if (std::less<>()(number, begin) || !std::less<>()(number, end)) refuse_references();
    data = first;
    single_precision = std::same_as<T, float>;
    column_step = (second - first) * static_cast<std::ptrdiff_t>(sizeof(T));
  }
  // How many points there are; refuses what is not a whole number of them.
  CLIPPERPLUS_API static std::size_t count_of(std::size_t coordinates, std::size_t dimension);
  [[noreturn]] CLIPPERPLUS_API static void refuse_names();
  [[noreturn]] CLIPPERPLUS_API static void refuse_references();
};

// std::pair, std::array<..., 2>, Eigen::Vector2i and their like.
template <class Pair>
concept PairOfIntegers = requires(const Pair& p) {
  requires detail::Integer<std::remove_cvref_t<decltype(p.first)>>;
  requires detail::Integer<std::remove_cvref_t<decltype(p.second)>>;
} || (detail::fixed_size<Pair>() == 2 && requires(const Pair& p) {
                           requires detail::Integer<std::remove_cvref_t<decltype(p[0])>>;
                         });

template <class Range>
concept RangeOfPairs = requires(const Range& pairs) {
  std::end(pairs);
  requires PairOfIntegers<std::remove_cvref_t<decltype(*std::begin(pairs))>>;
};

namespace detail {

// Pairs of integers, one after the other, copied. Those of 64 bits without a sign keep their bits: what is too large
// is negative, and wrong as well, but can still be named.
struct Pairs {
  std::vector<std::int64_t> numbers;
  std::array<bool, 2> without_sign{};  // by side

  template <RangeOfPairs Range>
  explicit Pairs(const Range& pairs) {
    for (const auto& pair : pairs) {
      if constexpr (requires { pair.first; }) {
        add(0, pair.first);
        add(1, pair.second);
      } else {
        add(0, pair[0]);
        add(1, pair[1]);
      }
    }
  }
  // A matrix is read by the side whose two entries are fixed when it is compiled (Matrix2Xi, MatrixX2i), else by its
  // size.
  template <MatrixLike Matrix>
  Pairs(const char* name, const Matrix& matrix)
      : Pairs(name, matrix, layout_of<Matrix>([](std::ptrdiff_t n) { return n == 2; })) {}
  template <MatrixLike Matrix>
  Pairs(const char* name, const Matrix& matrix, Layout read_as) {
    const auto view = view_of(matrix);
    static_assert(Integer<std::remove_cvref_t<decltype(*view.data)>>, "pairs are of integers");
    const bool columns = in_columns(name, view.rows, view.columns, read_as);
    for (std::size_t k = 0; k < (columns ? view.columns : view.rows); ++k) {
      for (std::size_t side = 0; side < 2; ++side) add(side, columns ? view.at(side, k) : view.at(k, side));
    }
  }

 private:
  template <Integer Number>
  void add(std::size_t side, Number number) {
    without_sign[side] = std::is_unsigned_v<Number> && sizeof(Number) == sizeof(std::int64_t);
    numbers.push_back(static_cast<std::int64_t>(number));
  }
  CLIPPERPLUS_API static bool in_columns(const char* name, std::size_t rows, std::size_t columns, Layout read_as);
};

// What {} becomes before anything else that it could: where it may mean options as well as associations, options.
enum class Nothing {};

}  // namespace detail

// Numbers of a source and a target point each: any range of pairs of integers, or a matrix with a pair in each row or
// in each column. They are copied.
class Associations {
 public:
  template <RangeOfPairs Range>
  Associations(const Range& pairs) : pairs_(pairs) {}  // NOLINT: meant to convert
  Associations(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : pairs_(pairs) {}
  template <MatrixLike Matrix>
  Associations(const Matrix& matrix) : pairs_("associations", matrix) {}  // NOLINT: meant to convert
  template <MatrixLike Matrix>
  Associations(const Matrix& matrix, PointsView::Layout read_as) : pairs_("associations", matrix, read_as) {}

  std::size_t size() const noexcept { return pairs_.numbers.size() / 2; }
  std::span<const std::int64_t> numbers() const& noexcept { return pairs_.numbers; }  // source, target, source, ...
  std::span<const std::int64_t> numbers() && = delete;                                // they would be gone
  // Whether negative numbers of a side are those that are too large.
  bool without_sign(std::size_t side) const noexcept { return pairs_.without_sign[side]; }

 private:
  detail::Pairs pairs_;
};

}  // namespace clipperplus::inline v0
