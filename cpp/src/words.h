// Words that Python and C++ users read alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace clipperplus::inline v0 {

// A number with as few digits as tell it from all others, as Python writes it. (Not std::to_chars, which comes with
// newer versions of macOS only.)
inline std::string number_text(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value < 0.0 ? "-inf" : "inf";
  std::string text;
  for (int places = 0; places < 17; ++places) {
    std::stringstream stream;
    stream.imbue(std::locale::classic());
    stream << std::scientific << std::setprecision(places) << value;
    text = stream.str();
    double again = 0.0;
    stream >> again;  // numbers too small for all digits are read as well, but count as failures to some libraries
    if (again == value) break;
  }
  const std::size_t end = text.find('e');
  const int exponent = std::stoi(text.substr(end + 1));
  if (exponent < -4 || exponent >= 16) return text;
  const std::string sign = value < 0.0 || std::signbit(value) ? "-" : "";
  std::string digits;
  for (const char c : text.substr(0, end)) {
    if (c >= '0' && c <= '9') digits += c;
  }
  if (exponent < 0) return sign + std::string("0.").append(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole + 1) digits.append(whole + 1 - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// A number with so many places after the point.
inline std::string fixed_text(double value, int places) {
  std::ostringstream stream;
  stream.imbue(std::locale::classic());
  stream << std::fixed << std::setprecision(places) << value;
  return stream.str();
}

// The number that a word is, in decimal digits with or without an exponent; NaN if it is none, or too large. (Not
// std::from_chars, for the same reason.)
inline double number_of(std::string_view word) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (word.find_first_not_of("0123456789.eE+-") != word.npos || word.starts_with('+')) return kNone;
  std::istringstream stream{std::string(word)};
  stream.imbue(std::locale::classic());
  double value = 0.0;
  stream >> value;
  const bool read = !stream.fail() || (value != 0.0 && std::abs(value) < 1.0);  // the smallest, as above
  return read && stream.peek() == std::istringstream::traits_type::eof() ? value : kNone;
}

// The end of a range, which is a round number.
inline std::string limit_text(double value) {
  const std::string text = number_text(value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
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

}  // namespace clipperplus::inline v0
