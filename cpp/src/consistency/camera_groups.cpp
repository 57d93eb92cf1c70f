#include "consistency/camera_groups.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "geometry/p3p.h"
#include "threads.h"

namespace clipperplus::inline v0 {

namespace {

constexpr std::size_t kGlance = 64;                         // matches that a pose is looked at first
constexpr std::size_t kFew = 4096;                          // triples that are not drawn: all are looked at
constexpr std::size_t kFirstBatch = 128;                    // triples; every batch is twice as large, …
constexpr std::size_t kLargestBatch = 4096;                 // … up to this
constexpr std::size_t kFitted = 4;                          // poses of a batch that are fitted
constexpr std::size_t kLeastGroups = 256;                   // that are kept of many matches, …
constexpr std::size_t kMostMembers = std::size_t{1} << 24;  // … of which there are no more than this
constexpr std::size_t kDrawnAround = 192;                   // triples that are drawn from what a pose explains
constexpr double kMissed = 1e-3;     // how likely it may be that a set as large as the best one was missed, …
constexpr double kRecognised = 0.5;  // … where this share of triples of right matches is good enough to tell
constexpr double kSameTurn = 0.1;    // radians: of poses that explain the same matches and are one, at most

using Triple = std::array<std::uint32_t, 3>;

// A number for every stream and place in it, without a state (Steele, Lea and Flood's SplitMix).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

class Draw {
 public:
  Draw(std::uint64_t seed, std::uint64_t stream, std::uint64_t number)
      : state_(mix(mix(mix(seed) ^ stream) ^ number)) {}
  std::uint32_t below(std::size_t n) {
    state_ = mix(state_);
    return static_cast<std::uint32_t>(((state_ >> 32) * n) >> 32);
  }
  // Three different numbers below n ≥ 3, ascending.
  Triple triple(std::size_t n) {
    Triple chosen{below(n), below(n - 1), below(n - 2)};
    if (chosen[1] >= chosen[0]) ++chosen[1];
    for (const std::uint32_t taken : {std::min(chosen[0], chosen[1]), std::max(chosen[0], chosen[1])}) {
      if (chosen[2] >= taken) ++chosen[2];
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  std::uint64_t state_;
};

std::size_t triples_of(std::size_t n) {  // at most a limit that does not overflow
  constexpr std::size_t kMany = std::size_t{1} << 20;
  return n < 3 ? 0 : n > kMany ? SIZE_MAX : n * (n - 1) / 2 * (n - 2) / 3;
}

struct Found {
  RigidMotion pose;
  std::size_t support = 0;  // matches that it explains
  std::uint64_t order = 0;  // of the triple and its pose
};

double turn_between(const RigidMotion& a, const RigidMotion& b) {
  double trace = 0.0;
  for (std::size_t i = 0; i < 3; ++i) trace += dot(a.rotation[i], b.rotation[i]);
  return std::acos(std::clamp(0.5 * (trace - 1.0), -1.0, 1.0));
}

bool larger(const Found& a, const Found& b) {
  return a.support != b.support ? a.support > b.support : a.order < b.order;
}

// Whether one explains at least half as many: groups that belong to a pose do, and rivals that are worth a look.
bool is_half(const Found& one, const Found& other) { return 2 * one.support >= other.support; }

class Search {
 public:
  Search(std::span<const double> points, std::span<const double> places, PixelScale scale,
         const CameraGroupOptions& options, Control& control)
      : options_(options),
        control_(control),
        n_(places.size() / 2),
        words_((n_ + kWordBits - 1) / kWordBits),
        most_groups_(
            std::min(options.most_groups, std::max(kLeastGroups, kMostMembers / std::max<std::size_t>(1, n_)))),
        exhaustive_(triples_of(n_) <= std::min(kFew, options.max_triples)),
        order_(shuffled()),
        seen_(points, places, scale, order_) {}

  CameraGroups run() {
    CameraGroups result;
    if (n_ < 4) return result;
    result.triples = exhaustive_ ? look_at_all() : draw();
    for (std::size_t k = 0; k < rivals_.size() && !exhaustive_; ++k) {
      if (is_half(rivals_[k], rivals_.front())) draw_around(rivals_[k], k);
    }
    keep_largest(most_groups_);
    for (const Found& group : groups_) result.members.push_back(members_of(group.pose));
    for (const Found& rival : rivals_) result.poses.push_back(rival.pose);
    return result;
  }

 private:
  std::vector<std::uint32_t> shuffled() const {
    std::vector<std::uint32_t> order(n_);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = n_; i > 1; --i) std::swap(order[i - 1], order[Draw(options_.seed, 1, i).below(i)]);
    return order;
  }

  CameraPoses poses_of(const Triple& triple) const {
    std::array<Vector3, 3> points, directions;
    for (std::size_t k = 0; k < 3; ++k) points[k] = seen_.point(triple[k]), directions[k] = seen_.direction(triple[k]);
    return solve_p3p(points, directions);
  }

  // Adds the poses of a triple that a fourth match agrees with. If `glance`, most of those that none does are told by a
  // few matches.
  void add_poses(const Triple& triple, std::uint64_t number, bool glance, std::vector<Found>& found) const {
    const auto poses = poses_of(triple);
    const std::size_t span = std::min(kGlance, n_);
    const std::size_t from = glance ? Draw(options_.seed, 2, number).below(n_ - span + 1) : 0;
    const auto own = static_cast<std::size_t>(
        std::count_if(triple.begin(), triple.end(), [&](std::size_t i) { return i >= from && i < from + span; }));
    for (std::size_t k = 0; k < poses.count; ++k) {
      const RigidMotion& pose = poses.motions[k];
      if (glance && seen_.count(pose, options_.epsilon, from, from + span) <= own) continue;
      const std::size_t support = seen_.count(pose, options_.epsilon);
      if (support >= 4) found.push_back({pose, support, 4 * number + k});
    }
  }

  // Looks at triples first … first + count - 1; what is found is in their order.
  template <class TripleOf>
  std::vector<Found> look_at(std::size_t first, std::size_t count, bool glance, TripleOf triple_of) {
    constexpr std::size_t kShare = 64;
    std::vector<std::vector<Found>> shares((count + kShare - 1) / kShare);
    for_each_block(
        count, options_.threads, control_,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t k = begin; k < end; ++k) {
            add_poses(triple_of(first + k), first + k, glance, shares[begin / kShare]);
          }
        },
        kShare);
    std::vector<Found> found;
    for (const auto& share : shares) found.insert(found.end(), share.begin(), share.end());
    return found;
  }

