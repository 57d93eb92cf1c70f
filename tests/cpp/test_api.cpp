// What C++ programs call: containers and matrices of theirs, graphs of associations beside two
// plain loops, and the answers of Python's solve.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "clipperplus/clipperplus.h"
#include "random_graphs.h"
#include "words.h"

using namespace clipperplus;

namespace {

// As Eigen's, with any strides.
template <class T>
struct Strided {
  using Scalar = T;
  std::vector<T> numbers;
  std::ptrdiff_t row_count, column_count, row_step, column_step;

  const T* data() const { return numbers.data(); }
  std::ptrdiff_t rows() const { return row_count; }
  std::ptrdiff_t cols() const { return column_count; }
  std::ptrdiff_t rowStride() const { return row_step; }
  std::ptrdiff_t colStride() const { return column_step; }
};

template <class T>
Strided<T> strided(const std::vector<std::array<double, 3>>& points, bool transposed, std::ptrdiff_t gap) {
  const auto n = static_cast<std::ptrdiff_t>(points.size());
  Strided<T> matrix{std::vector<T>(static_cast<std::size_t>(3 * n * gap * gap + 1), T(99)), n, 3, 3 * gap * gap, gap};
  if (transposed) {
    std::swap(matrix.row_count, matrix.column_count);
    std::swap(matrix.row_step, matrix.column_step);
  }
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (std::size_t a = 0; a < 3; ++a) {
      matrix.numbers[k * static_cast<std::size_t>(3 * gap * gap) + a * static_cast<std::size_t>(gap)] =
          static_cast<T>(points[k][a]);
    }
  }
  return matrix;
}

// As TEASER's cloud: a range, but without data().
class Cloud {
 public:
  struct Point {
    float x, y, z;
  };

  void add(const Point& point) { points_.push_back(point); }
  std::size_t size() const { return points_.size(); }
  std::vector<Point>::const_iterator begin() const { return points_.begin(); }
  std::vector<Point>::const_iterator end() const { return points_.end(); }

 private:
  std::vector<Point> points_;
};

std::vector<std::array<double, 3>> random_points(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> coordinate(-40, 40);
  std::vector<std::array<double, 3>> points(count);
  for (auto& point : points) {
    for (double& value : point) value = 0.125 * coordinate(random);  // exact in single precision
  }
  return points;
}

double distance(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

template <class Action>
std::string refusal(Action action) {
  return message_of<std::invalid_argument>(action);
}

// The formats of files of graphs, in a folder that is gone afterwards.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "clipperplus_test_api";

  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const char* name, const char* text) const {
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
};

struct Problem {
  std::string name, status;
  std::vector<std::array<double, 3>> source, target;
  std::vector<std::array<int, 2>> associations;
  std::vector<double> epsilons, residuals;
  std::size_t edges = 0, upper_bound = 0;
  std::vector<Vertex> clique;
  std::vector<std::pair<std::size_t, std::array<double, 16>>> motions;
};

template <class Row>
void read_rows(std::istream& file, std::vector<Row>& rows) {
  for (Row& row : rows) {
    for (auto& value : row) file >> value;
  }
}

std::vector<Problem> read_problems() {
  std::ifstream file(MATCHED_POINTS);
  std::vector<Problem> problems;
  for (std::string word; file >> word;) {
    if (word == "problem") file >> problems.emplace_back().name;
    Problem& problem = problems.back();
    std::size_t count = 0;
    if (word == "points") {
      file >> count;
      problem.source.resize(count);
      problem.target.resize(count);
      problem.associations.resize(count);
      read_rows(file, problem.source);
      read_rows(file, problem.target);
      read_rows(file, problem.associations);
    } else if (word == "epsilon") {
      file >> count;
      problem.epsilons.resize(count);
      for (double& value : problem.epsilons) file >> value;
    } else if (word == "status") {
      file >> problem.status;
    } else if (word == "edges") {
      file >> problem.edges;
    } else if (word == "clique") {
      file >> count >> problem.upper_bound;
      problem.clique.resize(count);
      for (Vertex& v : problem.clique) file >> v;
    } else if (word == "motion") {
      auto& [support, matrix] = problem.motions.emplace_back();
      file >> support;
      for (double& value : matrix) file >> value;
    } else if (word == "residuals") {
      problem.residuals.resize(problem.source.size());
      for (double& value : problem.residuals) file >> value;
    }
  }
  return problems;
}

