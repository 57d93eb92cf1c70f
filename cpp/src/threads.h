// Work on several threads, one of which is the caller's.
//
// The caller's thread owns the Control: only its share of the work may poll it, the others read `stopped()`. What one
// share throws ends all of them and is thrown again to the caller. If the system gives fewer threads than asked for,
// those that there are do the work.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "clipperplus/control.h"

namespace clipperplus::inline v0 {

// Runs work(true) here and work(false) on up to threads - 1 others; returns when all have ended. `on_failure` must
// wake whoever waits.
template <class Work, class OnFailure>
void run_on_threads(std::size_t threads, Control& control, Work work, OnFailure on_failure) {
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto guarded = [&](bool owner) {
    try {
      work(owner);
    } catch (...) {
      {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
      control.stop();
      on_failure();
    }
  };
  std::vector<std::thread> helpers;
  helpers.reserve(threads);
  try {
    for (std::size_t t = 1; t < threads; ++t) helpers.emplace_back(guarded, false);
  } catch (const std::system_error&) {  // no more threads
  } catch (const std::bad_alloc&) {     // nor memory for one
  }
  guarded(true);
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

// The same work for every block of indices below n: work(begin, end), dealt out to whoever is free. The caller's thread
// polls the Control before each, and a Control that is stopped leaves the rest undone. No result may depend on another
// one.
template <class Work>
void for_each_block(std::size_t n, std::size_t threads, Control& control, Work work,
                    std::size_t block = std::size_t{1} << 14) {
  std::atomic<std::size_t> next{0};
  const auto share = [&](bool owner) {
    for (std::size_t begin; (begin = next.fetch_add(block)) < n && !control.stopped();) {
      if (owner) control.expired();
      work(begin, std::min(n, begin + block));
    }
  };
  run_on_threads(std::min(threads, (n + block - 1) / block), control, share, [] {});
}

// The same for every index.
template <class Work>
void for_each_index(std::size_t n, std::size_t threads, Control& control, Work work, std::size_t block = 256) {
  const auto each = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(i);
  };
  for_each_block(n, threads, control, each, block);
}

}  // namespace clipperplus::inline v0