  std::size_t look_at_all() {
    std::vector<Triple> all;
    for (std::uint32_t i = 0; i < n_; ++i) {
      for (std::uint32_t j = i + 1; j < n_; ++j) {
        for (std::uint32_t k = j + 1; k < n_; ++k) all.push_back({i, j, k});
      }
    }
    auto found = look_at(0, all.size(), false, [&](std::size_t k) { return all[k]; });
    take(found, options_.most_poses * kFitted);
    return all.size();
  }

  std::size_t draw() {
    std::size_t done = 0;
    const auto triple_of = [&](std::size_t k) { return Draw(options_.seed, 0, k).triple(n_); };
    for (std::size_t batch = kFirstBatch; done < options_.max_triples; batch = std::min(2 * batch, kLargestBatch)) {
      const std::size_t count = std::min(batch, options_.max_triples - done);
      auto found = look_at(done, count, n_ > 2 * kGlance, triple_of);
      done += count;
      take(found, kFitted);
      if (control_.expired() || static_cast<double>(done) >= needed()) break;
    }
    return done;
  }

  // How many triples it takes to find a set as large as the best one.
  double needed() const {
    if (rivals_.empty()) return INFINITY;
    double share = kRecognised;
    for (std::size_t k = 0; k < 3; ++k) {
      share *= static_cast<double>(rivals_.front().support - k) / static_cast<double>(n_ - k);
    }
    return std::log(kMissed) / std::log1p(-share);
  }

  // Keeps groups, and fits the best of them.
  void take(std::vector<Found>& found, std::size_t fitted) {
    groups_.insert(groups_.end(), found.begin(), found.end());
    if (groups_.size() > 4 * most_groups_) keep_largest(most_groups_);
    const std::size_t best = std::min(fitted, found.size());
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(best), found.end(), larger);
    for (std::size_t k = 0; k < best; ++k) fit(found[k]);
  }

  void keep_largest(std::size_t most) {
    const auto end = groups_.begin() + static_cast<std::ptrdiff_t>(std::min(most, groups_.size()));
    std::partial_sort(groups_.begin(), end, groups_.end(), larger);
    groups_.erase(end, groups_.end());
  }

  // Fits a pose to what it explains; it becomes a rival of those that explain others, or the same from elsewhere (as
  // the points of a plane allow), or takes the place of one that explains fewer.
  void fit(Found candidate) {
    for (int round = 0; round < 3; ++round) {
      const auto fitted = fit_camera(seen_, candidate.pose, options_.epsilon, Loss::kRobust, 3).pose;
      const std::size_t support = seen_.count(fitted, options_.epsilon);
      if (support < candidate.support || (support == candidate.support && round > 0)) break;
      candidate.pose = fitted;
      candidate.support = support;
    }
    const auto marked = bits_of(candidate.pose);
    for (std::size_t k = 0; k < rivals_.size(); ++k) {
      const auto others = bits_of(rivals_[k].pose);
      std::size_t shared = 0;
      for (std::size_t w = 0; w < words_; ++w) shared += static_cast<std::size_t>(std::popcount(marked[w] & others[w]));
      if (2 * shared <= std::min(candidate.support, rivals_[k].support)) continue;
      if (turn_between(candidate.pose, rivals_[k].pose) > kSameTurn) continue;
      if (!larger(candidate, rivals_[k])) return;
      rivals_.erase(rivals_.begin() + static_cast<std::ptrdiff_t>(k--));
    }
    rivals_.insert(std::upper_bound(rivals_.begin(), rivals_.end(), candidate, larger), candidate);
    if (rivals_.size() > options_.most_poses) rivals_.pop_back();
  }