Status status_of(const std::string& python) {
  if (python == "degenerate") return Status::Degenerate;
  if (python == "ambiguous") return Status::Ambiguous;
  return python == "too-few-inliers" ? Status::TooFewInliers : Status::Found;
}

double largest_difference(const std::array<double, 16>& a, const std::array<double, 16>& b) {
  double largest = 0.0;
  for (std::size_t k = 0; k < a.size(); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

}  // namespace

TEST_CASE("matched points have the transform of Python's solve, and its inliers, alternatives and status") {
  const auto problems = read_problems();
  REQUIRE(problems.size() >= 8);
  for (const Problem& problem : problems) {
    CAPTURE(problem.name);
    SolveOptions options;
    if (problem.epsilons.size() == 1) options.epsilon = problem.epsilons[0];
    if (problem.epsilons.size() > 1) options.epsilons = problem.epsilons;
    for (const std::size_t threads : {1, 2}) {
      options.clique.threads = threads;
      const Solution found = solve(problem.source, problem.target, problem.associations, options);
      CHECK((found.status == status_of(problem.status)));
      CHECK(found.graph.num_edges() == problem.edges);
      CHECK(found.clique.vertices == problem.clique);
      CHECK(found.clique.upper_bound == problem.upper_bound);
      REQUIRE(found.T_target_source.has_value() == !problem.motions.empty());
      if (problem.motions.empty()) continue;
      CHECK(found.inliers == problem.clique);
      CHECK(largest_difference(found.T_target_source->matrix, problem.motions[0].second) < 1e-9);
      REQUIRE(found.alternatives.size() + 1 == problem.motions.size());
      for (std::size_t k = 1; k < problem.motions.size(); ++k) {
        const auto& [support, matrix] = problem.motions[k];
        CHECK(found.alternatives[k - 1].inliers.size() == support);
        CHECK(largest_difference(found.alternatives[k - 1].T_target_source.matrix, matrix) < 1e-9);
      }
      for (std::size_t k = 0; k < problem.residuals.size(); ++k) {
        REQUIRE_EACH(std::abs(found.residuals[k] - problem.residuals[k]) < 1e-9, "k = ", k);
      }
      CHECK((found.degenerate_axes.empty() == (found.status != Status::Degenerate)));
    }
  }
}

TEST_CASE("matched points have the same answer in every unit") {
  for (const Problem& problem : read_problems()) {
    CAPTURE(problem.name);
    SolveOptions options;
    if (problem.epsilons.size() == 1) options.epsilon = problem.epsilons[0];
    if (problem.epsilons.size() > 1) options.epsilons = problem.epsilons;
    const Solution expected = solve(problem.source, problem.target, problem.associations, options);
    for (const int exponent : {-700, -20, 700}) {
      CAPTURE(exponent);
      const auto scale = [&](double& length) { length = std::ldexp(length, exponent); };
      Problem scaled = problem;
      SolveOptions other = options;
      for (auto* points : {&scaled.source, &scaled.target}) {
        for (auto& point : *points) std::for_each(point.begin(), point.end(), scale);
      }
      scale(other.epsilon);
      std::for_each(other.epsilons.begin(), other.epsilons.end(), scale);
      const Solution found = solve(scaled.source, scaled.target, scaled.associations, other);
      CHECK((found.graph == expected.graph));
      CHECK((found.status == expected.status));
      CHECK(found.inliers == expected.inliers);
      CHECK(found.alternatives.size() == expected.alternatives.size());
      REQUIRE(found.T_target_source.has_value() == expected.T_target_source.has_value());
      if (!found.T_target_source) continue;
      std::array<double, 16> matrix = expected.T_target_source->matrix;
      for (const std::size_t place : {3, 7, 11}) scale(matrix[place]);
      CHECK(found.T_target_source->matrix == matrix);
      auto residuals = expected.residuals;
      std::for_each(residuals.begin(), residuals.end(), scale);
      CHECK(found.residuals == residuals);
    }
  }
}

TEST_CASE("matches on a line leave a turn open in every unit") {
  for (const double unit : {1e-200, 1.0, 1e200}) {
    std::vector<std::array<double, 3>> line;
    for (int k = 0; k < 9; ++k) line.push_back({k * unit, 0.0, 0.0});
    const Solution found = solve(line, line, {.epsilon = 0.01 * unit});
    CHECK((found.status == Status::Degenerate));
    CHECK(found.degenerate_axes.size() == 1);
    CHECK(found.inliers.size() == 9);
  }
}

TEST_CASE("points are the same whatever holds them") {
  const auto source = random_points(70, 1), target = random_points(70, 2);
  const Graph expected = consistency_graph(source, target, {.epsilon = 0.3});
  std::size_t edges = 0;
  for (std::size_t i = 0; i < 70; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool agree = std::abs(distance(source[i], source[j]) - distance(target[i], target[j])) < 0.3;
      REQUIRE_EACH(expected.has_edge(i, j) == agree, i, " and ", j);
      edges += agree ? 1 : 0;
    }
  }
  CHECK(edges == expected.num_edges());
  for (const bool transposed : {false, true}) {
    for (const std::ptrdiff_t gap : {1, 2}) {
      CAPTURE(transposed);
      CAPTURE(gap);
      CHECK(consistency_graph(strided<double>(source, transposed, gap), target, {.epsilon = 0.3}) == expected);
      CHECK(consistency_graph(strided<float>(source, transposed, gap), strided<double>(target, !transposed, 1),
                              {.epsilon = 0.3}) == expected);
    }
  }
  struct Named {
    double before, x, y, z;
    short after;
  };
  std::vector<Named> named;
  std::vector<float> flat;
  Cloud cloud;
  for (const auto& [x, y, z] : source) {
    named.push_back({-1.0, x, y, z, 0});
    for (const double value : {x, y, z}) flat.push_back(static_cast<float>(value));
    cloud.add({static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)});
  }
  CHECK(consistency_graph(named, target, {.epsilon = 0.3}) == expected);
  CHECK(consistency_graph(cloud, target, {.epsilon = 0.3}) == expected);
  CHECK(consistency_graph(std::span(named), target, {.epsilon = 0.3}) == expected);  // of what may be changed
  CHECK(consistency_graph(PointsView(flat, 3), target, {.epsilon = 0.3}) == expected);
  CHECK(consistency_graph(PointsView(std::span(flat), 3), target, {.epsilon = 0.3}) == expected);
  CHECK(consistency_graph(MatrixView<float>{flat.data(), 70, 3, 3, 1}, target, {.epsilon = 0.3}) == expected);
  static_assert(!std::is_convertible_v<Strided<int>, PointsView> && !std::is_convertible_v<Cloud, Associations>);
  double plain[70][3];
  for (std::size_t k = 0; k < 70; ++k) std::copy(source[k].begin(), source[k].end(), plain[k]);
  CHECK(consistency_graph(plain, target, {.epsilon = 0.3}) == expected);
  const std::vector<std::array<float, 2>> plane{{0.0F, 0.0F}, {3.0F, 4.0F}};
  CHECK(consistency_graph(plane, plane).num_edges() == 1);
  CHECK(consistency_graph(std::vector<std::array<double, 3>>{}, std::vector<Named>{}).num_vertices() == 0);
}

