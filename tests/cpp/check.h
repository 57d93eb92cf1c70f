// The few lines of a test framework that these tests need.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "graph.h"

// Ends the test program with the place and the condition that does not hold.
#define CHECK(condition)                                                                 \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                      \
    }                                                                                    \
  } while (false)

template <class Exception, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}

inline std::vector<std::int64_t> random_edges(std::size_t n, double density, unsigned seed) {
  std::mt19937 random(seed);
  std::bernoulli_distribution joined(density);
  std::vector<std::int64_t> edges;
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < u; ++v) {
      if (joined(random)) edges.insert(edges.end(), {static_cast<std::int64_t>(u), static_cast<std::int64_t>(v)});
    }
  }
  return edges;
}

inline clipperplus::Graph make_graph(std::size_t n, const std::vector<std::int64_t>& edges) {
  return clipperplus::Graph::from_edges<std::int64_t>(n, {edges.data(), edges.size() / 2, 2, 1});
}