  // Groups of triples of what a pose explains, each with the pose that explains most.
  void draw_around(const Found& rival, std::size_t stream) {
    const auto bits = bits_of(rival.pose);
    std::vector<std::uint32_t> inside;
    for_each_bit(bits.data(), words_, [&](std::size_t i) { inside.push_back(static_cast<std::uint32_t>(i)); });
    if (inside.size() < 4) return;
    const auto triple_of = [&](std::size_t k) {
      Triple triple = Draw(options_.seed, 3 + stream, k).triple(inside.size());
      for (auto& i : triple) i = inside[i];
      return triple;
    };
    auto found = look_at(0, kDrawnAround, false, triple_of);
    std::erase_if(found, [&](const Found& one) { return !is_half(one, rival); });
    groups_.insert(groups_.end(), found.begin(), found.end());
  }

  std::vector<Word> bits_of(const RigidMotion& pose) const {
    std::vector<Word> bits(words_, 0);
    seen_.mark(pose, options_.epsilon, bits.data());
    return bits;
  }

  std::vector<std::uint32_t> members_of(const RigidMotion& pose) const {
    const auto bits = bits_of(pose);
    std::vector<Word> given(words_, 0);  // in the order of the caller
    for_each_bit(bits.data(), words_, [&](std::size_t i) { set_bit(given.data(), order_[i]); });
    std::vector<std::uint32_t> members;
    for_each_bit(given.data(), words_, [&](std::size_t i) { members.push_back(static_cast<std::uint32_t>(i)); });
    return members;
  }

  const CameraGroupOptions& options_;
  Control& control_;
  std::size_t n_, words_, most_groups_;
  bool exhaustive_;
  std::vector<std::uint32_t> order_;
  SeenPoints seen_;
  std::vector<Found> groups_;
  std::vector<Found> rivals_;  // fitted, the one that explains most first
};

}  // namespace

CameraGroups find_camera_groups(std::span<const double> points, std::span<const double> places, PixelScale scale,
                                const CameraGroupOptions& options, Control& control) {
  return Search(points, places, scale, options, control).run();
}

Graph join_by_groups(std::size_t n, const std::vector<std::vector<std::uint32_t>>& groups, std::size_t least,
                     std::size_t threads, const simd::Kernels& kernels, Control& control) {
  // Which groups a match is in, as words that are not zero: matches that are in few have few.
  struct Part {
    std::uint32_t word;
    Word bits;
  };
  std::vector<std::vector<Part>> groups_of(n);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto word = static_cast<std::uint32_t>(g / kWordBits);
    for (const std::uint32_t i : groups[g]) {
      if (groups_of[i].empty() || groups_of[i].back().word != word) groups_of[i].push_back({word, 0});
      groups_of[i].back().bits |= Word{1} << (g % kWordBits);
    }
  }
  std::vector<std::uint32_t> often;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t count = 0;
    for (const Part& part : groups_of[i]) count += static_cast<std::size_t>(std::popcount(part.bits));
    if (count >= least) often.push_back(static_cast<std::uint32_t>(i));
  }
  const auto together = [&](const std::vector<Part>& a, const std::vector<Part>& b) {
    std::size_t count = 0;
    for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
      if (i->word == j->word) {
        count += static_cast<std::size_t>(std::popcount(i->bits & j->bits));
        if (count >= least) return true;
        ++i, ++j;
      } else {
        i->word < j->word ? ++i : ++j;
      }
    }
    return false;
  };
  const std::size_t stride = row_words(n);
  AlignedVector<Word> rows(n * stride);
  for_each_index(
      often.size(), threads, control,
      [&](std::size_t k) {
        for (std::size_t l = k + 1; l < often.size(); ++l) {
          if (together(groups_of[often[k]], groups_of[often[l]])) set_bit(&rows[often[k] * stride], often[l]);
        }
      },
      8);
  for (const std::size_t i : often) {  // the other half
    for_each_bit(&rows[i * stride], stride, [&](std::size_t j) {
      if (j > i) set_bit(&rows[j * stride], i);
    });
  }
  auto graph = Graph::from_bit_rows(n, std::move(rows), kernels);
  graph.to_preferred_form();
  return graph;
}

}  // namespace clipperplus::inline v0
