// What is known during a search: its limits, its clock and stages, the best clique and bound so far.
//
// The steps of a method offer cliques and bounds. Every clique that is offered is checked against the input graph,
// repaired and grown to a maximal one, so that no mistake of a step can reach the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ascent/edge_weights.h"
#include "clipperplus/find_clique.h"
#include "simd/kernels.h"
#include "watch.h"

namespace clipperplus::inline v0 {

inline constexpr std::uint64_t kNoNodeLimit = ~std::uint64_t{0};

// What a caller wants of a search, whatever its method.
struct SearchLimits {
  std::optional<double> time_limit;
  std::size_t threads = 1;
  std::uint64_t node_limit = kNoNodeLimit;
};

// What a step says of itself when it ends.
struct StageFacts {
  std::size_t vertices;  // that it worked on
  std::optional<std::uint64_t> count = std::nullopt;
  std::optional<bool> converged = std::nullopt;
  // How many vertices of a claim belong to it; the others say in which order to grow it. With 0 that is how the method
  // makes its clique, and nothing counts as repaired. Not set: all of them.
  std::optional<std::size_t> named = std::nullopt;
};

class SearchState {
 public:
  // `check` is the caller's, as in Control. With weights of the vertices cliques are compared by these.
  SearchState(const Graph& graph, const SearchLimits& limits, std::vector<Weight> vertex_weights,
              CliqueCallback callback, Control::Check check, const simd::Kernels& kernels);

  const Graph& graph() const { return graph_; }
  const simd::Kernels& kernels() const { return kernels_; }
  const SearchLimits& limits() const { return limits_; }
  const Watch& watch() const { return watch_; }

  // The graph that the steps work on: the input, perhaps stored in another way.
  const Graph& searched() const { return *searched_; }
  void search_instead(const Graph& same) { searched_ = &same; }

  // What the vertices weigh; empty: 1 each.
  std::span<const Weight> vertex_weights() const { return vertex_weights_; }
  // With weights of the edges cliques are compared by value, not by size.
  const EdgeWeights* edge_weights() const { return edge_weights_; }
  void weigh_edges(const EdgeWeights& weights) { edge_weights_ = &weights; }

  const std::vector<Vertex>& clique() const { return clique_; }  // the best so far, sorted
  std::size_t size() const { return clique_.size(); }
  Weight weight() const { return weight_; }  // of the best clique so far; its size where vertices have no weights
  double value() const { return value_; }    // of the best clique so far, where edges have weights
  Weight upper_bound() const { return upper_bound_; }
  bool proven() const { return weight_ == upper_bound_; }

  double seconds() const;  // since the start
  bool out_of_time() const { return watch_.expired(); }
  std::uint64_t nodes_left() const;
  void count_nodes(std::uint64_t visited) { nodes_ += visited; }
  // Whether there is something left to prove, and time for it.
  bool go_on() const { return !proven() && !out_of_time() && nodes_left() > 0; }

  // Ends a stage with the clique that it claims, best vertices first; it is kept if it is better than the best so far.
  void offer(std::string_view stage, std::span<const std::int64_t> claim, const StageFacts& facts);
  // Ends a stage: it lasted from the end of the previous one until now.
  void record(std::string_view stage, const StageFacts& facts) { record(stage, facts, 0, 0); }
  // Takes a proven upper bound.
  void bound(Weight upper_bound, Certificate certificate);
  // Notes an improvement and tells the caller; what is no improvement is not passed on.
  void progress(Weight weight, Weight upper_bound);

  // Runs the steps of a method. A caller who wants an end in the midst of one gets what there was before it.
  template <class Steps>
  void run(Steps steps) {
    try {
      steps();
    } catch (const Stopped&) {
    }
  }

  // Closes the books.
  CliqueResult result();

 private:
  Weight weight_of(std::span<const Vertex> clique) const;
  std::vector<std::int64_t> grown_by_weight(std::span<const std::int64_t> claim);
  void offer(std::string_view stage, std::span<const std::int64_t> claim, const StageFacts& facts, Control control);
  void record(std::string_view stage, const StageFacts& facts, std::size_t removed, std::size_t added);

  const Graph& graph_;
  const Graph* searched_;
  SearchLimits limits_;
  std::vector<Weight> vertex_weights_;
  std::vector<std::int64_t> heaviest_first_;  // made when it is needed
  CliqueCallback callback_;
  bool enough_ = false;  // so said the callback: it is not told again
  const simd::Kernels& kernels_;
  const EdgeWeights* edge_weights_ = nullptr;

  std::uint64_t nodes_ = 0;
  std::vector<Vertex> clique_;
  Weight weight_ = 0, upper_bound_;
  double value_ = 0.0;
  Certificate certificate_ = Certificate::None;
  std::vector<CliqueStage> stages_;
  std::vector<Progress> history_;
  std::optional<std::pair<Weight, Weight>> told_;  // weight and upper bound
  Control::Clock::time_point began_, stage_began_;
  Watch watch_;
};

}  // namespace clipperplus::inline v0
