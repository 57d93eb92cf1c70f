// The best clique so far, shared by threads that work on numbered tasks.
//
// Larger wins, then the lower task. The winner therefore does not depend on which thread is faster: a clique of the
// same size from an earlier task replaces one from a later task, so earlier tasks go on looking for one.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "clipperplus/bits.h"
#include "compiler.h"

namespace clipperplus::inline v0 {

class SharedBest {
 public:
  // `size` vertices are known from elsewhere, before all tasks.
  explicit SharedBest(std::size_t size = 0) : key_(pack(size, 0)), known_(size) {}

  // What a clique from `task` must exceed in size to become the best.
  std::size_t must_beat(std::size_t task) const {
    const std::uint64_t key = load();
    const std::size_t size = key >> 32, holder = ~static_cast<std::uint32_t>(key);
    return size > 0 && task < holder ? size - 1 : size;
  }
  std::size_t size() const { return load() >> 32; }
  std::size_t task() const { return ~static_cast<std::uint32_t>(load()); }

  // Takes the clique if it is better.
  void offer(std::size_t task, std::span<const Vertex> clique) {
    const std::lock_guard lock(mutex_);
    if (clique.size() <= must_beat(task)) return;
    vertices_.assign(clique.begin(), clique.end());
    store_relaxed(key_, pack(clique.size(), task));
  }
  // Empty if no task found more than was known.
  std::vector<Vertex> take() { return std::move(vertices_); }
  bool improved() const { return size() > known_; }

  // For kernels, which read the key as must_beat() does.
  const std::uint64_t* key() const { return &key_; }

 private:
  static std::uint64_t pack(std::size_t size, std::size_t task) {
    return std::uint64_t{size} << 32 | ~static_cast<std::uint32_t>(task);
  }
  std::uint64_t load() const { return load_relaxed(key_); }

  std::mutex mutex_;
  std::uint64_t key_;  // size, then the complement of the task: the larger key is the better clique
  std::size_t known_;
  std::vector<Vertex> vertices_;
};

}  // namespace clipperplus::inline v0
