// Bit rows: sets of small integers as 64-bit words, lowest bit first.
//
// Rows are padded with zero words to a multiple of eight words (one cache line, one 512-bit register), so that no
// kernel needs a loop tail. Bits past the logical length are always zero.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace clipperplus::inline v0 {

using Word = std::uint64_t;
using Vertex = std::int32_t;
using Weight = std::int64_t;  // of a vertex; all of a graph together are less than 2^62

inline constexpr std::size_t kWordBits = 64;
inline constexpr std::size_t kRowAlignWords = 8;

constexpr std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

// Words of a padded row that holds `bits` bits.
constexpr std::size_t row_words(std::size_t bits) {
  return round_up((bits + kWordBits - 1) / kWordBits, kRowAlignWords);
}

inline bool test_bit(const Word* row, std::size_t i) { return (row[i / kWordBits] >> (i % kWordBits)) & 1U; }
inline void set_bit(Word* row, std::size_t i) { row[i / kWordBits] |= Word{1} << (i % kWordBits); }
inline void clear_bit(Word* row, std::size_t i) { row[i / kWordBits] &= ~(Word{1} << (i % kWordBits)); }

// Sets bits [0, count) of a zeroed row.
inline void set_prefix(Word* row, std::size_t count) {
  for (std::size_t w = 0; w < count / kWordBits; ++w) row[w] = ~Word{0};
  if (count % kWordBits != 0) row[count / kWordBits] = (Word{1} << (count % kWordBits)) - 1;
}

template <class Visit>
void for_each_bit(const Word* row, std::size_t words, Visit visit) {
  for (std::size_t w = 0; w < words; ++w) {
    for (Word rest = row[w]; rest != 0; rest &= rest - 1)
      visit(w * kWordBits + static_cast<std::size_t>(std::countr_zero(rest)));
  }
}

// Allocates on cache-line boundaries, so that padded rows can be loaded with aligned instructions.
template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT: conversion required by the standard

  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlignment)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlignment); }
  bool operator==(const CacheLineAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace clipperplus::inline v0
