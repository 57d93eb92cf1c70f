// The kernel tables, one per instruction set. Which of them exist is decided by the build (see CMakeLists.txt).
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "compiler.h"
#include "simd/kernels.h"

namespace clipperplus::inline v0::simd {

extern const Kernels kPortable;
#ifdef CLIPPERPLUS_X86
extern const Kernels kAvx2, kAvx512;
#endif
#ifdef CLIPPERPLUS_NEON
extern const Kernels kNeon;
#endif

}  // namespace clipperplus::inline v0::simd
