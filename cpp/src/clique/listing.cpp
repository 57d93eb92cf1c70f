#include "clique/listing.h"

#include <algorithm>

#include "clique/subproblem.h"

namespace clipperplus::inline v0 {

namespace {

class CliqueLister {
 public:
  CliqueLister(const Graph& ordered, std::size_t size, bool maximum,
               const std::function<bool(std::span<const Vertex>)>& take, const simd::Kernels& kernels, Control& control)
      : ordered_(ordered), size_(size), maximum_(maximum), take_(take), kernels_(kernels), control_(control) {}

  bool run() {
    // From the last vertex: with the graph ordered by core number, few neighbours come before it.
    for (std::size_t v = ordered_.num_vertices(); v-- > 0 && complete_;) {
      if (control_.expired()) complete_ = false;
      if (complete_) list_with(v);
    }
    return complete_;
  }

 private:
  // Cliques of v and vertices before it.
  void list_with(std::size_t v) {
    std::vector<Vertex> candidates, excluded;
    ordered_.for_each_neighbour(
        v, [&](Vertex u) { (static_cast<std::size_t>(u) < v ? candidates : excluded).push_back(u); });
    local_ = {static_cast<Vertex>(v)};
    if (candidates.empty()) {
      if (size_ == 0 && excluded.empty()) report({});
      return;
    }
    const std::size_t must_beat = size_ > 0 ? size_ - 1 : 0;
    auto core = make_subproblem(ordered_, candidates, must_beat, kernels_, control_);
    const std::size_t count = core.vertices.size();
    if (count == 0) return;
    local_.insert(local_.end(), core.vertices.begin(), core.vertices.end());
    if (maximum_) excluded.clear();
    // Excluded vertices become part of the graph, behind the candidates; if there are very many, some are only looked
    // at when a clique has been found.
    const std::size_t inside = std::min(excluded.size(), kMostExcluded);
    local_.insert(local_.end(), excluded.begin(), excluded.begin() + static_cast<std::ptrdiff_t>(inside));
    outside_.assign(excluded.begin() + static_cast<std::ptrdiff_t>(inside), excluded.end());
    const Graph around =
        (inside == 0 ? std::move(core.graph) : ordered_.subgraph(std::span(local_).subspan(1), kernels_, control_))
            .with_bits();
    auto task = memory_.prepare(around, 0, core.largest, simd::kListingSets);
    set_prefix(task.levels, count);
    Word* barred = task.levels + 2 * task.words;
    for (std::size_t u = count; u < around.num_vertices(); ++u) set_bit(barred, u);
    task.must_beat = must_beat;
    task.all_maximal = maximum_;
    task.node_limit = ~std::uint64_t{0};
    task.stop = [](void* self) { return static_cast<CliqueLister*>(self)->control_.expired(); };
    task.found = [](void* self, const Vertex* clique, std::size_t size) {
      return static_cast<CliqueLister*>(self)->report({clique, size});
    };
    task.context = this;
    kernels_.list_cliques(task);
    if (task.stopped) complete_ = false;
  }

  bool report(std::span<const Vertex> clique) {
    std::vector<Vertex> vertices{local_.front()};
    for (Vertex u : clique) vertices.push_back(local_[static_cast<std::size_t>(u) + 1]);
    const auto could_join = [&](Vertex x) {
      return std::all_of(vertices.begin(), vertices.end(), [&](Vertex u) {
        return ordered_.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(x));
      });
    };
    if (std::any_of(outside_.begin(), outside_.end(), could_join)) return true;
    if (!take_(vertices)) complete_ = false;
    return complete_;
  }

  const Graph& ordered_;
  const std::size_t size_;
  const bool maximum_;
  const std::function<bool(std::span<const Vertex>)>& take_;
  const simd::Kernels& kernels_;
  Control& control_;
  static constexpr std::size_t kMostExcluded = 4096;
  std::vector<Vertex> local_;    // v, then the vertices of its subproblem
  std::vector<Vertex> outside_;  // excluded ones that are not among them
  TaskMemory memory_;
  bool complete_ = true;
};

}  // namespace

bool list_cliques(const Graph& ordered, std::size_t size, bool maximum,
                  const std::function<bool(std::span<const Vertex>)>& take, const simd::Kernels& kernels,
                  Control& control) {
  return CliqueLister(ordered, size, maximum, take, kernels, control).run();
}

}  // namespace clipperplus::inline v0
