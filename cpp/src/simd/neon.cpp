// 64-bit ARM: NEON is part of the base architecture, so the compiler vectorises the common loops by itself.
#include "simd/paths.h"

namespace clipperplus::inline v0::simd {
namespace neon {
// clang-format off: the body takes table_sums from the file before it
#include "simd/table_sums_scalar.inc.h"
#include "simd/body.inc.h"
// clang-format on
}  // namespace neon

const Kernels kNeon = neon::table("neon");

}  // namespace clipperplus::inline v0::simd
