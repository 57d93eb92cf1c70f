// AVX2, BMI and POPCNT: every x86 server and laptop since 2013. Bit rows and vector passes get 256-bit registers.
// The sums keep the scalar look-ups: gathers of four doubles were no faster where measured.
#include <immintrin.h>

#include "simd/paths.h"

namespace clipperplus::inline v0::simd {
namespace avx2 {

#define CLIPPERPLUS_OWN_SHARED_WORDS
inline SharedWords shared_words(const Word* a, const Word* b) {
  unsigned no_bit = 0, one_at_most = 0;
  for (int half = 0; half < 2; ++half) {
    const auto load = [half](const Word* row) {
      return _mm256_load_si256(reinterpret_cast<const __m256i*>(row) + half);
    };
    const __m256i zero = _mm256_setzero_si256();
    const __m256i common = _mm256_and_si256(load(a), load(b));
    const __m256i rest = _mm256_and_si256(common, _mm256_add_epi64(common, _mm256_set1_epi64x(-1)));
    const auto mask = [half](__m256i lanes) {
      return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(lanes))) << (4 * half);
    };
    no_bit |= mask(_mm256_cmpeq_epi64(common, zero));
    one_at_most |= mask(_mm256_cmpeq_epi64(rest, zero));
  }
  return {no_bit ^ 0xFFU, one_at_most ^ 0xFFU};
}

#define CLIPPERPLUS_OWN_FLOATS
using Floats = Floats8;
constexpr std::size_t kFloatLanes = 8;
inline Floats load(const float* p) { return _mm256_load_ps(p); }
inline void store(float* p, Floats x) { _mm256_store_ps(p, x); }
inline Floats broadcast(float x) { return _mm256_set1_ps(x); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
inline Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
inline void totals(const Floats* x, float* sums) {  // of four
  const __m256 pairs = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
  _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(pairs), _mm256_extractf128_ps(pairs, 1)));
}
inline Word less(Floats a, Floats b) {
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ)));
}
inline Word equal(std::int32_t id, const std::int32_t* ids) {
  const __m256i same =
      _mm256_cmpeq_epi32(_mm256_set1_epi32(id), _mm256_load_si256(reinterpret_cast<const __m256i*>(ids)));
  return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(same)));
}

// For each mask of eight lanes, which lanes are set, as bytes: the order in which a permutation packs them.
struct PackedLanes {
  std::uint64_t of[256];
  constexpr PackedLanes() : of() {
    for (unsigned mask = 0; mask < 256; ++mask) {
      unsigned place = 0;
      for (unsigned lane = 0; lane < 8; ++lane) {
        if ((mask >> lane & 1U) != 0) of[mask] |= static_cast<std::uint64_t>(lane) << (8 * place++);
      }
    }
  }
};
constexpr PackedLanes kPackedLanes;

// Eight candidates at a time.
#define CLIPPERPLUS_OWN_SELECT_NEAR
std::size_t select_near(const NearCandidates& candidates, const double* point, std::int32_t self, double square,
                        std::int32_t* near) {
  const __m256d px = _mm256_set1_pd(point[0]), py = _mm256_set1_pd(point[1]), pz = _mm256_set1_pd(point[2]);
  const __m256d most = _mm256_set1_pd(square);
  const __m256i me = _mm256_set1_epi32(self);
  const auto within = [&](std::size_t k) {
    const __m256d dx = _mm256_sub_pd(_mm256_loadu_pd(candidates.x + k), px);
    const __m256d dy = _mm256_sub_pd(_mm256_loadu_pd(candidates.y + k), py);
    const __m256d dz = _mm256_sub_pd(_mm256_loadu_pd(candidates.z + k), pz);
    const __m256d sum =
        _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(dx, dx), _mm256_mul_pd(dy, dy)), _mm256_mul_pd(dz, dz));
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(sum, most, _CMP_LE_OQ)));
  };
  std::size_t count = 0, k = 0;
  for (; k + 8 <= candidates.count; k += 8) {
    const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(candidates.indices + k));
    const auto same = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(ids, me))));
    const unsigned mask = (within(k) | within(k + 4) << 4) & ~same;
    const __m128i lanes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kPackedLanes.of[mask]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + count),
                        _mm256_permutevar8x32_epi32(ids, _mm256_cvtepu8_epi32(lanes)));
    count += static_cast<std::size_t>(_mm_popcnt_u32(mask));
  }
  for (; k < candidates.count; ++k) {
    const double dx = candidates.x[k] - point[0], dy = candidates.y[k] - point[1], dz = candidates.z[k] - point[2];
    near[count] = candidates.indices[k];
    count += static_cast<std::size_t>(dx * dx + dy * dy + dz * dz <= square) &
             static_cast<std::size_t>(candidates.indices[k] != self);
  }
  return count;
}

