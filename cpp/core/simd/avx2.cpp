// AVX2, BMI and POPCNT: every x86 server and laptop since 2013. Bit rows and vector passes get 256-bit registers.
// The sums keep the scalar look-ups: gathers of four doubles were no faster where measured.
#include "paths.h"

namespace clipperplus::simd {
namespace avx2 {
// clang-format off: the body takes table_sums from the file before it
#include "table_sums_scalar.inc.h"
#include "body.inc.h"
// clang-format on
}  // namespace avx2

const Kernels kAvx2 = avx2::table("avx2");

}  // namespace clipperplus::simd
