// AVX-512 with vector popcount, byte permutes and Galois-field products (Ice Lake, Zen 4 and later).
#include <immintrin.h>

#include "simd/paths.h"

namespace clipperplus::inline v0::simd {
namespace avx512 {

// Transposes a 64 × 64 bit matrix in about fifty instructions. Bytes are grouped into 8 × 8 bit tiles (vpermb), the
// tiles are transposed (a Galois-field product with the tile as the matrix), then tiles change places across
// registers and bytes return to rows.
#define CLIPPERPLUS_OWN_TRANSPOSE
inline void transpose_block(Word* rows) {
  // Byte 8 i + j ← byte 8 (7 - j) + i: the product reads the rows of a tile last to first.
  const __m512i tile_bytes =
      _mm512_set_epi8(7, 15, 23, 31, 39, 47, 55, 63, 6, 14, 22, 30, 38, 46, 54, 62, 5, 13, 21, 29, 37, 45, 53, 61, 4,
                      12, 20, 28, 36, 44, 52, 60, 3, 11, 19, 27, 35, 43, 51, 59, 2, 10, 18, 26, 34, 42, 50, 58, 1, 9,
                      17, 25, 33, 41, 49, 57, 0, 8, 16, 24, 32, 40, 48, 56);
  // Byte 8 i + j ← byte 8 j + i.
  const __m512i row_bytes =
      _mm512_set_epi8(63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 60,
                      52, 44, 36, 28, 20, 12, 4, 59, 51, 43, 35, 27, 19, 11, 3, 58, 50, 42, 34, 26, 18, 10, 2, 57, 49,
                      41, 33, 25, 17, 9, 1, 56, 48, 40, 32, 24, 16, 8, 0);
  const __m512i identity = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201ULL));
  __m512i tiles[8];
  for (int g = 0; g < 8; ++g) {
    const __m512i grouped = _mm512_permutexvar_epi8(tile_bytes, _mm512_load_si512(rows + 8 * g));
    tiles[g] = _mm512_gf2p8affine_epi64_epi8(identity, grouped, 0);
  }
  // Tile b of register g goes to place g of register b: three rounds of exchanges, as for bits.
  const __m512i low_quads = _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0);
  const __m512i high_quads = _mm512_set_epi64(15, 14, 13, 12, 7, 6, 5, 4);
  const __m512i low_pairs = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
  const __m512i high_pairs = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
  __m512i half[8], quarter[8];
  for (int g = 0; g < 4; ++g) {
    half[g] = _mm512_permutex2var_epi64(tiles[g], low_quads, tiles[g + 4]);
    half[g + 4] = _mm512_permutex2var_epi64(tiles[g], high_quads, tiles[g + 4]);
  }
  for (int base = 0; base < 8; base += 4) {
    for (int g = base; g < base + 2; ++g) {
      quarter[g] = _mm512_permutex2var_epi64(half[g], low_pairs, half[g + 2]);
      quarter[g + 2] = _mm512_permutex2var_epi64(half[g], high_pairs, half[g + 2]);
    }
  }
  for (int g = 0; g < 8; g += 2) {
    const __m512i even = _mm512_unpacklo_epi64(quarter[g], quarter[g + 1]);
    const __m512i odd = _mm512_unpackhi_epi64(quarter[g], quarter[g + 1]);
    _mm512_store_si512(rows + 8 * g, _mm512_permutexvar_epi8(row_bytes, even));
    _mm512_store_si512(rows + 8 * (g + 1), _mm512_permutexvar_epi8(row_bytes, odd));
  }
}

#define CLIPPERPLUS_OWN_SHARED_WORDS
inline SharedWords shared_words(const Word* a, const Word* b) {
  const __m512i common = _mm512_and_si512(_mm512_load_si512(a), _mm512_load_si512(b));
  const __m512i less_one = _mm512_add_epi64(common, _mm512_set1_epi64(-1));
  return {_mm512_test_epi64_mask(common, common), _mm512_test_epi64_mask(common, less_one)};
}

