// doctest, and what these tests need besides: vectors that are printed, requirements that cost nothing, the
// place where long lists differ, and the messages of exceptions.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

// REQUIRE in loops of many thousands, where doctest would take longer than the work: it is asked only where the
// condition does not hold. What follows the condition says where that is.
#define REQUIRE_EACH(condition, ...)                                  \
  do {                                                                \
    if (!(condition)) REQUIRE_MESSAGE(condition, "at ", __VA_ARGS__); \
  } while (false)

namespace doctest {

template <class Values>
String list_of(const Values& values) {
  constexpr std::size_t kMost = 24;
  String text = toString(values.size()) + " values [";
  for (std::size_t k = 0; k < std::min(kMost, values.size()); ++k) {
    if (k > 0) text += ", ";
    text += toString(values[k]);
  }
  return text + (values.size() > kMost ? ", ...]" : "]");
}

template <class T, class Allocator>
struct StringMaker<std::vector<T, Allocator>> {
  static String convert(const std::vector<T, Allocator>& values) { return list_of(values); }
};

template <class T, std::size_t N>
struct StringMaker<std::array<T, N>> {
  static String convert(const std::array<T, N>& values) { return list_of(values); }
};

}  // namespace doctest

// Where two long lists begin to differ, and how; empty if they do not. Numbers are written so that all bits show.
template <class Values>
std::string difference(const Values& found, const Values& expected) {
  std::ostringstream text;
  text.precision(17);
  if (found.size() != expected.size()) text << found.size() << " values instead of " << expected.size() << ", and ";
  const auto [here, there] = std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  if (here != found.end() && there != expected.end()) {
    text << *here << " instead of " << *there << " at " << here - found.begin();
  }
  return text.str();
}

// What an action throws says; empty if it throws nothing.
template <class Exception, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Exception& error) {
    return error.what();
  }
  return "";
}
