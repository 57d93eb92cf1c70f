// Graph to clique: a large clique, and the proof that no clique is larger where that is possible.
//
//     const auto graph = clipperplus::Graph::from_edges(5, {{0, 3}, {1, 2}, {1, 4}, {2, 4}});
//     const auto found = clipperplus::find_clique(graph);
//     // found.vertices is {1, 2, 4}, and found.optimal() says that no clique has more vertices
//
// The answer is always a maximal clique and `upper_bound` is always proven, whatever ends the search. Without a limit
// in seconds it depends on the graph and the options alone: not on the number of threads, nor on the processor.
// Ordering the graph and checking the answer are always completed, whatever the limit.
//
// Wrong options throw std::invalid_argument; the message names the option, what was expected and what came.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "clipperplus/export.h"
#include "clipperplus/graph.h"
#include "clipperplus/relaxation_options.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

enum class Method {
  Auto,         // reductions, bounds, local search, relaxation and a complete search, for up to a second
  Exact,        // the same without a limit
  ClipperPlus,  // Algorithm 3 of the paper: greedy clique, core pruning, relaxation
  Greedy,       // Algorithm 1 of the paper
};

CLIPPERPLUS_API const char* name_of(Method method);  // "auto", "exact", "clipper+", "greedy"

// Why no clique can be larger.
enum class Certificate {
  None,         // it is not known whether a larger clique exists
  CoreBound,    // no vertex has a core number that would allow one
  ColourBound,  // the vertices that it would need can be coloured with too few colours
  Search,       // a complete search found none
};

// What Auto and Exact may use. Every part only saves time: without it the answer has the same size.
struct SearchOptions {
  bool core_bound = true;    // stop where core numbers prove the clique to be maximum
  bool colour_bound = true;  // stop where a greedy colouring proves it
  bool reduction = true;     // drop vertices and edges that no larger clique can have
  bool local_search = true;  // look for larger cliques by tabu search
  bool relaxation = true;    // and with Algorithm 2, once the cheap steps have not closed the gap
  bool recolouring = true;   // bound nodes of the search better by moving vertices between colour classes
  bool propagation = true;   // and by unit propagation over colour classes
};

// Told, on the calling thread, whenever the best clique gets larger or the bound lower. False ends the search with what
// there is; what it throws ends the search, too, and is passed on.
using CliqueCallback = std::function<bool(std::size_t size, std::size_t upper_bound, double seconds)>;

// Every option has a default: {.method = Method::Exact, .threads = 4} is complete, without a warning.
struct CliqueOptions {
  Method method = Method::Auto;
  std::optional<double> time_limit = {};         // seconds; infinity: none; not set: 1 for Auto, none for the others
  std::size_t threads = 1;                       // the answer does not depend on it
  std::vector<Vertex> start = {};                // a clique that is known already: the answer is at least as large
  std::optional<std::uint64_t> node_limit = {};  // of the branch and bound of Auto and Exact: a limit that, unlike
                                                 // time, gives the same answer on every machine
  CliqueCallback callback = {};
  std::function<bool()> stop = {};  // asked about fifty times a second, on the calling thread; true ends the search
                                    // with what there is, and what it throws is passed on
  RelaxationOptions relaxation = {};
  SearchOptions search = {};
  std::vector<Weight> vertex_weights = {};  // what each counts, at least 0, less than 2^62 together: the heaviest
                                            // clique is wanted, and sizes, bounds and news are weights; empty: 1 each
};

// One step of a search.
struct CliqueStage {
  std::string name;
  double seconds = 0.0;
  std::optional<std::uint64_t> count;  // of steps, starts, colours or nodes, where it has such
  std::size_t clique_size = 0;         // of the best clique after it
  std::size_t vertices = 0;            // that it worked on
  std::size_t removed = 0, added = 0;  // vertices, by the check that makes every claim a maximal clique
  std::optional<bool> converged;       // whether a continuous method came to an end of its own
};

// What was known at a time during a search.
struct Progress {
  double seconds = 0.0;
  std::size_t size = 0, upper_bound = 0;
};

struct CliqueResult {
  std::vector<Vertex> vertices;  // sorted
  std::size_t weight = 0;        // what they weigh; their number where nothing was said of weights
  std::size_t upper_bound = 0;   // proven: no clique is heavier
  Certificate certificate = Certificate::None;
  std::vector<CliqueStage> stages;  // what happened, in order
  std::vector<Progress> history;    // every improvement, in order: what a callback is told
  double seconds = 0.0;             // of the whole search
  bool interrupted = false;         // whether `stop` or the callback ended it

  std::size_t size() const noexcept { return vertices.size(); }
  bool optimal() const noexcept { return weight == upper_bound; }
};

// Runs on the calling thread and threads - 1 others, which have ended when it returns or throws.
CLIPPERPLUS_API CliqueResult find_clique(const Graph& graph, const CliqueOptions& options = {});

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
