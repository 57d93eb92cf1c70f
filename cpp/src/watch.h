// When a run of several kernels ends: at a deadline, or when the caller says so. Shared by all kernels of the run, each
// of which gets a Control of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "clipperplus/control.h"

namespace clipperplus::inline v0 {

// Thrown through a kernel that has no partial answer, when the caller wants what there was before it.
struct Stopped {};

class Watch {
 public:
  using Clock = Control::Clock;

  Watch(std::optional<double> seconds, Control::Check check)
      : shared_(std::make_shared<Shared>(std::move(check))), deadline_(Control::seconds_from_now(seconds)) {}

  // The same with an earlier end.
  Watch within(double seconds) const {
    Watch copy(*this);
    copy.deadline_ = std::min(deadline_, Control::seconds_from_now(seconds));
    return copy;
  }

  void stop() const { shared_->stopped = true; }
  bool stopped() const { return shared_->stopped; }
  // Asks the caller, too, if that was long ago: kernels that are short never get to it.
  bool expired() const { return shared_->ask() || Clock::now() >= deadline_; }

  // For a kernel that can return what it has when it is stopped.
  Control control() const {
    const auto deadline = stopped() ? Clock::time_point::min() : deadline_;
    return Control(deadline, [shared = shared_] { return shared->ask(); });
  }
  // For one that cannot: no deadline, and to be stopped throws.
  Control control_to_the_end() const {
    return Control(Clock::time_point::max(), [shared = shared_] {
      const bool before = shared->stopped;
      if (shared->ask() && !before) throw Stopped();
      return false;
    });
  }

 private:
  static constexpr std::chrono::milliseconds kBetweenChecks{20};

  struct Shared {
    explicit Shared(Control::Check given) : check(std::move(given)) {}

    bool ask() {
      if (!check || stopped || Clock::now() < next) return stopped;
      if (check()) stopped = true;
      next = Clock::now() + kBetweenChecks;
      return stopped;
    }

    Control::Check check;
    Clock::time_point next = Clock::now() + kBetweenChecks;
    std::atomic<bool> stopped{false};
  };

  std::shared_ptr<Shared> shared_;
  Clock::time_point deadline_;
};

}  // namespace clipperplus::inline v0
