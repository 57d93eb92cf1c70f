// How a caller reaches into a running kernel: a deadline and a periodic check.
//
// Kernels call `expired()` every few microseconds of work. It reads the clock, runs the caller's check at most every
// 20 ms (the check may throw, e.g. to report Ctrl-C, or say that it is time to stop), and says whether the deadline has
// passed. Only the thread that owns the Control calls `expired()`; worker threads read `stopped()`.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

namespace clipperplus::inline v0 {

class Control {
 public:
  using Clock = std::chrono::steady_clock;

  using Check = std::function<bool()>;  // true: stop

  Control() = default;
  Control(Clock::time_point deadline, Check check) : deadline_(deadline), check_(std::move(check)) {}

  static Clock::time_point seconds_from_now(std::optional<double> seconds) {
    constexpr double kLongest = 1e9;  // thirty years: beyond it the clock's integer would overflow
    if (!seconds || *seconds >= kLongest) return (Clock::time_point::max)();  // max may be a macro
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
  }

  // For a worker thread that calls something which polls: it ends when the other one is stopped, and never checks.
  explicit Control(const Control* followed) : followed_(followed) {}

  bool expired() {
    if (followed_ != nullptr && followed_->stopped()) stop();
    if (followed_ != nullptr) return stopped();
    const auto now = Clock::now();
    if (check_ && now >= next_check_) {
      next_check_ = now + std::chrono::milliseconds(20);
      if (check_()) stop();
    }
    if (now >= deadline_) stopped_.store(true, std::memory_order_relaxed);
    return stopped();
  }

  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

 private:
  Clock::time_point deadline_ = (Clock::time_point::max)();
  Clock::time_point next_check_ = Clock::now() + std::chrono::milliseconds(20);
  Check check_;
  const Control* followed_ = nullptr;
  std::atomic<bool> stopped_{false};
};

}  // namespace clipperplus::inline v0
