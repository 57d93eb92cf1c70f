// The same work for every point, or other thing, dealt out to threads in chunks. No result may depend on another one.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "../threads.h"

namespace clipperplus {

template <class Work>
void for_each_point(std::size_t n, std::size_t threads, Control& control, Work work, std::size_t chunk = 256) {
  std::atomic<std::size_t> next{0};
  const auto share = [&](bool owner) {
    for (std::size_t begin; (begin = next.fetch_add(chunk)) < n && !control.stopped();) {
      if (owner) control.expired();
      for (std::size_t i = begin; i < std::min(n, begin + chunk); ++i) work(i);
    }
  };
  run_on_threads(std::min(threads, n / chunk + 1), control, share, [] {});
}

}  // namespace clipperplus
