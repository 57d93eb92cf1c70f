#include "search.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "colouring.h"
#include "cores.h"

namespace clipperplus {

namespace {

// Searches one subproblem after another; the memory of the largest one so far is kept.
class SubproblemSearch {
 public:
  SubproblemSearch(std::uint64_t node_limit, const simd::Kernels& kernels, Control& control)
      : node_limit_(node_limit), kernels_(kernels), control_(control) {}

  std::uint64_t nodes() const { return nodes_; }
  bool stopped() const { return stopped_; }

  // A clique of more than `must_beat` vertices of the graph, or nothing.
  std::vector<Vertex> search(const Graph& graph, std::size_t must_beat) {
    const std::size_t n = graph.num_vertices(), words = graph.stride();
    if (n <= must_beat) return {};
    reserve(n, words);
    simd::LocalSearch task{
        .rows = graph.row(0),
        .n = n,
        .words = words,
        .must_beat = must_beat,
        .best = best_.data(),
        .clique = clique_.data(),
        .levels = levels_.data(),
        .classes = classes_.data(),
        .scratch = scratch_.data(),
        .used = used_.get(),
        .unused = unused_.data(),
        .forced = forced_.data(),
        .nodes = nodes_,
        .node_limit = node_limit_,
        .stop = [](void* control) { return static_cast<Control*>(control)->expired(); },
        .context = &control_,
        .stopped = false,
    };
    kernels_.search(task);
    nodes_ = task.nodes;
    stopped_ = task.stopped;
    if (task.must_beat == must_beat) return {};
    return {best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(task.must_beat)};
  }

 private:
  void reserve(std::size_t n, std::size_t words) {
    if (clique_.size() < n) {
      best_.resize(n);
      clique_.resize(n);
      used_ = std::make_unique<bool[]>(n);
      forced_.resize(n);
      unused_.resize(n);
    }
    levels_.resize(std::max(levels_.size(), 2 * words * (n + 1)));
    classes_.resize(std::max(classes_.size(), words * n));
    scratch_.resize(std::max(scratch_.size(), words));
  }

  std::uint64_t node_limit_, nodes_ = 0;
  const simd::Kernels& kernels_;
  Control& control_;
  bool stopped_ = false;
  std::vector<Vertex> best_, clique_;
  AlignedVector<Word> levels_, classes_, scratch_;
  std::unique_ptr<bool[]> used_;
  std::vector<simd::Forced> forced_;
  std::vector<std::size_t> unused_;
};

}  // namespace

SearchResult search_clique(const Graph& ordered, std::size_t must_beat, std::uint64_t node_limit,
                           const simd::Kernels& kernels, Control& control) {
  const std::size_t n = ordered.num_vertices();
  SearchResult result;
  result.upper_bound = n;
  const auto colours = colour_vertices(ordered, kernels, control);
  if (!colours) return result;
  const auto colour = [&](Vertex v) { return static_cast<std::size_t>((*colours)[static_cast<std::size_t>(v)]) + 1; };

  std::vector<Vertex> starts(n);
  std::iota(starts.rbegin(), starts.rend(), Vertex{0});
  std::stable_sort(starts.begin(), starts.end(), [&](Vertex a, Vertex b) { return colour(a) > colour(b); });
  SubproblemSearch subproblems(node_limit, kernels, control);
  std::vector<bool> done(n, false);
  std::size_t best = must_beat;
  for (Vertex v : starts) {
    result.upper_bound = colour(v);
    if (colour(v) <= best) break;
    if (control.expired()) return result;
    if (best == 0) {
      result.clique.assign(1, v);
      best = 1;
    }
    std::vector<Vertex> candidates;
    ordered.for_each_neighbour(static_cast<std::size_t>(v), [&](Vertex u) {
      if (!done[static_cast<std::size_t>(u)]) candidates.push_back(u);
    });
    done[static_cast<std::size_t>(v)] = true;
    if (candidates.size() < best) continue;

    // A clique of more than `best` vertices with v has at least `best` of them here.
    const std::size_t rest = best - 1;
    const Graph around = ordered.subgraph(candidates, kernels, control);
    const auto [local, cores, order] = order_by_core(around, kernels, control);
    const auto kept = static_cast<std::size_t>(
        std::count_if(cores.begin(), cores.end(), [=](Vertex k) { return static_cast<std::size_t>(k) >= rest; }));
    if (kept < best) continue;
    const Graph pruned = local.prefix(kept, kernels, control);
    const auto clique = subproblems.search(pruned, rest);
    result.nodes = subproblems.nodes();
    if (!clique.empty()) {
      result.clique.assign(1, v);
      for (Vertex u : clique) {
        result.clique.push_back(candidates[static_cast<std::size_t>(order[static_cast<std::size_t>(u)])]);
      }
      best = result.clique.size();
    }
    if (subproblems.stopped()) return result;
  }
  result.upper_bound = best;
  result.complete = true;
  return result;
}

}  // namespace clipperplus
