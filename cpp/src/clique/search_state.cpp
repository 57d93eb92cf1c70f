#include "clique/search_state.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "clique/maximal.h"

namespace clipperplus::inline v0 {

static_assert(sizeof(std::size_t) >= sizeof(Weight), "sizes and bounds count weights, too");

SearchState::SearchState(const Graph& graph, const SearchLimits& limits, std::vector<Weight> vertex_weights,
                         CliqueCallback callback, Control::Check check, const simd::Kernels& kernels)
    : graph_(graph),
      searched_(&graph),
      limits_(limits),
      vertex_weights_(std::move(vertex_weights)),
      callback_(std::move(callback)),
      kernels_(kernels),
      upper_bound_(vertex_weights_.empty() ? static_cast<Weight>(graph.num_vertices())
                                           : std::reduce(vertex_weights_.begin(), vertex_weights_.end())),
      began_(Control::Clock::now()),
      stage_began_(began_),
      watch_(limits.time_limit, std::move(check)) {}

double SearchState::seconds() const { return std::chrono::duration<double>(Control::Clock::now() - began_).count(); }

std::uint64_t SearchState::nodes_left() const {
  if (limits_.node_limit == kNoNodeLimit) return kNoNodeLimit;
  return limits_.node_limit - std::min(limits_.node_limit, nodes_);
}

Weight SearchState::weight_of(std::span<const Vertex> clique) const {
  if (vertex_weights_.empty()) return static_cast<Weight>(clique.size());
  Weight weight = 0;
  for (const Vertex v : clique) weight += vertex_weights_[static_cast<std::size_t>(v)];
  return weight;
}

// A claim, and after it all vertices in the order in which it is grown.
std::vector<std::int64_t> SearchState::grown_by_weight(std::span<const std::int64_t> claim) {
  if (heaviest_first_.empty()) {
    heaviest_first_.resize(vertex_weights_.size());
    std::iota(heaviest_first_.begin(), heaviest_first_.end(), 0);
    std::stable_sort(heaviest_first_.begin(), heaviest_first_.end(), [this](std::int64_t a, std::int64_t b) {
      return vertex_weights_[static_cast<std::size_t>(a)] > vertex_weights_[static_cast<std::size_t>(b)];
    });
  }
  std::vector<std::int64_t> all(claim.begin(), claim.end());
  all.insert(all.end(), heaviest_first_.begin(), heaviest_first_.end());
  return all;
}

void SearchState::offer(std::string_view stage, std::span<const std::int64_t> claim, const StageFacts& facts) {
  offer(stage, claim, facts, watch_.control_to_the_end());
}

void SearchState::offer(std::string_view stage, std::span<const std::int64_t> claim, const StageFacts& facts,
                        Control control) {
  const std::size_t named = facts.named.value_or(claim.size());
  auto [clique, removed, added] = vertex_weights_.empty()
                                      ? make_maximal(graph_, claim, named, control)
                                      : make_maximal(graph_, grown_by_weight(claim), named, control);
  if (facts.named == 0) added = 0;
  if (edge_weights_ != nullptr) {
    const double value = edge_weights_->value_of(std::vector<std::int64_t>(clique.begin(), clique.end()));
    if (value > value_) {
      clique_ = std::move(clique);
      value_ = value;
      weight_ = weight_of(clique_);
    }
  } else if (const Weight weight = weight_of(clique); weight > weight_ || clique_.empty()) {
    clique_ = std::move(clique);
    weight_ = weight;
  }
  record(stage, facts, removed, added);
  progress(weight_, upper_bound_);
}

void SearchState::bound(Weight upper_bound, Certificate certificate) {
  if (upper_bound >= upper_bound_ && certificate_ != Certificate::None) return;
  upper_bound_ = std::min(upper_bound, upper_bound_);
  certificate_ = certificate;
  progress(weight_, upper_bound_);
}

void SearchState::progress(Weight weight, Weight upper_bound) {
  if (clique_.empty() && weight == 0) return;
  const auto [known_weight, known_bound] = told_.value_or(std::pair(weight, upper_bound));
  if (edge_weights_ == nullptr) weight = std::max(weight, known_weight);  // else a better one may have fewer vertices
  upper_bound = std::max(weight, std::min(upper_bound, known_bound));
  if (told_ == std::pair(weight, upper_bound)) return;
  told_ = {weight, upper_bound};
  const auto size = static_cast<std::size_t>(weight), bound = static_cast<std::size_t>(upper_bound);
  history_.push_back({seconds(), size, bound});
  if (!callback_ || enough_ || callback_(size, bound, history_.back().seconds)) return;
  enough_ = true;
  watch_.stop();
}

void SearchState::record(std::string_view stage, const StageFacts& facts, std::size_t removed, std::size_t added) {
  const auto now = Control::Clock::now();
  stages_.push_back({.name = std::string(stage),
                     .seconds = std::chrono::duration<double>(now - stage_began_).count(),
                     .count = facts.count,
                     .clique_size = size(),
                     .vertices = facts.vertices,
                     .removed = removed,
                     .added = added,
                     .converged = facts.converged});
  stage_began_ = now;
}

CliqueResult SearchState::result() {
  if (clique_.empty() && graph_.num_vertices() > 0) {  // stopped before there was any clique
    offer("start", {}, {.vertices = graph_.num_vertices()}, Control());
  }
  if (proven() && certificate_ == Certificate::None) certificate_ = Certificate::CoreBound;  // all of the graph
  return {.vertices = clique_,
          .weight = static_cast<std::size_t>(weight_),
          .upper_bound = static_cast<std::size_t>(upper_bound_),
          .certificate = proven() ? certificate_ : Certificate::None,
          .stages = stages_,
          .history = history_,
          .seconds = seconds(),
          .interrupted = watch_.stopped()};
}

}  // namespace clipperplus::inline v0
