// LZF, the compression that PCD files use.
//
// A byte below 32 announces that many bytes and one more, to be copied. Any other is the start of a repetition: its
// upper three bits are the length minus 2 (7: the next byte is added), the lower five and the next byte tell how far to
// go back, minus 1. O(bytes that come out).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace clipperplus::inline v0 {

// No byte stands for more: three of them repeat up to 264 bytes.
inline constexpr std::size_t kHighestLzfRatio = 88;

// Bytes are not the compressed form of as many bytes as they should be.
struct LzfError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The `size` bytes that were packed; at most kHighestLzfRatio times as many as there are.
std::string decompress_lzf(std::string_view packed, std::size_t size);

}  // namespace clipperplus::inline v0
