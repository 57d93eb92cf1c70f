// What compilers spell differently, and the only file that may: builtins, atomic access to plain numbers, vectors.
//
// GCC and Clang have words for all of it. Elsewhere (MSVC), and where CLIPPERPLUS_PLAIN is defined, the same is said in
// C++20 and intrinsics: to the same bits, if slower. Tests run both.
//
// All of it is in a namespace of the instruction set that a file is compiled for: functions of one name are one to the
// linker, which might keep the one with instructions that a processor lacks. For the same reason nothing here is a
// call of an inline function of the standard library that could be.
#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__GNUC__) && !defined(__clang__) && !defined(CLIPPERPLUS_PLAIN)
#define CLIPPERPLUS_PLAIN
#endif

#ifdef CLIPPERPLUS_PLAIN
#include <math.h>

#include <atomic>
#include <bit>
#endif
#ifdef _WIN32
#include <intrin.h>
#endif
#ifdef CLIPPERPLUS_X86
#include <immintrin.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define CLIPPERPLUS_NOINLINE __declspec(noinline)
#pragma fp_contract(off)  // no fused multiply-add behind our back
#else
#define CLIPPERPLUS_NOINLINE [[gnu::noinline]]
#endif

#if defined(__AVX512F__)
#define CLIPPERPLUS_TARGET for_avx512
#elif defined(__AVX__)
#define CLIPPERPLUS_TARGET for_avx
#else
#define CLIPPERPLUS_TARGET for_all
#endif

