#include "clique/search.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>

#include "clique/colouring.h"
#include "clique/shared_best.h"
#include "clique/subproblem.h"
#include "compiler.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

// A node of a subproblem, to be searched with everything below it.
struct Node {
  std::shared_ptr<const Subproblem> subproblem;
  std::size_t index;               // of the subproblem
  std::vector<Vertex> clique;      // local vertices
  AlignedVector<Word> candidates;  // local vertices; empty: all
};

// The subproblems in their order, and what is known about them: shared by the threads.
class Search {
 public:
  Search(const Graph& ordered, std::size_t must_beat, const BranchOptions& options, const OnProgress& on_progress,
         const simd::Kernels& kernels, Control& control, const std::vector<Vertex>& colours)
      : ordered_(ordered),
        options_(options),
        on_progress_(on_progress),
        kernels_(kernels),
        control_(control),
        colours_(colours),
        starts_(ordered.num_vertices()),
        rank_(ordered.num_vertices()),
        states_(ordered.num_vertices()),
        best_(must_beat) {
    std::iota(starts_.rbegin(), starts_.rend(), Vertex{0});
    std::stable_sort(starts_.begin(), starts_.end(), [&](Vertex a, Vertex b) { return colour_of(a) > colour_of(b); });
    for (std::size_t i = 0; i < starts_.size(); ++i) rank_[static_cast<std::size_t>(starts_[i])] = i;
    reported_size_ = must_beat;
    reported_bound_ = upper_bound();
  }

  SearchResult run() {
    run_on_threads(
        options_.threads, control_, [this](bool owner) { Worker(*this, owner).run(); }, [this] { wake_all(); });
    SearchResult result;
    result.complete = !stopped_;
    result.nodes = nodes_;
    result.upper_bound = std::max(best_.size(), result.complete ? 0 : upper_bound());
    if (best_.improved()) {
      const State& holder = states_[best_.task()];
      // The threads may have met another clique of this size than the first one in the order of the search.
      const bool first = !holder.split && holder.entered_with + std::size_t{1} == best_.size();
      if (first || !result.complete) {
        result.clique = best_.take();
      } else {
        result.clique = Worker(*this, true).search_alone(best_.task(), best_.size());
        if (result.clique.empty()) result.clique = best_.take();  // out of time
      }
    }
    return result;
  }

 private:
  struct State {
    std::uint32_t open = 1;          // itself, and nodes of it that were given away
    std::uint32_t entered_with = 0;  // the size to beat when it was begun
    bool split = false;
  };

  class Worker {
   public:
    Worker(Search& search, bool owner) : search_(search), owner_(owner), follower_(&search.control_) {}

    void run() {
      for (Node node; search_.take(node, *this);) {
        if (!work_on(node)) break;
        search_.finish(node.index, node.index + 1);
        if (owner_) search_.report();
      }
      search_.nodes_ += nodes_;
    }

    bool poll() { return owner_ ? (search_.report(), search_.control_.expired()) : search_.control_.stopped(); }
    bool owner() const { return owner_; }
    Control& control() { return owner_ ? search_.control_ : follower_; }  // only the owner may poll

    // The first clique of `size` vertices in a subproblem; nothing if time is up before.
    std::vector<Vertex> search_alone(std::size_t index, std::size_t size) {
      Node node{search_.make_node(index, size - 1, control())};
      SharedBest alone(size - 1);
      best_ = &alone;
      if (node.subproblem) work_on(node);
      return alone.take();
    }

   private:
    // Searches a node and all below it; false if it was cut short.
    bool work_on(const Node& node) {
      node_ = &node;
      const Graph& graph = node.subproblem->graph;
      const std::size_t must_beat = std::max<std::size_t>(best_->must_beat(node.index), 1);
      if (node.clique.size() + 1 + graph.num_vertices() <= must_beat) return true;
      if (!graph.has_bits()) return work_on_csr(must_beat);
      auto task = memory_.prepare(graph, node.clique.size(), node.subproblem->largest, simd::kSearchSets);
      std::copy(node.clique.begin(), node.clique.end(), task.clique);
      if (node.candidates.empty()) {
        set_prefix(task.levels, graph.num_vertices());
      } else {
        std::copy(node.candidates.begin(), node.candidates.end(), task.levels);
      }
      task.must_beat = must_beat - 1;
      task.recolour = search_.options_.recolour;
      task.propagate = search_.options_.propagate;
      task.nodes = nodes_;
      task.node_limit = search_.options_.node_limit;
      task.stop = [](void* self) { return static_cast<Worker*>(self)->poll(); };
      task.found = [](void* self, const Vertex* clique, std::size_t size) {
        return static_cast<Worker*>(self)->found({clique, size});
      };
      task.context = this;
      task.best_key = best_->key();
      task.index = node.index;
      task.outside = 1;
      static constexpr int kNobody = 0;
      task.idle = best_ == &search_.best_ ? &search_.idle_ : &kNobody;
      task.give = [](void* self, std::size_t size, const Word* candidates) {
        static_cast<Worker*>(self)->give(size, candidates);
      };
      clique_ = task.clique;
      kernels().search(task);
      nodes_ = task.nodes;
      if (task.stopped) search_.stop();
      return !task.stopped;
    }

