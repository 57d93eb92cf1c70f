// From keys to numbers 0, 1, 2, … in the order in which the keys came: a hash table with open addressing, at most half
// full, that only grows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace clipperplus::inline v0 {

class KeyTable {
 public:
  void clear() {
    std::fill(slots_.begin(), slots_.end(), -1);
    keys_.clear();
  }

  // The number of a key, or -1.
  std::int32_t find(std::uint64_t key) const { return slots_[slot_of(key)]; }

  // The number of a key, which gets the next one if it has none.
  std::int32_t number_of(std::uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) grow();
    std::int32_t& slot = slots_[slot_of(key)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(keys_.size());
      keys_.push_back(key);
    }
    return slot;
  }
  const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    auto slot = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 32) & mask;
    while (slots_[slot] >= 0 && keys_[static_cast<std::size_t>(slots_[slot])] != key) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t k = 0; k < keys_.size(); ++k) slots_[slot_of(keys_[k])] = static_cast<std::int32_t>(k);
  }

  std::vector<std::int32_t> slots_ = std::vector<std::int32_t>(1024, -1);
  std::vector<std::uint64_t> keys_;
};

}  // namespace clipperplus::inline v0
