// The headers, where min and max are macros, as <windows.h> makes them. Those of the standard come first: it may mind.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))

#include <clipperplus/clipperplus.h>

#include "checks.h"

namespace cp = clipperplus;

int main() {
  CHECK(max(1, 2) == 2 && min(1, 2) == 1);
  const std::vector<std::array<double, 3>> points{{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}};
  const std::vector<std::pair<unsigned, unsigned>> pairs{{0, 0}, {1, 1}, {2, 2}};
  CHECK(cp::solve(points, points, pairs).inliers.size() == 3);
}
