#include "clique/weighted_search.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "clique/colouring.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

// The heaviest clique so far, shared by threads that work on numbered tasks: heavier wins, then the lower task.
class SharedHeaviest {
 public:
  explicit SharedHeaviest(Weight weight) : weight_(weight) {}

  // What a clique from `task` must exceed to become the best: one from an earlier task replaces an equal one.
  Weight to_beat(std::size_t task) const {
    const std::lock_guard lock(mutex_);
    return task < holder_ ? weight_ - 1 : weight_;
  }
  Weight weight() const {
    const std::lock_guard lock(mutex_);
    return weight_;
  }
  std::size_t holder() const { return holder_; }

  void offer(std::size_t task, Weight weight, std::vector<Vertex> clique) {
    const std::lock_guard lock(mutex_);
    if (weight <= (task < holder_ ? weight_ - 1 : weight_)) return;
    weight_ = weight;
    holder_ = task;
    clique_ = std::move(clique);
  }
  std::vector<Vertex> take() { return std::move(clique_); }
  bool improved() const { return !clique_.empty(); }

 private:
  mutable std::mutex mutex_;
  Weight weight_;
  std::size_t holder_ = 0;  // what is known from elsewhere comes before all tasks
  std::vector<Vertex> clique_;
};

class WeightedSearch {
 public:
  WeightedSearch(const Graph& ordered, std::span<const Weight> weights, std::vector<Vertex> starts,
                 std::vector<Weight> limits, bool with_later, Weight must_beat, const WeightedSearchOptions& options,
                 const OnWeight& on_progress, const simd::Kernels& kernels, Control& control)
      : ordered_(ordered),
        weights_(weights),
        starts_(std::move(starts)),
        limits_(std::move(limits)),
        with_later_(with_later),
        rank_(starts_.size()),
        done_(starts_.size()),
        options_(options),
        on_progress_(on_progress),
        kernels_(kernels),
        control_(control),
        best_(must_beat),
        reported_weight_(must_beat) {
    for (std::size_t k = 0; k < starts_.size(); ++k) rank_[static_cast<std::size_t>(starts_[k])] = k;
    reported_bound_ = upper_bound();
  }

  WeightedSearchResult run() {
    run_on_threads(options_.threads, control_, [this](bool owner) { Worker(*this, owner).run(); }, [] {});
    WeightedSearchResult result;
    result.complete = !stopped_;
    result.nodes = nodes_;
    result.upper_bound = result.complete ? best_.weight() : upper_bound();
    if (!best_.improved()) return result;
    result.clique = best_.take();
    if (result.complete) {  // which one was met first may depend on the threads, and on what was known before
      auto first = Worker(*this, true).search_alone(best_.holder(), best_.weight());
      if (!first.empty()) result.clique = std::move(first);
    }
    return result;
  }

 private:
  class Worker {
   public:
    Worker(WeightedSearch& search, bool owner) : search_(search), owner_(owner), follower_(&search.control_) {}

    void run() {
      while (!poll() && !search_.stopped_) {
        const std::size_t index = search_.next_++;
        if (index >= search_.starts_.size() || search_.limits_[index] <= search_.best_.to_beat(index)) {
          if (index < search_.starts_.size()) {
            search_.next_ = search_.starts_.size();  // nor can any later one: limits do not increase
            search_.finish_from(index);
          }
          break;
        }
        if (!work_on(index)) break;
        search_.finish(index);
        if (owner_) search_.report();
      }
      if (search_.control_.stopped()) search_.stopped_ = true;
      search_.nodes_ += nodes_;
    }

    // The first clique of a weight in a subproblem; nothing if time is up before.
    std::vector<Vertex> search_alone(std::size_t index, Weight weight) {
      SharedHeaviest alone(weight - 1);
      best_ = &alone;
      work_on(index);
      return alone.take();
    }

   private:
    bool poll() { return owner_ ? (search_.report(), search_.control_.expired()) : search_.control_.stopped(); }