// The row is the mask: sixteen keys a subtraction.
#define CLIPPERPLUS_OWN_SUBTRACT
PeelKey subtract_and_find_min(PeelKey* keys, const Word* row, std::size_t words, PeelKey step) {
  const __m512i steps = _mm512_set1_epi32(static_cast<int>(step));
  __m512i smallest[4];
  for (auto& lane : smallest) lane = _mm512_set1_epi32(-1);
  for (std::size_t w = 0; w < words; ++w) {
    const Word members = row[w];
    for (unsigned quarter = 0; quarter < 4; ++quarter) {
      PeelKey* at = keys + w * kWordBits + 16 * quarter;
      const __m512i old = _mm512_load_si512(at);
      const __m512i now = _mm512_mask_sub_epi32(old, static_cast<__mmask16>(members >> (16 * quarter)), old, steps);
      _mm512_store_si512(at, now);
      smallest[quarter] = _mm512_min_epu32(smallest[quarter], now);
    }
  }
  return _mm512_reduce_min_epu32(
      _mm512_min_epu32(_mm512_min_epu32(smallest[0], smallest[1]), _mm512_min_epu32(smallest[2], smallest[3])));
}

#define CLIPPERPLUS_OWN_SELECT_NEAR
std::size_t select_near(const NearCandidates& candidates, const double* point, std::int32_t self, double square,
                        std::int32_t* near) {
  const __m512d px = _mm512_set1_pd(point[0]), py = _mm512_set1_pd(point[1]), pz = _mm512_set1_pd(point[2]);
  const __m512d limit = _mm512_set1_pd(square);
  const __m256i me = _mm256_set1_epi32(self);
  std::size_t count = 0;
  for (std::size_t k = 0; k < candidates.count; k += 8) {
    const std::size_t rest = candidates.count - k;
    const auto lanes = static_cast<__mmask8>(rest >= 8 ? 0xFF : (1U << rest) - 1);
    const __m512d dx = _mm512_sub_pd(_mm512_maskz_loadu_pd(lanes, candidates.x + k), px);
    const __m512d dy = _mm512_sub_pd(_mm512_maskz_loadu_pd(lanes, candidates.y + k), py);
    const __m512d dz = _mm512_sub_pd(_mm512_maskz_loadu_pd(lanes, candidates.z + k), pz);
    const __m512d sum =
        _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dy, dy)), _mm512_mul_pd(dz, dz));
    const __m256i indices = _mm256_maskz_loadu_epi32(lanes, candidates.indices + k);
    const __mmask8 inside = _mm512_mask_cmp_pd_mask(lanes, sum, limit, _CMP_LE_OQ);
    const __mmask8 kept = _mm256_mask_cmpneq_epi32_mask(inside, indices, me);
    // Packed in a register: compressing into memory is slow on some processors.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(near + count), _mm256_maskz_compress_epi32(kept, indices));
    count += bit_count(kept);
  }
  return count;
}

