// Where the memory does not suffice: programs get std::bad_alloc, and what they had stays what it was.
#include <atomic>
#include <cstdlib>
#include <new>

#include "clipperplus/clipperplus.h"
#include "random_graphs.h"

using namespace clipperplus;

namespace {

constexpr std::int64_t kUnlimited = std::int64_t{1} << 62;
std::atomic<std::int64_t> allocations_left{kUnlimited};

// Does the work again and again, each time with one more allocation before one fails, until none does.
template <class Work>
std::size_t fail_everywhere(Work work) {
  for (std::int64_t k = 0;; ++k) {
    allocations_left = k;
    try {
      work();
    } catch (const std::bad_alloc&) {
    }
    if (allocations_left.exchange(kUnlimited) >= 0) return static_cast<std::size_t>(k);
  }
}

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocations_left-- == 0 ? nullptr : std::malloc(size > 0 ? size : 1);
}
void* operator new(std::size_t size) {
  if (void* place = operator new(size, std::nothrow)) return place;
  throw std::bad_alloc();
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }

TEST_CASE("a graph that another one does not fit into stays what it was") {
  const Graph bits = random_graph(100, 0.5, 1), rows = random_graph(6000, 0.0005, 2);
  REQUIRE(bits.has_bits());
  REQUIRE(!rows.has_bits());
  Graph graph = bits;
  CHECK(fail_everywhere([&] {
          graph = bits;
          try {
            graph = rows;
          } catch (const std::bad_alloc&) {
            REQUIRE((graph == bits));
            throw;
          }
          REQUIRE((graph == rows));
        }) >= 2);
}

TEST_CASE("where any allocation fails, on any thread, there is std::bad_alloc or the usual answer") {
  const Graph graph = random_graph(40, 0.5, 3);
  const auto edges = graph.edges();
  const CliqueResult expected = find_clique(graph);
  for (const std::size_t threads : {1, 2}) {
    const std::size_t tried = fail_everywhere([&] {
      const Graph again = Graph::from_edges(40, edges);
      const CliqueResult found = find_clique(again, {.method = Method::Exact, .threads = threads});
      REQUIRE(found.vertices == expected.vertices);
    });
    CHECK(tried > 20);
  }
}
