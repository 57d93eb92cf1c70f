// Numbers of the caller's, wherever they are in memory: nothing is copied, and no library of matrices is included.
//
// A matrix is what has data(), rows(), cols(), rowStride() and colStride(), in elements: every Eigen::Matrix, Array,
// Map, Ref and Block of either order. Points come as one, with a point in each row or in each column, or as a
// contiguous range of std::array<float, 3>, Eigen::Vector3d, or anything with x, y and z, as PCL and others have it:
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
#include <initializer_list>
#include <iterator>
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

  Scalar at(std::size_t i, std::size_t j) const {
    return data[static_cast<std::ptrdiff_t>(i) * row_stride + static_cast<std::ptrdiff_t>(j) * column_stride];
  }
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
concept Integer = std::integral<T> && !std::same_as<T, bool>;

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

template <class Point>
concept PointOfNumbers = (fixed_size<Point>() == 2 || fixed_size<Point>() == 3) &&
                         requires(const Point& p) { requires Real<std::remove_cvref_t<decltype(p[0])>>; };
template <class Point>
concept PointWithNames = !PointOfNumbers<Point> && requires(const Point& p) {
  requires Real<std::remove_cvref_t<decltype(p.x)>>;
  requires std::same_as<decltype(p.x), decltype(p.y)> && std::same_as<decltype(p.x), decltype(p.z)>;
};

}  // namespace detail

template <class Range>
concept RangeOfPoints = !MatrixLike<Range> && requires(const Range& points) {
  { std::size(points) } -> std::convertible_to<std::size_t>;
  requires detail::PointOfNumbers<std::remove_cvref_t<decltype(*std::data(points))>> ||
               detail::PointWithNames<std::remove_cvref_t<decltype(*std::data(points))>>;
};

// Points in two or three dimensions, in single or double precision.
struct PointsView {
  // Which way a matrix is to be read: a point in each row, in each column, or in whichever has two or three entries.
  enum class Layout { kRows, kColumns, kEither };

  const void* data = nullptr;
  bool single_precision = false;
  std::size_t rows = 0, columns = 3;
  std::ptrdiff_t row_step = 0, column_step = 0;  // bytes
  Layout layout = Layout::kRows;

  template <detail::Real T>
  PointsView(const MatrixView<T>& matrix, Layout read_as)
      : data(matrix.data),
        single_precision(std::same_as<T, float>),
        rows(matrix.rows),
        columns(matrix.columns),
        row_step(matrix.row_stride * static_cast<std::ptrdiff_t>(sizeof(T))),
        column_step(matrix.column_stride * static_cast<std::ptrdiff_t>(sizeof(T))),
        layout(read_as) {}

  // A matrix is read by the dimension that is fixed when it is compiled (Matrix3Xd, MatrixX3d), else by its size.
  template <MatrixLike Matrix>
  PointsView(const Matrix& matrix) : PointsView(view_of(matrix), layout_of<Matrix>()) {}  // NOLINT: meant to convert
  template <MatrixLike Matrix>
  PointsView(const Matrix& matrix, Layout read_as) : PointsView(view_of(matrix), read_as) {}

  template <RangeOfPoints Range>
  PointsView(const Range& points)  // NOLINT: meant to convert
      : PointsView(std::span(std::data(points), std::size(points))) {}
  template <class Point>
    requires detail::PointOfNumbers<Point> || detail::PointWithNames<Point>
  PointsView(std::span<const Point> points)  // NOLINT: meant to convert
      : rows(points.size()), row_step(sizeof(Point)), layout(Layout::kRows) {
    if constexpr (detail::PointOfNumbers<Point>) columns = detail::fixed_size<Point>();
    if (points.empty()) return;
    const Point& first = points.front();
    if constexpr (detail::PointOfNumbers<Point>) {
      place(&first[0], &first[1]);
    } else {
      place(&first.x, &first.y);
      if (&first.z - &first.y != &first.y - &first.x) refuse_names();
    }
  }

  // Coordinates one after the other.
  template <detail::Real T>
  PointsView(std::span<const T> coordinates, std::size_t dimension)
      : PointsView(MatrixView<T>{coordinates.data(), dimension == 0 ? 0 : coordinates.size() / dimension, dimension,
                                 static_cast<std::ptrdiff_t>(dimension), 1},
                   Layout::kRows) {}

 private:
  template <class T>
  void place(const T* first, const T* second) {
    data = first;
    single_precision = std::same_as<T, float>;
    column_step = (second - first) * static_cast<std::ptrdiff_t>(sizeof(T));
  }
  [[noreturn]] CLIPPERPLUS_API static void refuse_names();

  template <class Matrix>
  static constexpr Layout layout_of() {
    if constexpr (requires {
                    Matrix::RowsAtCompileTime;
                    Matrix::ColsAtCompileTime;
                  }) {
      constexpr bool few_rows = Matrix::RowsAtCompileTime == 2 || Matrix::RowsAtCompileTime == 3;
      constexpr bool few_columns = Matrix::ColsAtCompileTime == 2 || Matrix::ColsAtCompileTime == 3;
      if (few_rows && !few_columns) return Layout::kColumns;
      if (few_columns && !few_rows) return Layout::kRows;
    }
    return Layout::kEither;
  }
};

// std::pair, std::array<…, 2>, Eigen::Vector2i and their like.
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

template <RangeOfPairs Pairs>
std::vector<std::int64_t> flattened(const Pairs& pairs) {
  std::vector<std::int64_t> numbers;
  for (const auto& pair : pairs) {
    if constexpr (requires { pair.first; }) {
      numbers.insert(numbers.end(), {static_cast<std::int64_t>(pair.first), static_cast<std::int64_t>(pair.second)});
    } else {
      numbers.insert(numbers.end(), {static_cast<std::int64_t>(pair[0]), static_cast<std::int64_t>(pair[1])});
    }
  }
  return numbers;
}

// Numbers of a source and a target point each: any range of pairs of integers, or a matrix of two columns, or of two
// rows if it has another number of columns. They are copied.
class Associations {
 public:
  template <RangeOfPairs Pairs>
  Associations(const Pairs& pairs) : numbers_(flattened(pairs)) {}  // NOLINT: meant to convert
  Associations(std::initializer_list<std::pair<std::int64_t, std::int64_t>> pairs) : numbers_(flattened(pairs)) {}
  template <MatrixLike Matrix>
  Associations(const Matrix& matrix) {  // NOLINT: meant to convert
    const auto view = view_of(matrix);
    static_assert(detail::Integer<std::remove_cvref_t<decltype(*view.data)>>, "numbers of points are integers");
    const bool in_rows = view.columns == 2 || view.rows != 2;
    if (in_rows && view.columns != 2) refuse_shape(view.rows, view.columns);
    for (std::size_t k = 0; k < (in_rows ? view.rows : view.columns); ++k) {
      for (std::size_t side = 0; side < 2; ++side) {
        numbers_.push_back(static_cast<std::int64_t>(in_rows ? view.at(k, side) : view.at(side, k)));
      }
    }
  }

  std::size_t size() const noexcept { return numbers_.size() / 2; }
  std::span<const std::int64_t> numbers() const noexcept { return numbers_; }  // source, target, source, …

 private:
  [[noreturn]] CLIPPERPLUS_API static void refuse_shape(std::size_t rows, std::size_t columns);
  std::vector<std::int64_t> numbers_;
};

}  // namespace clipperplus::inline v0