TEST_CASE("associations are the same whatever holds them, and limits are kept") {
  const auto source = random_points(30, 3), target = random_points(20, 4);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<std::array<std::int64_t, 2>> arrays;
  Strided<int> matrix{{}, 60, 2, 1, 60};
  for (std::size_t k = 0; k < 60; ++k) {
    pairs.emplace_back(k % 30, (7 * k) % 20);
    arrays.push_back({static_cast<std::int64_t>(k % 30), static_cast<std::int64_t>((7 * k) % 20)});
  }
  for (const auto& [from, to] : pairs) matrix.numbers.push_back(static_cast<int>(from));
  for (const auto& [from, to] : pairs) matrix.numbers.push_back(static_cast<int>(to));
  const ConsistencyOptions options{.epsilon = 0.5, .min_distance = 1.0};
  const Graph expected = consistency_graph(source, target, pairs, options);
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto [a, b] = pairs[i];
      const auto [c, d] = pairs[j];
      const double here = distance(source[a], source[c]), there = distance(target[b], target[d]);
      const bool agree = a != c && b != d && here >= 1.0 && there >= 1.0 && std::abs(here - there) < 0.5;
      REQUIRE_EACH(expected.has_edge(i, j) == agree, i, " and ", j);
    }
  }
  CHECK(consistency_graph(source, target, arrays, options) == expected);
  CHECK(consistency_graph(source, target, matrix, options) == expected);
  const Strided<int> few{{0, 1, 5, 6}, 2, 2, 2, 1};  // two pairs in rows, or two others in columns
  CHECK(
      refusal([&] { consistency_graph(source, target, few); }).starts_with("associations: pairs of shape (2, 2) may"));
  const Associations rows(few, PointsView::Layout::kRows), columns(few, PointsView::Layout::kColumns);
  CHECK(std::ranges::equal(rows.numbers(), std::array{0, 1, 5, 6}));
  CHECK(std::ranges::equal(columns.numbers(), std::array{0, 5, 1, 6}));
  ConsistencyOptions other = options;
  other.threads = 3;
  CHECK(consistency_graph(source, target, pairs, other) == expected);
  other.epsilons.assign(60, 0.25);  // of which a pair has the sum
  CHECK(consistency_graph(source, target, pairs, other) == expected);
  CHECK(consistency_graph(source, target, {{0, 1}, {2, 3}}).num_vertices() == 2);
  CHECK(consistency_graph(source, target, std::vector<std::pair<int, int>>{}).num_vertices() == 0);
}