    // Searches a subproblem; false if it was cut short.
    bool work_on(std::size_t index) {
      index_ = index;
      const Vertex v = search_.starts_[index];
      const Weight own = search_.weights_[static_cast<std::size_t>(v)];
      Weight all = own;
      vertices_.clear();
      search_.ordered_.for_each_neighbour(static_cast<std::size_t>(v), [&](Vertex u) {
        const auto k = static_cast<std::size_t>(u);
        if (search_.weights_[k] == 0 || (search_.rank_[k] > index) != search_.with_later_) return;
        vertices_.push_back(u);
        all += search_.weights_[k];
      });
      if (own > best_->to_beat(index)) found({}, own);
      if (vertices_.empty() || all <= best_->to_beat(index)) return true;
      Control& control = owner_ ? search_.control_ : follower_;
      const Graph local = search_.ordered_.subgraph(vertices_, search_.kernels_, control).with_bits();
      const auto colours = colour_vertices(local, search_.kernels_, control);
      if (!colours) return stop();
      const auto most = static_cast<std::size_t>(*std::max_element(colours->begin(), colours->end())) + 1;
      auto task = prepare(local, most, own);
      search_.kernels_.search_weighted(task);
      nodes_ = task.nodes;
      return task.stopped ? stop() : true;
    }

    bool stop() {
      search_.stopped_ = true;
      search_.control_.stop();
      return false;
    }

    simd::WeightedTask prepare(const Graph& local, std::size_t most, Weight own) {
      const std::size_t n = local.num_vertices(), words = local.stride();
      const auto grow = [](auto& scratch, std::size_t size) { scratch.resize(std::max(scratch.size(), size)); };
      local_weights_.clear();
      for (const Vertex u : vertices_) local_weights_.push_back(search_.weights_[static_cast<std::size_t>(u)]);
      grow(clique_, most + 1);
      grow(levels_, simd::kSearchSets * words * (most + 2));
      grow(sets_, words * (n + 1));
      grow(pool_, words);
      grow(room_, n + 1);
      grow(unpaid_, n);
      std::fill_n(levels_.begin(), simd::kSearchSets * words, 0);
      set_prefix(levels_.data(), n);
      simd::WeightedTask task{};
      task.rows = local.row(0);
      task.n = n;
      task.words = words;
      task.weights = local_weights_.data();
      task.clique = clique_.data();
      task.weight = own;
      task.levels = levels_.data();
      task.sets = sets_.data();
      task.room = room_.data();
      task.unpaid = unpaid_.data();
      task.pool = pool_.data();
      task.nodes = nodes_;
      task.node_limit = search_.options_.node_limit;
      task.context = this;
      task.stop = [](void* self) { return static_cast<Worker*>(self)->poll(); };
      task.to_beat = [](void* self) {
        const auto* worker = static_cast<Worker*>(self);
        return worker->best_->to_beat(worker->index_);
      };
      task.found = [](void* self, const Vertex* clique, std::size_t size) {
        auto* worker = static_cast<Worker*>(self);
        Weight weight = worker->search_.weights_[static_cast<std::size_t>(worker->search_.starts_[worker->index_])];
        for (std::size_t k = 0; k < size; ++k) weight += worker->local_weights_[static_cast<std::size_t>(clique[k])];
        worker->found({clique, size}, weight);
      };
      return task;
    }

    void found(std::span<const Vertex> local, Weight weight) {
      std::vector<Vertex> clique{search_.starts_[index_]};
      for (const Vertex u : local) clique.push_back(vertices_[static_cast<std::size_t>(u)]);
      best_->offer(index_, weight, std::move(clique));
      if (owner_) search_.report();
    }

    WeightedSearch& search_;
    bool owner_;
    Control follower_;
    SharedHeaviest* best_ = &search_.best_;
    std::size_t index_ = 0;
    std::uint64_t nodes_ = 0;
    std::vector<Vertex> vertices_, clique_;  // of the subproblem: local index → vertex of the whole graph
    std::vector<Weight> local_weights_, room_, unpaid_;
    AlignedVector<Word> levels_, sets_, pool_;
  };

  void finish(std::size_t index) {
    const std::lock_guard lock(mutex_);
    done_[index] = true;
    while (first_open_ < done_.size() && done_[first_open_]) ++first_open_;
  }
  void finish_from(std::size_t index) {
    const std::lock_guard lock(mutex_);
    std::fill(done_.begin() + static_cast<std::ptrdiff_t>(index), done_.end(), true);
    while (first_open_ < done_.size() && done_[first_open_]) ++first_open_;
  }

