// What the bindings of searches share: what a search begins with, and what it tells while it runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "clipperplus/graph.h"
#include "common.h"

namespace clipperplus::bindings {

inline std::vector<std::int64_t> widen(const std::vector<Vertex>& vertices) {
  return {vertices.begin(), vertices.end()};
}

// A start that is no clique, or has vertices that are not there, is cut down to one that is.
inline std::vector<std::int64_t> checked_clique(const Graph& graph, const std::vector<std::int64_t>& vertices) {
  std::vector<std::int64_t> checked;
  for (const std::int64_t v : vertices) {
    const bool known = v >= 0 && static_cast<std::size_t>(v) < graph.num_vertices();
    const auto joined = [&](std::int64_t u) {
      return graph.has_edge(static_cast<std::size_t>(u), static_cast<std::size_t>(v));
    };
    if (known && std::all_of(checked.begin(), checked.end(), joined)) checked.push_back(v);
  }
  return checked;
}

// To a function of the caller's, or to a list that is returned in the end.
template <class Number>
using Listener = std::optional<nb::typed<nb::callable, void(Number, Number)>>;
template <class Number>
using Course = std::vector<std::tuple<double, Number, Number>>;  // seconds, best, upper bound

// Where nobody listens, the course of the search is kept: to tell it would mean to wait for the GIL.
template <class Number>
std::function<void(Number, Number)> teller(const Listener<Number>& listener, const Watch& watch, Control& control,
                                           Course<Number>& course) {
  if (!listener) {
    return [&course, start = Control::Clock::now()](Number best, Number upper_bound) {
      const std::chrono::duration<double> seconds = Control::Clock::now() - start;
      course.emplace_back(seconds.count(), best, upper_bound);
    };
  }
  return [&](Number best, Number upper_bound) {
    const nb::gil_scoped_acquire acquire;
    try {
      (*listener)(best, upper_bound);
    } catch (nb::python_error& error) {
      if (!watch.take_interrupt(error)) throw;
      control.stop();  // Ctrl-C while the callback ran: what has been found so far is wanted
    }
  };
}

}  // namespace clipperplus::bindings
