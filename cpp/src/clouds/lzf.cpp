#include "clouds/lzf.h"

#include <algorithm>

namespace clipperplus::inline v0 {

std::string decompress_lzf(std::string_view packed, std::size_t size) {
  if (size > kHighestLzfRatio * packed.size()) {
    throw LzfError(std::to_string(packed.size()) + " bytes cannot be the compressed form of " + std::to_string(size));
  }
  std::string out;
  out.reserve(size);
  std::size_t place = 0;
  const auto next = [&] {
    if (place == packed.size()) throw LzfError("the last piece is cut off");
    return static_cast<std::size_t>(static_cast<unsigned char>(packed[place++]));
  };
  while (place < packed.size()) {
    const std::size_t control = next();
    if (control < 32) {
      const std::size_t length = control + 1;
      if (length > packed.size() - place) throw LzfError("the last piece is cut off");
      out.append(packed, place, length);
      place += length;
    } else {
      std::size_t length = (control >> 5) + 2;
      if (length == 9) length += next();
      const std::size_t back = ((control & 31) << 8 | next()) + 1;
      if (back > out.size()) {
        throw LzfError("a repetition goes back " + std::to_string(back) + " bytes where there are " +
                       std::to_string(out.size()));
      }
      for (const std::size_t end = out.size() + length;
           out.size() < end;) {  // again and again where it is longer than that
        out.append(out, out.size() - back, std::min(back, end - out.size()));
      }
    }
    if (out.size() > size) throw LzfError("there are more than " + std::to_string(size) + " bytes");
  }
  if (out.size() < size) {
    throw LzfError("there are " + std::to_string(out.size()) + " bytes instead of " + std::to_string(size));
  }
  return out;
}

}  // namespace clipperplus::inline v0
