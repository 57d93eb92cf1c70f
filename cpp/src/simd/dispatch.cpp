#include "simd/paths.h"

namespace clipperplus::inline v0::simd {

const char* name_of(const Kernels& kernels) { return kernels.name; }

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> found;
#ifdef CLIPPERPLUS_X86
  if (processor_has_avx512()) found.push_back(&kAvx512);
  if (processor_has_avx2()) found.push_back(&kAvx2);
#endif
#ifdef CLIPPERPLUS_NEON
  found.push_back(&kNeon);
#endif
  found.push_back(&kPortable);
  return found;
}

}  // namespace clipperplus::inline v0::simd