    // A subproblem so large and sparse that bit rows do not pay is searched as a graph of its own.
    bool work_on_csr(std::size_t must_beat) {
      BranchOptions options = search_.options_;
      options.threads = 1;
      options.node_limit -= std::min(options.node_limit, nodes_);
      const auto result =
          search_clique(node_->subproblem->graph, must_beat - 1, options, nullptr, kernels(), control());
      nodes_ += result.nodes;
      if (!result.clique.empty()) found(result.clique);
      if (!result.complete) search_.stop();
      return result.complete;
    }

    bool found(std::span<const Vertex> local) {
      std::vector<Vertex> clique{search_.starts_[node_->index]};
      for (Vertex v : local) clique.push_back(node_->subproblem->vertices[static_cast<std::size_t>(v)]);
      best_->offer(node_->index, clique);
      if (owner_) search_.report();
      return true;
    }

    void give(std::size_t size, const Word* candidates) {
      const std::size_t words = node_->subproblem->graph.stride();
      search_.give({node_->subproblem,
                    node_->index,
                    {clique_, clique_ + size},
                    AlignedVector<Word>(candidates, candidates + words)});
    }

    const simd::Kernels& kernels() const { return search_.kernels_; }

    Search& search_;
    bool owner_;
    Control follower_;
    SharedBest* best_ = &search_.best_;
    const Node* node_ = nullptr;
    const Vertex* clique_ = nullptr;  // of the task
    std::uint64_t nodes_ = 0;
    TaskMemory memory_;
  };

  std::size_t colour_of(Vertex v) const { return static_cast<std::size_t>(colours_[static_cast<std::size_t>(v)]) + 1; }

  // The root of a subproblem; without one if it cannot have a clique of more than `must_beat` vertices.
  Node make_node(std::size_t index, std::size_t must_beat, Control& control) {
    const Vertex v = starts_[index];
    std::vector<Vertex> candidates;
    ordered_.for_each_neighbour(static_cast<std::size_t>(v), [&](Vertex u) {
      if (rank_[static_cast<std::size_t>(u)] > index) candidates.push_back(u);
    });
    Node node{nullptr, index, {}, {}};
    auto made = make_subproblem(ordered_, candidates, must_beat - 1, kernels_, control);
    if (made.graph.num_vertices() > 0) node.subproblem = std::make_shared<const Subproblem>(std::move(made));
    return node;
  }

  // The next thing to do for a worker; false if there is nothing more to do, or time is up.
  bool take(Node& node, Worker& worker) {
    node = {};
    while (!worker.poll() && !stopped_) {
      if (const std::size_t index = next_++; index < starts_.size()) {
        if (colour_of(starts_[index]) < best_.size()) {  // nor can any later one: colours do not increase
          const std::size_t rest = next_.exchange(starts_.size());
          finish(index, index + 1);
          finish(std::min(rest, starts_.size()), starts_.size());
          continue;
        }
        const std::size_t must_beat = best_.must_beat(index);
        if (colour_of(starts_[index]) > must_beat) {
          states_[index].entered_with = static_cast<std::uint32_t>(must_beat);
          if (must_beat == 0) best_.offer(index, std::span(&starts_[index], 1));
          node = make_node(index, std::max<std::size_t>(must_beat, 1), worker.control());
          if (node.subproblem) return true;
        }
        finish(index, index + 1);
        continue;
      }
      std::unique_lock lock(mutex_);
      if (!given_.empty()) {
        node = std::move(given_.front());
        given_.pop_front();
        count_idle();
        return true;
      }
      if (open_ == 0) break;
      // Wait to be given a node. The owner looks up from time to time: only it can see that time is up.
      ++waiting_;
      count_idle();
      const auto ready = [&] { return !given_.empty() || open_ == 0 || control_.stopped() || stopped_; };
      if (worker.owner()) {
        wake_.wait_for(lock, std::chrono::milliseconds(5), ready);
      } else {
        wake_.wait(lock, ready);
      }
      --waiting_;
      count_idle();
    }
    if (first_open_ < starts_.size() && control_.stopped()) stop();
    return false;
  }

