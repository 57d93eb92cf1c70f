// The inner loops, compiled once per instruction set: a caller chooses one at run time and hands it to the algorithms.
// Results do not depend on the choice, only speed.
#pragma once

#include <vector>

#include "clipperplus/export.h"

namespace clipperplus::inline v0::simd {

struct Kernels;

// Those that this processor can run, best first; the last is always the portable one.
CLIPPERPLUS_API std::vector<const Kernels*> available();

CLIPPERPLUS_API const char* name_of(const Kernels& kernels);

}  // namespace clipperplus::inline v0::simd