TEST_CASE("graphs are the same whatever they are made of") {
  const Graph expected = random_graph(50, 0.4, 5);
  const auto edges = expected.edges();
  CHECK(edges.size() == expected.num_edges());
  CHECK(std::is_sorted(edges.begin(), edges.end()));
  CHECK(Graph::from_edges(50, edges) == expected);
  Strided<std::uint8_t> bytes{std::vector<std::uint8_t>(2500, 0), 50, 50, 50, 1};
  bool entries[50][50] = {};
  std::vector<float> reals(2500, 0.0F);
  for (const auto& [u, v] : edges) {
    for (const auto& [i, j] : {std::pair(u, v), std::pair(v, u)}) {
      const auto place = static_cast<std::size_t>(50 * i + j);
      bytes.numbers[place] = 1;
      reals[place] = 1.0F;
      entries[i][j] = true;
    }
  }
  CHECK(Graph::from_adjacency(bytes) == expected);
  CHECK(Graph::from_adjacency(MatrixView<bool>{&entries[0][0], 50, 50, 50, 1}) == expected);
  CHECK(Graph::from_adjacency(MatrixView<float>{reals.data(), 50, 50, 1, 50}) == expected);
  CHECK(Graph::from_edges(3, {{0, 1}, {1, 0}, {1, 2}}).num_edges() == 2);
  CHECK(Graph::from_edges(3, {}).num_edges() == 0);
  const Strided<unsigned> columns{{0, 1, 1, 2, 2, 0}, 2, 3, 1, 2}, few{{0, 1, 2, 3}, 2, 2, 2, 1};
  CHECK(Graph::from_edges(3, columns).num_edges() == 3);
  CHECK(Graph::from_edges(4, few, PointsView::Layout::kRows).has_edge(0, 1));
  CHECK(Graph::from_edges(4, few, PointsView::Layout::kColumns).has_edge(0, 2));
  CHECK(refusal([&] { Graph::from_edges(4, few); }).starts_with("edges: pairs of shape (2, 2) may be in rows or"));
  const Strided<int> wide{std::vector<int>(9), 3, 3, 3, 1};
  CHECK(refusal([&] { Graph::from_edges(4, wide); }) == "edges: expected an array of shape (m, 2), got (3, 3)");
}