  void give(Node node) {
    const std::lock_guard lock(mutex_);
    State& state = states_[node.index];
    state.split = true;
    ++state.open;
    ++open_;
    given_.push_back(std::move(node));
    count_idle();
    wake_.notify_one();
  }

  void finish(std::size_t begin, std::size_t end) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = begin; i < end; ++i) --states_[i].open;
    while (first_open_ < starts_.size() && states_[first_open_].open == 0) ++first_open_;
    open_ -= end - begin;
    if (open_ == 0) wake_.notify_all();
  }

  void stop() {
    stopped_ = true;
    control_.stop();
    wake_all();
  }

  void wake_all() {
    // Through the mutex: a thread that has just looked and is about to wait must not miss it.
    {
      const std::lock_guard lock(mutex_);
    }
    wake_.notify_all();
  }

  // Threads that wait for a node and will not get one of those given already.
  void count_idle() {
    const auto given = static_cast<int>(given_.size());
    store_relaxed(idle_, waiting_ > given ? waiting_ - given : 0);
  }

  std::size_t upper_bound() const {
    const std::size_t first = first_open_;
    return first < starts_.size() ? std::max(best_.size(), colour_of(starts_[first])) : best_.size();
  }

  // Tells the caller what is new. Only on its own thread.
  void report() {
    const std::size_t size = best_.size(), bound = std::min(upper_bound(), reported_bound_);
    if (!on_progress_ || (size == reported_size_ && bound == reported_bound_)) return;
    reported_size_ = size;
    reported_bound_ = bound;
    on_progress_(size, bound);
  }

  const Graph& ordered_;
  const BranchOptions options_;
  const OnProgress& on_progress_;
  const simd::Kernels& kernels_;
  Control& control_;
  const std::vector<Vertex>& colours_;
  std::vector<Vertex> starts_;     // in the order in which they are searched
  std::vector<std::size_t> rank_;  // place in that order
  std::vector<State> states_;      // by place
  SharedBest best_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> first_open_{0};  // all before are done
  std::atomic<std::uint64_t> nodes_{0};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Node> given_;
  std::size_t open_ = starts_.size();  // subproblems and given nodes that are not done
  int waiting_ = 0;                    // threads
  int idle_ = 0;                       // those of them for whom there is nothing yet; read by the kernels
  std::size_t reported_size_, reported_bound_;
};

}  // namespace

SearchResult search_clique(const Graph& ordered, std::size_t must_beat, const BranchOptions& options,
                           const OnProgress& on_progress, const simd::Kernels& kernels, Control& control) {
  const auto colours = colour_vertices(ordered, kernels, control);
  if (!colours) return {{}, ordered.num_vertices(), 0, false};
  BranchOptions checked = options;
  if (options.node_limit != ~std::uint64_t{0}) checked.threads = 1;
  return Search(ordered, must_beat, checked, on_progress, kernels, control, *colours).run();
}

std::size_t bound_at_root(const Graph& graph, std::size_t low, std::size_t high, const BranchOptions& options,
                          const simd::Kernels& kernels, Control& control) {
  if (!graph.has_bits()) return high;
  TaskMemory memory;
  const std::uint64_t nobody = 0;
  constexpr int kNoThread = 0;
  while (low < high && !control.expired()) {
    const std::size_t middle = low + (high - low) / 2;
    auto task = memory.prepare(graph, 0, 2, simd::kSearchSets);
    set_prefix(task.levels, graph.num_vertices());
    task.must_beat = middle;
    task.recolour = options.recolour;
    task.propagate = options.propagate;
    task.node_limit = 2;  // ends when the first node has to be branched on
    task.stop = [](void* polled) { return static_cast<Control*>(polled)->expired(); };
    task.context = &control;
    task.found = [](void*, const Vertex*, std::size_t) { return true; };
    task.best_key = &nobody;
    task.idle = &kNoThread;
    kernels.search(task);
    (task.stopped ? low : high) = task.stopped ? middle + 1 : middle;
  }
  return high;
}

}  // namespace clipperplus::inline v0
