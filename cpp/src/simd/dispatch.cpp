#include "simd/paths.h"

namespace clipperplus::simd {

const char* name_of(const Kernels& kernels) { return kernels.name; }

std::vector<const Kernels*> available() {
  std::vector<const Kernels*> found;
#ifdef CLIPPERPLUS_X86
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vpopcntdq") &&
                      __builtin_cpu_supports("gfni");
  if (avx512) found.push_back(&kAvx512);
  if (avx2) found.push_back(&kAvx2);
#endif
#ifdef CLIPPERPLUS_NEON
  found.push_back(&kNeon);
#endif
  found.push_back(&kPortable);
  return found;
}

}  // namespace clipperplus::simd
