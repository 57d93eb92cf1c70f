// The decompression of PCD files under libFuzzer: an input is the size that is promised, in two bytes, and what is
// packed.
#include "clouds/lzf.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) {
    return -1;
  }
  const std::size_t promised = data[0] + 256U * data[1];
  const std::string_view packed(reinterpret_cast<const char*>(data) + 2, size - 2);
  try {
    if (clipperplus::decompress_lzf(packed, promised).size() != promised) {
      std::abort();
    }
  } catch (const clipperplus::LzfError&) {
  }
  return 0;
}
