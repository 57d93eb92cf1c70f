#include "clique/option_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "clique/maximal.h"
#include "words.h"

namespace clipperplus::inline v0 {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check_integer(const char* name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
  if (value < low || value > high) refuse(name, ": expected an integer from ", low, " to ", high, ", got ", value);
}

void check_count(const char* name, int value) {
  constexpr int kMost = 1'000'000'000;
  if (value < 1 || value > kMost) refuse(name, ": expected an integer from 1 to ", kMost, ", got ", value);
}

// In [0, high].
void check_number(const char* name, double value, double high = kInfinity) {
  if (std::isfinite(value) && value >= 0.0 && value <= high) return;
  if (high == kInfinity) refuse(name, ": expected a finite number of at least 0, got ", value);
  refuse(name, ": expected a number from 0 to ", limit_text(high), ", got ", value);
}

// In (0, high).
void check_between(const char* name, double value, double high = kInfinity) {
  if (value > 0.0 && value < high) return;
  if (high == kInfinity) refuse(name, ": expected a finite number above 0, got ", value);
  refuse(name, ": expected a number between 0 and ", limit_text(high), ", got ", value);
}

void check_start_vector(const Graph& graph, const std::vector<double>& start) {
  if (start.empty()) return;
  const std::size_t n = graph.num_vertices();
  if (start.size() != n) {
    refuse("start: expected one entry per vertex, shape (", n, ",), got (", start.size(), ",)");
  }
  const auto wrong =
      std::find_if(start.begin(), start.end(), [](double entry) { return !(std::isfinite(entry) && entry >= 0.0); });
  if (wrong != start.end()) {
    refuse("start: entry ", wrong - start.begin(), " is ", *wrong, "; expected finite, nonnegative numbers");
  }
  if (std::all_of(start.begin(), start.end(), [](double entry) { return entry == 0.0; })) {
    refuse("start: expected at least one positive entry");
  }
}

void check_relaxation(const Graph& graph, const RelaxationOptions& options) {
  check_count("max_inner", options.max_inner);
  check_count("max_outer", options.max_outer);
  check_count("max_line_search", options.max_line_search);
  check_number("tol_u", options.tol_u);
  check_number("tol_f", options.tol_f);
  check_number("epsilon", options.epsilon);
  check_between("sigma", options.sigma, 1.0);
  check_between("beta", options.beta, 1.0);
  check_between("max_alpha", options.max_alpha);
  check_number("min_alpha", options.min_alpha, options.max_alpha);
  if (options.optimiser != Optimiser::gradient && options.optimiser != Optimiser::lbfgs) {
    refuse("optimiser: expected gradient or lbfgs, got number ", static_cast<int>(options.optimiser));
  }
  check_start_vector(graph, options.start);
}

void check_vertex_weights(const Graph& graph, const std::vector<Weight>& weights) {
  constexpr Weight kMost = Weight{1} << 62;
  if (weights.empty()) return;
  const std::size_t n = graph.num_vertices();
  if (weights.size() != n) {
    refuse("vertex_weights: expected ", n, " numbers, one per vertex, got shape (", weights.size(), ",)");
  }
  Weight left = kMost;
  for (std::size_t v = 0; v < n; ++v) {
    if (weights[v] < 0) {
      refuse("vertex_weights: weight ", v, " is ", weights[v], "; expected finite numbers of at least 0");
    }
    if (weights[v] >= left) refuse("vertex_weights: expected integers whose sum is less than 2**62");
    left -= weights[v];
  }
}

}  // namespace

void check_start(const Graph& graph, std::span<const Vertex> start) {
  const std::size_t n = graph.num_vertices();
  for (const Vertex v : start) {
    if (v < 0 || static_cast<std::size_t>(v) >= n) refuse("start: vertex ", v, " is out of range for ", n, " vertices");
  }
  std::vector<std::int64_t> vertices(start.begin(), start.end());
  std::sort(vertices.begin(), vertices.end());
  if (std::adjacent_find(vertices.begin(), vertices.end()) != vertices.end()) {
    refuse("start: expected distinct vertices, some appear twice");
  }
  Control control;
  if (make_maximal(graph, vertices, vertices.size(), control).removed > 0) {
    refuse("start: the ", vertices.size(), " vertices are no clique, some of them are not joined");
  }
}

void check_options(const Graph& graph, const CliqueOptions& options, bool method_searches) {
  constexpr std::uint64_t kMostThreads = 1024, kMostNodes = std::uint64_t{1} << 63;
  if (options.node_limit && !method_searches) {
    refuse("node_limit: method '", name_of(options.method), "' has no search");
  }
  if (options.time_limit && *options.time_limit != kInfinity) check_number("time_limit", *options.time_limit);
  if (options.node_limit) check_integer("node_limit", *options.node_limit, 0, kMostNodes);
  check_integer("threads", options.threads, 1, kMostThreads);
  check_relaxation(graph, options.relaxation);
  check_vertex_weights(graph, options.vertex_weights);
  check_start(graph, options.start);
}

}  // namespace clipperplus::inline v0
