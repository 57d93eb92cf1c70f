// Words that Python and C++ users read alike.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace clipperplus {

// A number with as few digits as tell it from all others, as Python writes it.
inline std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0.0 ? "-inf" : "inf";
  std::array<char, 400> buffer;
  const auto written = [&](std::chars_format format) {
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format).ptr;
    return std::string(buffer.data(), end);
  };
  std::string text = written(std::chars_format::scientific);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return text;
  text = written(std::chars_format::fixed);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

// The end of a range, which is a round number.
inline std::string limit_text(double value) {
  std::array<char, 32> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%g", value);
  return buffer.data();
}

template <class... Parts>
std::string words_of(const Parts&... parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // whatever the program has set
  const auto add = [&](const auto& part) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(part)>>) {
      text << number_text(part);
    } else {
      text << part;
    }
  };
  (add(parts), ...);
  return text.str();
}

// For what a caller passed: names the argument, what was expected and what came.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  throw std::invalid_argument(words_of(parts...));
}

inline std::string shape_text(std::size_t rows, std::size_t columns) { return words_of("(", rows, ", ", columns, ")"); }

}  // namespace clipperplus
