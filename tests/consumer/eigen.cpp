// Matrices of Eigen, in either order, of either precision, and parts of them, are taken as they are.
#include <clipperplus/clipperplus.h>

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <type_traits>
#include <vector>

#include "checks.h"

namespace {

namespace cp = clipperplus;

template <class Source, class Target>
void check(const Source& source, const Target& target, const cp::Solution& expected, double tolerance) {
  const cp::Solution found = cp::solve(source, target, {.epsilon = 0.05});
  CHECK(found.graph == expected.graph && found.inliers == expected.inliers);
  for (std::size_t k = 0; k < 16; ++k) {
    CHECK(std::abs(found.T_target_source->matrix[k] - expected.T_target_source->matrix[k]) < tolerance);
  }
}

}  // namespace

int main() {
  const Eigen::Isometry3d truth =
      Eigen::Translation3d(1.0, -2.0, 0.5) * Eigen::AngleAxisd(0.7, Eigen::Vector3d(1.0, 2.0, 3.0).normalized());
  std::srand(1);
  Eigen::Matrix3Xd source = 5.0 * Eigen::Matrix3Xd::Random(3, 300), target = 5.0 * Eigen::Matrix3Xd::Random(3, 300);
  target.leftCols(60) = truth * source.leftCols(60);

  const cp::Solution expected = cp::solve(source, target, {.epsilon = 0.05});
  CHECK(expected.status == cp::Status::Found && expected.inliers.size() == 60);
  using RowMajor4d = Eigen::Matrix<double, 4, 4, Eigen::RowMajor>;
  CHECK(RowMajor4d::Map(expected.T_target_source->matrix.data()).isApprox(truth.matrix(), 1e-9));
  CHECK((Eigen::Vector3d(expected.T_target_source->apply(source.col(0)).data()) - target.col(0)).norm() < 1e-9);

  const Eigen::MatrixX3d in_rows = source.transpose();
  const Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> row_major = target.transpose();
  check(in_rows, row_major, expected, 1e-12);
  const Eigen::MatrixXd dynamic = source;
  const Eigen::ArrayXXd array = in_rows.array();
  check(dynamic, target, expected, 1e-12);
  check(array, target, expected, 1e-12);

  const Eigen::Matrix<float, Eigen::Dynamic, 3, Eigen::RowMajor> single_rows = in_rows.cast<float>();
  const Eigen::Matrix3Xf single_columns = target.cast<float>();
  check(single_rows, single_columns, expected, 1e-5);
  check(single_rows, target, expected, 1e-5);

  Eigen::Matrix4Xd homogeneous(4, 300);
  homogeneous << source, Eigen::RowVectorXd::Ones(300);
  check(homogeneous.topRows<3>(), target, expected, 1e-12);  // a part
  const Eigen::Map<const Eigen::Matrix3Xd, 0, Eigen::OuterStride<>> strided(homogeneous.data(), 3, 300,
                                                                            Eigen::OuterStride<>(4));
  check(strided, target, expected, 1e-12);
  std::vector<double> spread(6 * 300);
  Eigen::Map<Eigen::Matrix3Xd, 0, Eigen::Stride<6, 2>> both(spread.data(), 3, 300);
  both = source;
  check(both, target, expected, 1e-12);
  std::vector<Eigen::Vector3d> points;
  for (Eigen::Index k = 0; k < 300; ++k) points.push_back(source.col(k));
  check(points, target, expected, 1e-12);

  // Maps in a vector lead anywhere: there is no step from one to the next.
  static_assert(!std::is_convertible_v<std::vector<Eigen::Map<Eigen::Vector3d>>, cp::PointsView>);

  Eigen::MatrixX2i pairs(300, 2);
  for (int k = 0; k < 300; ++k) pairs.row(k) << 299 - k, 299 - k;
  CHECK(cp::solve(source, target, pairs, {.epsilon = 0.05}).inliers.size() == 60);
  const Eigen::Matrix2Xi columns = pairs.transpose();
  const std::vector<Eigen::Vector2i> listed{{0, 0}, {1, 1}, {2, 200}};
  CHECK(cp::consistency_graph(source, target, columns) == cp::consistency_graph(source, target, pairs));
  CHECK(cp::consistency_graph(source, target, listed).num_edges() == 1);
  const Eigen::Matrix2Xi few = columns.rightCols(2);  // pairs in columns, although there are two of them
  CHECK(cp::consistency_graph(source, target, few).num_edges() == 1);

  Eigen::MatrixX2i edges(2, 2);
  edges << 0, 1, 2, 3;
  CHECK(cp::Graph::from_edges(4, edges).has_edge(0, 1) && cp::Graph::from_edges(4, edges.transpose()).has_edge(2, 3));

  Eigen::MatrixXi adjacency = Eigen::MatrixXi::Ones(5, 5) - Eigen::MatrixXi::Identity(5, 5);
  CHECK(cp::Graph::from_adjacency(adjacency).num_edges() == 10);
  CHECK(cp::Graph::from_edges(300, listed.begin() == listed.end() ? listed : std::vector<Eigen::Vector2i>{{0, 4}})
            .has_edge(4, 0));

  const Eigen::MatrixXd square = Eigen::MatrixXd::Random(3, 3);
  const std::string message = refusal([&] { cp::consistency_graph(square, square); });
  CHECK(message.starts_with("source: points of shape (3, 3) may be in rows or in columns"));
  const cp::PointsView rows(square, cp::PointsView::Layout::kRows);
  CHECK(cp::consistency_graph(rows, rows).num_edges() == 3);
  std::puts("Eigen: taken as it is");
}