#define CLIPPERPLUS_OWN_FLOATS
using Floats = Floats16;
constexpr std::size_t kFloatLanes = 16;
inline Floats load(const float* p) { return _mm512_load_ps(p); }
inline void store(float* p, Floats x) { _mm512_store_ps(p, x); }
inline Floats broadcast(float x) { return _mm512_set1_ps(x); }
inline Floats fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
inline Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
inline Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
inline void totals(const Floats* x, float* sums) {  // of four
  for (int k = 0; k < 4; ++k) sums[k] = _mm512_reduce_add_ps(x[k]);
}
inline Word less(Floats a, Floats b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline Word equal(std::int32_t id, const std::int32_t* ids) {
  return _mm512_cmpeq_epi32_mask(_mm512_set1_epi32(id), _mm512_load_si512(ids));
}

// The complement of the row is the mask: eight entries an addition.
#define CLIPPERPLUS_OWN_ADD_TO_OTHERS
void add_to_others(double* y, const Word* row, std::size_t words, double value) {
  const __m512d values = _mm512_set1_pd(value);
  for (std::size_t w = 0; w < words; ++w) {
    for (unsigned eighth = 0; eighth < 8; ++eighth) {
      double* at = y + w * kWordBits + 8 * eighth;
      const __m512d old = _mm512_load_pd(at);
      const auto outside = static_cast<__mmask8>(~row[w] >> (8 * eighth));
      _mm512_store_pd(at, _mm512_mask_add_pd(old, outside, old, values));
    }
  }
}

// The complement of the row is the mask: thirty-two entries an addition.
#define CLIPPERPLUS_OWN_MISSES
void count_misses(std::uint16_t* misses, const Word* row, std::size_t words, std::uint16_t step) {
  const __m512i steps = _mm512_set1_epi16(static_cast<short>(step));
  for (std::size_t w = 0; w < words; ++w) {
    for (unsigned half = 0; half < 2; ++half) {
      std::uint16_t* at = misses + w * kWordBits + 32 * half;
      const __m512i old = _mm512_load_si512(at);
      const auto outside = static_cast<__mmask32>(~row[w] >> (32 * half));
      _mm512_store_si512(at, _mm512_mask_add_epi16(old, outside, old, steps));
    }
  }
}

Word find_misses(const std::uint16_t* misses, std::uint16_t wanted) {
  const __m512i target = _mm512_set1_epi16(static_cast<short>(wanted));
  const Word low = _mm512_cmpeq_epi16_mask(_mm512_load_si512(misses), target);
  const Word high = _mm512_cmpeq_epi16_mask(_mm512_load_si512(misses + 32), target);
  return high << 32 | low;
}

// Eight counters of eight lanes each are added up in three rounds of exchanges, as in a transpose.
#define CLIPPERPLUS_OWN_ADD_SHARED
inline void add_shared(const Word* mine, const Word* const* others, std::size_t begin, std::size_t end, Word* totals) {
  __m512i counts[kTestedAtOnce];
  for (auto& count : counts) count = _mm512_setzero_si512();
  for (std::size_t k = begin; k < end; k += kRowAlignWords) {
    const __m512i row = _mm512_load_si512(mine + k);
    for (std::size_t i = 0; i < kTestedAtOnce; ++i) {
      const __m512i common = _mm512_and_si512(row, _mm512_load_si512(others[i] + k));
      counts[i] = _mm512_add_epi64(counts[i], _mm512_popcnt_epi64(common));
    }
  }
  __m512i pairs[4], quads[2];
  for (int i = 0; i < 4; ++i) {
    pairs[i] = _mm512_add_epi64(_mm512_unpacklo_epi64(counts[2 * i], counts[2 * i + 1]),
                                _mm512_unpackhi_epi64(counts[2 * i], counts[2 * i + 1]));
  }
  for (int i = 0; i < 2; ++i) {  // 128-bit lanes: 0 and 1, 2 and 3 of both
    quads[i] = _mm512_add_epi64(_mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0x88),
                                _mm512_shuffle_i64x2(pairs[2 * i], pairs[2 * i + 1], 0xDD));
  }
  const __m512i sums =
      _mm512_add_epi64(_mm512_shuffle_i64x2(quads[0], quads[1], 0x88), _mm512_shuffle_i64x2(quads[0], quads[1], 0xDD));
  _mm512_store_si512(totals, _mm512_add_epi64(_mm512_load_si512(totals), sums));
}

// Eight rows a register, four columns a permute: a lane's low four bits choose among sixteen table entries.
//
// Cost: a permute, a shift and an add per 8 × 4 matrix entries, 1.5 cycles on two vector ports, so the floor is
// n · |support| / 21 cycles. Masked additions over bit rows need a mask move and an add per eight entries, 2.7 times
// as much; gathers over CSR rows break even with this at a density of about three per cent.
void table_sums(const Word* blocks, std::size_t row_blocks, std::size_t column_blocks, const double* tables,
                double* y) {
  constexpr std::size_t kRegisters = 8;  // 8 × 8 rows: a row block
  for (std::size_t r = 0; r < row_blocks; ++r) {
    __m512d sums[kRegisters];
    for (auto& sum : sums) sum = _mm512_setzero_pd();
    const Word* block = blocks + r * column_blocks * kBlock;
    const double* table = tables;
    for (std::size_t c = 0; c < column_blocks; ++c, block += kBlock) {
      __m512i words[kRegisters];
      for (std::size_t k = 0; k < kRegisters; ++k) words[k] = _mm512_load_si512(block + 8 * k);
      for (std::size_t byte = 0; byte < sizeof(Word); ++byte, table += 32) {
        const __m512d low0 = _mm512_load_pd(table), low1 = _mm512_load_pd(table + 8);
        const __m512d high0 = _mm512_load_pd(table + 16), high1 = _mm512_load_pd(table + 24);
        for (std::size_t k = 0; k < kRegisters; ++k) {
          const __m512d low = _mm512_permutex2var_pd(low0, words[k], low1);
          words[k] = _mm512_srli_epi64(words[k], 4);
          const __m512d high = _mm512_permutex2var_pd(high0, words[k], high1);
          words[k] = _mm512_srli_epi64(words[k], 4);
          sums[k] = _mm512_add_pd(sums[k], _mm512_add_pd(low, high));
        }
      }
    }
    for (std::size_t k = 0; k < kRegisters; ++k) _mm512_store_pd(y + r * kBlock + 8 * k, sums[k]);
  }
}

#include "simd/body.inc.h"
}  // namespace avx512

const Kernels kAvx512 = avx512::table("avx512");

}  // namespace clipperplus::inline v0::simd
