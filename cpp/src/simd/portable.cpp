// The path that every processor can run.
#include "simd/paths.h"

namespace clipperplus::inline v0::simd {
namespace portable {
// clang-format off: the body takes table_sums from the file before it
#include "simd/table_sums_scalar.inc.h"
#include "simd/body.inc.h"
// clang-format on
}  // namespace portable

const Kernels kPortable = portable::table("portable");

}  // namespace clipperplus::inline v0::simd
