#include "io/number_text.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

namespace stillflow::io {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Bytes Trimmed(Bytes text) {
  while (text.size > 0 && IsSpace(text.data[0])) text = {text.data + 1, text.size - 1};
  while (text.size > 0 && IsSpace(text.data[text.size - 1])) --text.size;
  return text;
}

template <typename T>
bool ParseInteger(Bytes text, T* value) {
  text = Trimmed(text);
  const char* next = text.data;
  const char* const end = text.data + text.size;
  const bool is_negative = next < end && *next == '-';
  if (is_negative) ++next;
  if (next == end) return false;
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<T>::max()) + (is_negative ? 1 : 0);
  uint64_t magnitude = 0;
  for (; next < end; ++next) {
    if (!IsDigit(*next)) return false;
    const auto digit = static_cast<uint64_t>(*next - '0');
    if (magnitude > (most - digit) / 10) return false;
    magnitude = magnitude * 10 + digit;
  }
  *value = static_cast<T>(is_negative ? 0 - magnitude : magnitude);
  return true;
}

// ---- Floats -------------------------------------------------------------------------------------------------------

// Digits, point and exponent: mantissa * 10^exponent.
struct Decimal {
  bool is_negative = false;
  uint64_t mantissa = 0;
  int exponent = 0;
  bool is_exact = true;  // all digits are in the mantissa
};

// False if the text is not of the plain form; it may still be a number.
bool ReadDecimal(Bytes text, Decimal* decimal) {
  const char* next = text.data;
  const char* const end = text.data + text.size;
  decimal->is_negative = *next == '-';
  if (*next == '-' || *next == '+') ++next;
  int digits = 0, significant = 0;
  bool has_point = false;
  for (; next < end; ++next) {
    if (*next == '.' && !has_point) {
      has_point = true;
      continue;
    }
    if (!IsDigit(*next)) break;
    ++digits;
    if (significant == 18) {
      decimal->is_exact &= *next == '0';
      decimal->exponent += has_point ? 0 : 1;
      continue;
    }
    decimal->mantissa = decimal->mantissa * 10 + static_cast<uint64_t>(*next - '0');
    if (decimal->mantissa != 0) ++significant;
    decimal->exponent -= has_point ? 1 : 0;
  }
  if (digits == 0) return false;
  if (next == end) return true;
  if (*next != 'e' && *next != 'E') return false;
  ++next;
  const bool is_down = next < end && *next == '-';
  if (next < end && (*next == '-' || *next == '+')) ++next;
  if (next == end || end - next > 5) return false;
  int exponent = 0;
  for (; next < end; ++next) {
    if (!IsDigit(*next)) return false;
    exponent = exponent * 10 + (*next - '0');
  }
  decimal->exponent += is_down ? -exponent : exponent;
  return true;
}

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// One operation on two doubles that are exact is rounded once. False where they are not exact.
bool FastValue(const Decimal& decimal, double* value) {
  if (!decimal.is_exact || decimal.mantissa > uint64_t{1} << 53) return false;
  if (decimal.exponent < -22 || decimal.exponent > 22) return false;
  const auto mantissa = static_cast<double>(decimal.mantissa);
  const double magnitude =
      decimal.exponent < 0 ? mantissa / kPowers[-decimal.exponent] : mantissa * kPowers[decimal.exponent];
  *value = decimal.is_negative ? -magnitude : magnitude;
  return true;
}

// Whether rounding a double, itself rounded, to a float could go wrong: it lies half way between two of them, or
// among the smallest.
bool IsDoubtful(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits & 0x1FFFFFFF) == 0x10000000 || (value != 0 && std::abs(value) < FLT_MIN);
}

bool IsHexDigit(char c) { return IsDigit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f'); }

// Whether strtod may see the text: a decimal number, a hexadecimal integer without a sign, "inf" or "nan".
bool IsNumber(const std::string& text) {
  const size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
  if (text.size() > 2 && text[0] == '0' && (text[1] | 32) == 'x') {
    return std::all_of(text.begin() + 2, text.end(), IsHexDigit);
  }
  if (text.size() == sign + 3 && !IsDigit(text[sign]) && text[sign] != '.') {
    std::string word = text.substr(sign);
    for (char& c : word) c = static_cast<char>(c | 32);
    return word == "inf" || word == "nan";
  }
  return std::all_of(text.begin() + sign, text.end(),
                     [](char c) { return IsDigit(c) || c == '.' || c == '-' || c == '+' || (c | 32) == 'e'; });
}

template <typename T>
bool SlowValue(Bytes text, T* value) {
  const std::string copy(text.data, text.size);
  if (!IsNumber(copy)) return false;
  char* end = nullptr;
  const T parsed = sizeof(T) == 4 ? std::strtof(copy.c_str(), &end) : static_cast<T>(std::strtod(copy.c_str(), &end));
  if (end != copy.c_str() + copy.size()) return false;
  *value = parsed;
  return true;
}

template <typename T>
bool ParseFloat(Bytes text, T* value) {
  if (text.size == 0) return false;
  text = Trimmed(text);
  if (text.size == 0) {
    *value = 0;
    return true;
  }
  Decimal decimal;
  double fast;
  if (ReadDecimal(text, &decimal) && FastValue(decimal, &fast) && (sizeof(T) == 8 || !IsDoubtful(fast))) {
    *value = static_cast<T>(fast);
    return true;
  }
  return SlowValue(text, value);
}

}  // namespace

bool ParseNumber(Bytes text, int32_t* value) { return ParseInteger(text, value); }
bool ParseNumber(Bytes text, int64_t* value) { return ParseInteger(text, value); }
bool ParseNumber(Bytes text, float* value) { return ParseFloat(text, value); }
bool ParseNumber(Bytes text, double* value) { return ParseFloat(text, value); }

}  // namespace stillflow::io