// Two numbers of four neighbours at a time.
#define CLIPPERPLUS_OWN_GATHER_PAIRS
template <class Batch>
inline void gather_pairs(const double* oriented, const std::int32_t* near, std::size_t count, Batch& batch) {
  for (std::size_t k = 0; k < count; k += 4) {
    const double* others[4];
    for (std::size_t i = 0; i < 4; ++i) {  // the last one again where there are no more
      others[i] = oriented + static_cast<std::size_t>(near[k + i < count ? k + i : count - 1]) * kOriented;
    }
    const auto two = [&](std::size_t first, double* even, double* odd) {
      const __m256d low = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(others[0] + first)),
                                               _mm_load_pd(others[2] + first), 1);
      const __m256d high = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(others[1] + first)),
                                                _mm_load_pd(others[3] + first), 1);
      _mm256_store_pd(even + k, _mm256_unpacklo_pd(low, high));
      _mm256_store_pd(odd + k, _mm256_unpackhi_pd(low, high));
    };
    two(0, batch.x, batch.y);
    two(2, batch.z, batch.nx);
    two(4, batch.ny, batch.nz);
  }
}

// The same, as differences in single precision: numbers are halved where they are loaded.
#define CLIPPERPLUS_OWN_GATHER_QUICK_PAIRS
template <class Pairs>
inline void gather_quick_pairs(const double* oriented, const double* self, double scale, const std::int32_t* near,
                               std::size_t count, Pairs& pairs) {
  constexpr std::size_t kPadding = 16;
  const __m256d from = _mm256_setr_pd(self[0], self[1], self[2], 0.0),
                scales = _mm256_setr_pd(scale, scale, scale, 1.0);
  for (std::size_t k = 0; k < (count + kPadding - 1) / kPadding * kPadding; k += 8) {
    __m256 places[4], normals[4];  // of neighbours 0 to 3, and 4 to 7: x y z and the normal's x; its y z
    for (std::size_t i = 0; i < 4; ++i) {
      const auto other = [&](std::size_t j) {
        return oriented + static_cast<std::size_t>(near[j < count ? j : count - 1]) * kOriented;
      };
      const auto place = [&](const double* p) {
        return _mm256_cvtpd_ps(_mm256_mul_pd(_mm256_sub_pd(_mm256_load_pd(p), from), scales));
      };
      const double *low = other(k + i), *high = other(k + 4 + i);
      places[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(place(low)), place(high), 1);
      normals[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_cvtpd_ps(_mm_load_pd(low + 4))),
                                        _mm_cvtpd_ps(_mm_load_pd(high + 4)), 1);
    }
    const auto store_two = [k](__m256 a, __m256 b, float* even, float* odd) {
      _mm256_store_ps(even + k, _mm256_shuffle_ps(a, b, 0x44));
      _mm256_store_ps(odd + k, _mm256_shuffle_ps(a, b, 0xEE));
    };
    const __m256 xy01 = _mm256_unpacklo_ps(places[0], places[1]), xy23 = _mm256_unpacklo_ps(places[2], places[3]);
    const __m256 zn01 = _mm256_unpackhi_ps(places[0], places[1]), zn23 = _mm256_unpackhi_ps(places[2], places[3]);
    const __m256 yz01 = _mm256_unpacklo_ps(normals[0], normals[1]), yz23 = _mm256_unpacklo_ps(normals[2], normals[3]);
    store_two(xy01, xy23, pairs.x, pairs.y);
    store_two(zn01, zn23, pairs.z, pairs.nx);
    store_two(yz01, yz23, pairs.ny, pairs.nz);
  }
}

// Four points at a time.
#define CLIPPERPLUS_OWN_GATHER_POINTS
template <class Points>
inline void gather_points(const double* points, const std::int32_t* near, std::size_t count, Points& gathered) {
  for (std::size_t k = 0; k < count; k += 4) {
    __m256d rows[4];
    for (std::size_t i = 0; i < 4; ++i) {  // the last one again where there are no more
      rows[i] = _mm256_load_pd(points + static_cast<std::size_t>(near[k + i < count ? k + i : count - 1]) * 4);
    }
    const __m256d xz01 = _mm256_unpacklo_pd(rows[0], rows[1]), xz23 = _mm256_unpacklo_pd(rows[2], rows[3]);
    const __m256d y01 = _mm256_unpackhi_pd(rows[0], rows[1]), y23 = _mm256_unpackhi_pd(rows[2], rows[3]);
    _mm256_store_pd(gathered.x + k, _mm256_permute2f128_pd(xz01, xz23, 0x20));
    _mm256_store_pd(gathered.y + k, _mm256_permute2f128_pd(y01, y23, 0x20));
    _mm256_store_pd(gathered.z + k, _mm256_permute2f128_pd(xz01, xz23, 0x31));
  }
}

// clang-format off: the body takes table_sums from the file before it
#include "simd/table_sums_scalar.inc.h"
#include "simd/body.inc.h"
// clang-format on
}  // namespace avx2

const Kernels kAvx2 = avx2::table("avx2");

}  // namespace clipperplus::inline v0::simd
