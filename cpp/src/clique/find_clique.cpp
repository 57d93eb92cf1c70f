#include "clipperplus/find_clique.h"

#include <array>
#include <stdexcept>

#include "clipperplus/instruction_sets.h"
#include "clique/methods.h"
#include "clique/option_checks.h"

namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI {

namespace {

// A row of the table of methods.
struct MethodRow {
  const char* name;
  void (*find)(SearchState&, const CliqueOptions&);
  bool searches = false;             // ends with a branch and bound, and so takes node_limit
  std::optional<double> time_limit;  // unless another one is given
};

void run_exact(SearchState& state, const CliqueOptions& options) {
  find_exact(state, options.relaxation, options.search);
}
void run_clipperplus(SearchState& state, const CliqueOptions& options) { find_clipperplus(state, options.relaxation); }
void run_greedy(SearchState& state, const CliqueOptions&) { find_greedy(state); }

const std::array<MethodRow, 4> kMethods{{{"auto", run_exact, true, 1.0},
                                         {"exact", run_exact, true, std::nullopt},
                                         {"clipper+", run_clipperplus, false, std::nullopt},
                                         {"greedy", run_greedy, false, std::nullopt}}};

const MethodRow& row_of(Method method) {
  const auto number = static_cast<std::size_t>(method);
  if (number >= kMethods.size()) {
    throw std::invalid_argument("method: expected one of auto, exact, clipper+, greedy, got number " +
                                std::to_string(static_cast<int>(method)));
  }
  return kMethods[number];
}

}  // namespace

const char* name_of(Method method) { return row_of(method).name; }

CliqueResult find_clique(const Graph& graph, const CliqueOptions& options) {
  const MethodRow& method = row_of(options.method);
  check_options(graph, options, method.searches);
  static const simd::Kernels& kernels = *simd::available().front();
  const SearchLimits limits{.time_limit = options.time_limit ? options.time_limit : method.time_limit,
                            .threads = options.threads,
                            .node_limit = options.node_limit.value_or(kNoNodeLimit)};
  SearchState state(graph, limits, options.vertex_weights, options.callback, options.stop, kernels);
  state.run([&] {
    if (!options.start.empty()) {
      const std::vector<std::int64_t> start(options.start.begin(), options.start.end());
      state.offer("start", start, {.vertices = graph.num_vertices()});
    }
    method.find(state, options);
  });
  return state.result();
}

}  // namespace clipperplus::inline v0::inline CLIPPERPLUS_ABI