TEST_CASE("numbers are written as Python writes them") {
  const std::pair<double, const char*> cases[] = {
      {1.0, "1.0"},    {-0.05, "-0.05"}, {1e15, "1000000000000000.0"}, {1e16, "1e+16"},    {0.0001, "0.0001"},
      {1e-5, "1e-05"}, {0.1, "0.1"},     {1.5e300, "1.5e+300"},        {5e-324, "5e-324"}, {123456.789, "123456.789"},
  };
  for (const auto& [value, text] : cases) {
    CHECK(number_text(value) == text);
    CHECK(number_of(text) == value);
  }
  CHECK(number_of("5.") == 5.0);
  CHECK(number_of(".5E1") == 5.0);
  for (const char* none : {"", "+1", "1e", "1.5.5", "1-2", "1e400", "nan", "inf", "0x10", " 1", "1 ", "1,5"}) {
    REQUIRE_EACH(std::isnan(number_of(none)), "'", none, "'");
  }
  CHECK(limit_text(2.0) == "2");
  CHECK(limit_text(1.5) == "1.5");
}

TEST_CASE("files of graphs are read by their endings, and others refused") {
  const Folder folder;
  const Graph triangle = Graph::from_edges(4, {{0, 1}, {1, 2}, {0, 2}});
  CHECK(read_graph(folder.write("a.clq", "p edge 4 3\ne 1 2\ne 2 3\ne 1 3\n")) == triangle);
  CHECK(read_graph(folder.write("a.EDGES", "# vertices 4 edges 3\n0 1\n1 2\n0 2\n")) == triangle);
  const char* matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n3 1\n";
  CHECK(read_graph(folder.write("a.mtx", matrix)) == triangle);
  const std::string cut = folder.write("cut.clq", "p edge 4 3\ne 1 2\n");
  CHECK(refusal([&] { read_graph(cut); }) == cut + ": line 2: the header promises 3 edges, the file holds 1");
  const std::string far = folder.write("far.edges", "0 67108863\n");  // 67 million vertices in eleven bytes
  CHECK(refusal([&] { read_graph(far); }) ==
        far +
            ": what it holds takes 1610612760 bytes or more (1536 MiB), of a file of 11; 268435456 are allowed, "
            "unless size_limit says more");
  CHECK(refusal([&] { read_graph(cut, 1); }).find("of a file of 17; 1 are allowed") != std::string::npos);
  CHECK(refusal([&] { read_graph(cut + std::string("\0.txt", 5)); }) ==
        "path: expected a name without null characters");
  CHECK(read_graph(folder.write("near.edges", "0 1000000\n")).num_vertices() == 1000001);
  CHECK(refusal([&] { read_graph(folder.path / "b.clq"); }) == (folder.path / "b.clq").string() + ": no such file");
  CHECK(refusal([&] { read_graph(folder.write("a.ply", "")); }).find("unknown kind of graph file") !=
        std::string::npos);
  std::filesystem::create_directory(folder.path / "folder.clq");
  CHECK(refusal([&] {
          read_graph(folder.path / "folder.clq");
        }).ends_with(": expected a regular file, this is a folder"));
}

TEST_CASE("files that are larger than the memory of the machine are refused before they are read") {
  const Folder folder;
  const std::string path = folder.write("huge.clq", "");
  std::error_code error;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 42, error);  // which takes no room on the disk
  if (error) return;                                                   // or is not possible there
  const std::string message = refusal([&] { read_graph(path); });
  CAPTURE(message);
  CHECK(message.starts_with(path + ": what it holds takes 4398046511104 bytes or more (4194304 MiB), of a file of "));
}