namespace clipperplus::inline v0 {
inline namespace CLIPPERPLUS_TARGET {

#if defined(CLIPPERPLUS_PLAIN) && defined(CLIPPERPLUS_X86) && defined(__AVX__)
inline std::size_t bit_count(std::uint64_t w) { return static_cast<std::size_t>(_mm_popcnt_u64(w)); }
#elif !defined(CLIPPERPLUS_PLAIN) && (defined(__POPCNT__) || !defined(__x86_64__))
inline std::size_t bit_count(std::uint64_t w) { return static_cast<std::size_t>(__builtin_popcountll(w)); }
#else  // the builtin would be a call into a table of bytes
inline std::size_t bit_count(std::uint64_t w) {
  w -= (w >> 1) & 0x5555555555555555ULL;
  w = (w & 0x3333333333333333ULL) + ((w >> 2) & 0x3333333333333333ULL);
  w = (w + (w >> 4)) & 0x0F0F0F0F0F0F0F0FULL;
  return static_cast<std::size_t>((w * 0x0101010101010101ULL) >> 56);
}
#endif

#ifndef CLIPPERPLUS_PLAIN

// Of a word that is not zero.
inline unsigned lowest_bit(std::uint64_t w) { return static_cast<unsigned>(__builtin_ctzll(w)); }
inline unsigned highest_bit(std::uint64_t w) { return 63U - static_cast<unsigned>(__builtin_clzll(w)); }

inline double square_root(double x) { return __builtin_sqrt(x); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
inline double magnitude(double x) { return __builtin_fabs(x); }
inline float magnitude(float x) { return __builtin_fabsf(x); }

// A number that other threads may write meanwhile: one that was written, and never parts of two.
template <class Number>
inline Number load_relaxed(const Number& from) {
  return __atomic_load_n(&from, __ATOMIC_RELAXED);
}
template <class Number>
inline void store_relaxed(Number& to, Number value) {
  __atomic_store_n(&to, value, __ATOMIC_RELAXED);
}

template <class Number, std::size_t Lanes>
struct VectorOf {
  typedef Number type __attribute__((vector_size(Lanes * sizeof(Number))));  // GCC ignores it in an alias
};

// Lanes that are added, multiplied and compared at once, with each other or with one number.
template <class Number, std::size_t Lanes>
using Vector = typename VectorOf<Number, Lanes>::type;

// The lanes of `a` where a comparison holds, and of `b` elsewhere.
template <class Mask, class Numbers>
inline Numbers choose(Mask where, Numbers a, Numbers b) {
  return where ? a : b;
}

#ifdef __AVX__
using Floats8 = __m256;
#endif
#ifdef __AVX512F__
using Floats16 = __m512;
#endif

#else  // plain

#ifdef _WIN32
inline unsigned lowest_bit(std::uint64_t w) {
  unsigned long place = 0;
  _BitScanForward64(&place, w);
  return static_cast<unsigned>(place);
}
inline unsigned highest_bit(std::uint64_t w) {
  unsigned long place = 0;
  _BitScanReverse64(&place, w);
  return static_cast<unsigned>(place);
}
#else
inline unsigned lowest_bit(std::uint64_t w) { return static_cast<unsigned>(std::countr_zero(w)); }
inline unsigned highest_bit(std::uint64_t w) { return 63U - static_cast<unsigned>(std::countl_zero(w)); }
#endif

inline double square_root(double x) { return ::sqrt(x); }
inline float square_root(float x) { return ::sqrtf(x); }
inline double magnitude(double x) { return ::fabs(x); }
inline float magnitude(float x) { return static_cast<float>(::fabs(static_cast<double>(x))); }

template <class Number>
inline Number load_relaxed(const Number& from) {
  return std::atomic_ref<Number>(const_cast<Number&>(from)).load(std::memory_order_relaxed);
}
template <class Number>
inline void store_relaxed(Number& to, Number value) {
  std::atomic_ref<Number>(to).store(value, std::memory_order_relaxed);
}

// Which lanes of a comparison hold.
template <std::size_t Lanes>
struct LaneMask {
  bool holds[Lanes];
  int operator[](std::size_t l) const { return holds[l] ? -1 : 0; }  // all bits, as those of vectors
  friend LaneMask operator&(LaneMask a, const LaneMask& b) {
    for (std::size_t l = 0; l < Lanes; ++l) a.holds[l] = a.holds[l] && b.holds[l];
    return a;
  }
};

template <class Number, std::size_t Lanes>
struct alignas(Lanes * sizeof(Number)) Vector {
  using Mask = LaneMask<Lanes>;
  Number lanes[Lanes];

  Vector() = default;
  Vector(Number x) {  // NOLINT: a number is all lanes, as it is to vectors of compilers
    for (Number& lane : lanes) lane = x;
  }
  Number operator[](std::size_t l) const { return lanes[l]; }
  Vector& operator+=(const Vector& other) { return *this = *this + other; }

  friend Vector operator+(const Vector& a, const Vector& b) {
    return each(a, b, [](Number x, Number y) { return x + y; });
  }
  friend Vector operator-(const Vector& a, const Vector& b) {
    return each(a, b, [](Number x, Number y) { return x - y; });
  }
  friend Vector operator*(const Vector& a, const Vector& b) {
    return each(a, b, [](Number x, Number y) { return x * y; });
  }
  friend Vector operator/(const Vector& a, const Vector& b) {
    return each(a, b, [](Number x, Number y) { return x / y; });
  }
  friend Mask operator<(const Vector& a, const Vector& b) {
    return test(a, b, [](Number x, Number y) { return x < y; });
  }
  friend Mask operator<=(const Vector& a, const Vector& b) {
    return test(a, b, [](Number x, Number y) { return x <= y; });
  }
  friend Mask operator==(const Vector& a, const Vector& b) {
    return test(a, b, [](Number x, Number y) { return x == y; });
  }

 private:
  template <class Operation>
  static Vector each(const Vector& a, const Vector& b, Operation operation) {
    Vector result;
    for (std::size_t l = 0; l < Lanes; ++l) result.lanes[l] = operation(a.lanes[l], b.lanes[l]);
    return result;
  }
  template <class Test>
  static Mask test(const Vector& a, const Vector& b, Test test) {
    Mask result;
    for (std::size_t l = 0; l < Lanes; ++l) result.holds[l] = test(a.lanes[l], b.lanes[l]);
    return result;
  }
};

template <class Number, std::size_t Lanes>
inline Vector<Number, Lanes> choose(const LaneMask<Lanes>& where, const Vector<Number, Lanes>& a,
                                    const Vector<Number, Lanes>& b) {
  Vector<Number, Lanes> result;
  for (std::size_t l = 0; l < Lanes; ++l) result.lanes[l] = where.holds[l] ? a.lanes[l] : b.lanes[l];
  return result;
}

// A register with the operators that MSVC's lacks; intrinsics take it for what it holds.
#define CLIPPERPLUS_REGISTER(Name, Register, prefix)                                    \
  struct Name {                                                                         \
    Register value;                                                                     \
    Name() = default;                                                                   \
    Name(Register x) : value(x) {}                                                      \
    operator Register() const { return value; }                                         \
    friend Name operator+(Name a, Name b) { return prefix##_add_ps(a.value, b.value); } \
    friend Name operator-(Name a, Name b) { return prefix##_sub_ps(a.value, b.value); } \
    friend Name operator*(Name a, Name b) { return prefix##_mul_ps(a.value, b.value); } \
    friend Name operator/(Name a, Name b) { return prefix##_div_ps(a.value, b.value); } \
    Name& operator+=(Name other) { return *this = *this + other; }                      \
  };
#ifdef __AVX__
CLIPPERPLUS_REGISTER(Floats8, __m256, _mm256)
#endif
#ifdef __AVX512F__
CLIPPERPLUS_REGISTER(Floats16, __m512, _mm512)
#endif
#undef CLIPPERPLUS_REGISTER

#endif  // plain

// One number in all lanes. Nothing is subtracted, neither from -0 nor at run time.
template <class Numbers, class Number>
inline Numbers in_all_lanes(Number x) {
  return x - Numbers{};
}

#ifdef CLIPPERPLUS_X86
// The processor is asked itself: __builtin_cpu_supports wants a part of the compiler's library that Zig does not have.
struct ProcessorAnswer {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};
#if defined(_MSC_VER) && !defined(__clang__)
inline ProcessorAnswer ask_processor(int leaf) {
  int answer[4];
  __cpuidex(answer, leaf, 0);
  return {static_cast<std::uint32_t>(answer[0]), static_cast<std::uint32_t>(answer[1]),
          static_cast<std::uint32_t>(answer[2]), static_cast<std::uint32_t>(answer[3])};
}
inline std::uint64_t saved_registers() { return _xgetbv(0); }
#else
inline ProcessorAnswer ask_processor(int leaf) {
  ProcessorAnswer answer;
  __asm__("cpuid" : "=a"(answer.eax), "=b"(answer.ebx), "=c"(answer.ecx), "=d"(answer.edx) : "a"(leaf), "c"(0));
  return answer;
}
inline std::uint64_t saved_registers() {  // the intrinsic is only there where all of the file may use XSAVE
  std::uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<std::uint64_t>(high) << 32 | low;
}
#endif

// Bits of CPUID's answers (Intel's manual, volume 2A), and which registers the system saves (XCR0).
struct Processor {
  std::uint32_t features = 0, more = 0, still_more = 0;  // leaf 1, ECX; leaf 7, EBX and ECX
  std::uint64_t saved = 0;

  Processor() {
    if (ask_processor(0).eax < 7) return;
    features = ask_processor(1).ecx;
    const ProcessorAnswer answer = ask_processor(7);
    more = answer.ebx;
    still_more = answer.ecx;
    if ((features & 1U << 27) != 0) saved = saved_registers();
  }
};
inline bool processor_has_avx2() {
  constexpr std::uint32_t kFeatures = 1U << 12 | 1U << 23 | 1U << 27 | 1U << 28;  // FMA, POPCNT, OSXSAVE, AVX
  constexpr std::uint32_t kMore = 1U << 3 | 1U << 5 | 1U << 8;                    // BMI1, AVX2, BMI2
  const Processor found;
  return (found.features & kFeatures) == kFeatures && (found.more & kMore) == kMore && (found.saved & 0x6) == 0x6;
}
inline bool processor_has_avx512() {
  constexpr std::uint32_t kMore = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;  // F, DQ, BW, VL
  constexpr std::uint32_t kStillMore = 1U << 1 | 1U << 8 | 1U << 14;          // VBMI, GFNI, VPOPCNTDQ
  const Processor found;
  return processor_has_avx2() && (found.more & kMore) == kMore && (found.still_more & kStillMore) == kStillMore &&
         (found.saved & 0xE6) == 0xE6;
}
#endif

}  // namespace CLIPPERPLUS_TARGET
}  // namespace clipperplus::inline v0
