// Work that is dealt out to threads: every piece is done once, and what goes wrong reaches the caller.
#include "threads.h"

#include <chrono>
#include <stdexcept>

#include "testing.h"

using namespace clipperplus;

namespace {

constexpr std::size_t kThreads[] = {1, 2, 3, 8};
constexpr std::size_t kCounts[] = {0, 1, 2, 255, 256, 257, 1000, 40'000};
constexpr std::size_t kBlocks[] = {1, 7, 256, std::size_t{1} << 14};

}  // namespace

TEST_CASE("every index is visited once") {
  for (const std::size_t n : kCounts) {
    for (const std::size_t block : kBlocks) {
      for (const std::size_t threads : kThreads) {
        INFO(n, " indices in blocks of ", block, " on ", threads, " threads");
        Control control;
        std::vector<std::atomic<int>> visits(n);
        std::atomic<int> beyond{0};
        for_each_index(n, threads, control, [&](std::size_t i) { ++(i < n ? visits[i] : beyond); }, block);
        CHECK(beyond.load() == 0);
        for (std::size_t i = 0; i < n; ++i) REQUIRE_EACH(visits[i].load() == 1, "i = ", i);
      }
    }
  }
}

TEST_CASE("blocks follow each other and end with the last index") {
  for (const std::size_t n : kCounts) {
    for (const std::size_t block : kBlocks) {
      for (const std::size_t threads : kThreads) {
        INFO(n, " indices in blocks of ", block, " on ", threads, " threads");
        Control control;
        std::mutex mutex;
        std::vector<std::pair<std::size_t, std::size_t>> blocks;
        const auto work = [&](std::size_t begin, std::size_t end) {
          const std::lock_guard lock(mutex);
          blocks.emplace_back(begin, end);
        };
        for_each_block(n, threads, control, work, block);
        std::sort(blocks.begin(), blocks.end());
        REQUIRE(blocks.size() == (n + block - 1) / block);
        for (std::size_t k = 0; k < blocks.size(); ++k) {
          REQUIRE_EACH(blocks[k].first == k * block, "block ", k);
          REQUIRE_EACH(blocks[k].second == std::min(n, (k + 1) * block), "block ", k);
        }
      }
    }
  }
}

TEST_CASE("no more threads are started than there are blocks") {
  for (const std::size_t threads : kThreads) {
    CAPTURE(threads);
    Control control;
    const auto caller = std::this_thread::get_id();
    std::atomic<int> elsewhere{0};
    const auto work = [&](std::size_t, std::size_t) { elsewhere += std::this_thread::get_id() == caller ? 0 : 1; };
    for_each_block(99, threads, control, work, 100);
    CHECK(elsewhere.load() == 0);
  }
}

// The caller waits in its share of the work until the other thread has failed, so that it is the other that does.
TEST_CASE("what a worker throws reaches the caller, and ends the work") {
  using namespace std::chrono_literals;
  for (const std::size_t threads : {std::size_t{2}, std::size_t{5}}) {
    CAPTURE(threads);
    Control control;
    const auto caller = std::this_thread::get_id();
    const auto patience = std::chrono::steady_clock::now() + 5s;
    std::atomic<std::size_t> visits{0};
    const auto work = [&](std::size_t) {
      ++visits;
      if (std::this_thread::get_id() != caller) throw std::runtime_error("from a worker");
      while (!control.stopped() && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(1ms);
    };
    CHECK_THROWS_WITH_AS(for_each_index(1000, threads, control, work, 1), "from a worker", std::runtime_error);
    CHECK(control.stopped());
    CHECK(visits.load() <= threads);
  }
}

TEST_CASE("what the caller's share throws reaches it when all have ended") {
  for (const std::size_t threads : kThreads) {
    CAPTURE(threads);
    Control control;
    const auto caller = std::this_thread::get_id();
    std::atomic<int> working{0};
    const auto work = [&](std::size_t) {
      ++working;
      if (std::this_thread::get_id() == caller) {
        --working;
        throw std::logic_error("from the caller's share");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      --working;
    };
    CHECK_THROWS_WITH_AS(for_each_index(300, threads, control, work, 1), "from the caller's share", std::logic_error);
    CHECK(working.load() == 0);
  }
}

TEST_CASE("one of many failures reaches the caller") {
  for (const std::size_t threads : kThreads) {
    CAPTURE(threads);
    Control control;
    const auto work = [](std::size_t i) { throw i; };
    CHECK_THROWS_AS(for_each_index(1000, threads, control, work, 1), std::size_t);
  }
}

TEST_CASE("a check that is due runs on the caller's thread, and ends the work") {
  struct Stop {};
  for (const std::size_t threads : kThreads) {
    CAPTURE(threads);
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> elsewhere{false};
    Control control(Control::seconds_from_now(std::nullopt), [&]() -> bool {
      elsewhere = std::this_thread::get_id() != caller;
      throw Stop();
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
    const auto work = [](std::size_t) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
    CHECK_THROWS_AS(for_each_index(300, threads, control, work, 1), Stop);
    CHECK(!elsewhere.load());
  }
}