  Weight upper_bound() {
    const std::lock_guard lock(mutex_);
    const Weight best = best_.weight();
    return first_open_ < limits_.size() ? std::max(best, limits_[first_open_]) : best;
  }

  // Tells the caller what is new. Only on its own thread.
  void report() {
    if (!on_progress_) return;
    const Weight weight = best_.weight(), bound = std::min(upper_bound(), reported_bound_);
    if (weight == reported_weight_ && bound == reported_bound_) return;
    reported_weight_ = weight;
    reported_bound_ = bound;
    on_progress_(weight, bound);
  }

  const Graph& ordered_;
  std::span<const Weight> weights_;
  std::vector<Vertex> starts_;  // in the order in which they are searched
  std::vector<Weight> limits_;  // no clique of a subproblem is heavier; they do not increase
  bool with_later_;             // subproblems have the neighbours that come later in this order, or earlier
  std::vector<std::size_t> rank_;
  std::vector<bool> done_;
  const WeightedSearchOptions options_;
  const OnWeight& on_progress_;
  const simd::Kernels& kernels_;
  Control& control_;
  SharedHeaviest best_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> nodes_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::size_t first_open_ = 0;  // all before are done
  Weight reported_weight_, reported_bound_ = 0;
};

}  // namespace

std::vector<Weight> weighted_cover(const Graph& graph, std::span<const Weight> weights, const simd::Kernels& kernels,
                                   Control& control) {
  const std::size_t n = graph.num_vertices(), words = graph.stride();
  std::vector<Weight> unpaid(weights.begin(), weights.end()), paid_at(n, 0);
  AlignedVector<Word> open(words, 0), before(words, 0), pool(words, 0);
  set_prefix(open.data(), n);
  for (std::size_t v = 0; v < n; ++v) {
    if (weights[v] == 0) clear_bit(open.data(), v);
  }
  std::vector<std::size_t> members;
  for (Weight total = 0; std::any_of(open.begin(), open.end(), [](Word w) { return w != 0; });) {
    if (control.expired()) return {};
    before = pool = open;
    kernels.take_colour_class(graph.row(0), words, open.data(), pool.data());
    members.clear();
    for (std::size_t w = 0; w < words; ++w) before[w] &= ~open[w];
    for_each_bit(before.data(), words, [&](std::size_t v) { members.push_back(v); });
    Weight least = unpaid[members.front()];
    for (const std::size_t v : members) least = std::min(least, unpaid[v]);
    total += least;
    for (const std::size_t v : members) {
      unpaid[v] -= least;
      if (unpaid[v] > 0) {
        set_bit(open.data(), v);
      } else {
        paid_at[v] = total;
      }
    }
  }
  return paid_at;
}

WeightedSearchResult search_weighted_clique(const Graph& ordered, std::span<const Weight> weights,
                                            std::span<const Weight> cores, Weight must_beat,
                                            const WeightedSearchOptions& options, const OnWeight& on_progress,
                                            const simd::Kernels& kernels, Control& control) {
  const std::size_t n = ordered.num_vertices();
  std::vector<Vertex> starts(n);
  std::iota(starts.begin(), starts.end(), Vertex{0});
  std::vector<Weight> limits(cores.begin(), cores.end());
  const bool covers = ordered.has_bits();
  if (covers) {
    const auto paid_at = weighted_cover(ordered, weights, kernels, control);
    if (n > 0 && paid_at.empty()) return {{}, *std::max_element(cores.begin(), cores.end()), 0, false};
    std::stable_sort(starts.begin(), starts.end(), [&](Vertex a, Vertex b) {
      return paid_at[static_cast<std::size_t>(a)] > paid_at[static_cast<std::size_t>(b)];
    });
    for (std::size_t k = 0; k < n; ++k) limits[k] = paid_at[static_cast<std::size_t>(starts[k])];
  }
  WeightedSearchOptions checked = options;
  if (options.node_limit != ~std::uint64_t{0}) checked.threads = 1;
  return WeightedSearch(ordered, weights, std::move(starts), std::move(limits), covers, must_beat, checked, on_progress,
                        kernels, control)
      .run();
}

}  // namespace clipperplus::inline v0
