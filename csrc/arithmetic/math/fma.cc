// The fused multiply-add of doubles where the instruction set has none: exact, and rounded once.
#include "arithmetic/math/polynomial.h"

#if !defined(__FMA__) && !defined(__aarch64__)

namespace stillflow {
namespace {

using Unsigned128 = unsigned __int128;

int ExponentOf(double x) { return static_cast<int>(BitCast<uint64_t>(x) >> 52 & 0x7FF) - 1023; }

// a b = product + the result, exactly, unless a part overflows or underflows.
double ProductError(double a, double b, double product) {
  constexpr double kSplit = 0x1p27 + 1;
  const double a_shifted = a * kSplit;
  const double a_high = a_shifted - (a_shifted - a);
  const double a_low = a - a_high;
  const double b_shifted = b * kSplit;
  const double b_high = b_shifted - (b_shifted - b);
  const double b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// a + b, rounded to the neighbour with an odd last bit unless it is exact.
double SumToOdd(double a, double b) {
  const double sum = a + b;
  const double error = SumError(a, b, sum);
  const auto bits = BitCast<int64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return BitCast<double>(bits + ((error > 0) == (sum > 0) ? 1 : -1));
}

// A nonzero number as mantissa * 2^exponent, where the mantissa has 53 bits.
struct Parts {
  uint64_t mantissa;
  int exponent;
};

Parts PartsOf(double x) {
  const uint64_t bits = BitCast<uint64_t>(x) & 0x7FFFFFFFFFFFFFFF;
  const uint64_t fraction = bits & 0x000FFFFFFFFFFFFF;
  if (bits >> 52 != 0) return {fraction | 0x0010000000000000, static_cast<int>(bits >> 52) - 1075};
  const int shift = __builtin_clzll(fraction) - 11;
  return {fraction << shift, -1074 - shift};
}

// Shifts right; what is cut off leaves a mark in the last bit.
Unsigned128 ShiftWithMark(Unsigned128 x, int64_t shift) {
  if (shift <= 0) return x;
  if (shift > 127) return x != 0;
  return x >> shift | ((x & ((Unsigned128{1} << shift) - 1)) != 0);
}

bool IsNegative(double x) { return BitCast<int64_t>(x) < 0; }

// Exponents may be anything; a and b are not zero, and none is infinite or NaN.
double ExactFma(double a, double b, double c) {
  const Parts a_parts = PartsOf(a);
  const Parts b_parts = PartsOf(b);
  const bool is_negative_product = IsNegative(a) != IsNegative(b);
  // Both below 2^126, with zeros at the end, so that a mark is far from what is kept.
  Unsigned128 product = static_cast<Unsigned128>(a_parts.mantissa) * b_parts.mantissa << 20;
  int64_t exponent = a_parts.exponent + b_parts.exponent - 20;
  Unsigned128 addend = 0;
  if (c != 0) {
    const Parts c_parts = PartsOf(c);
    addend = static_cast<Unsigned128>(c_parts.mantissa) << 73;
    const int64_t addend_exponent = c_parts.exponent - 73;
    const int64_t larger = exponent > addend_exponent ? exponent : addend_exponent;
    product = ShiftWithMark(product, larger - exponent);
    addend = ShiftWithMark(addend, larger - addend_exponent);
    exponent = larger;
  }
  auto sum = static_cast<__int128>(is_negative_product ? -product : product);
  sum += static_cast<__int128>(IsNegative(c) ? -addend : addend);
  if (sum == 0) return 0.0;
  const bool is_negative = sum < 0;
  Unsigned128 magnitude = is_negative ? -static_cast<Unsigned128>(sum) : static_cast<Unsigned128>(sum);
  const auto high = static_cast<uint64_t>(magnitude >> 64);
  const int width = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll(static_cast<uint64_t>(magnitude));
  // Rounds to the bits that the result has: fewer if it is denormal, unless those are flushed to zero anyway.
  volatile double smallest = 0x1p-1022;
  const bool flushes = smallest * 0.5 == 0;
  const int64_t fewest = exponent + width - 1 < -1022 && !flushes ? exponent + width + 1074 : 53;
  const int64_t kept_bits = fewest < 0 ? 0 : fewest;
  const int64_t dropped = width - kept_bits;
  uint64_t kept;
  if (dropped <= 0) {
    kept = static_cast<uint64_t>(magnitude);
  } else {
    const Unsigned128 half = Unsigned128{1} << (dropped - 1);
    const Unsigned128 rest = dropped == 128 ? magnitude : magnitude & (half * 2 - 1);
    kept = dropped == 128 ? 0 : static_cast<uint64_t>(magnitude >> dropped);
    kept += rest > half || (rest == half && (kept & 1) != 0);
    if (fewest < 0) kept = 0;
    exponent += dropped;
  }
  // Both products are exact, or flush, or overflow.
  double result = static_cast<double>(kept);
  const auto power = [](int64_t n) { return PowerOfTwo<double>(n); };
  while (exponent > 900) {
    result *= power(900);
    exponent -= 900;
  }
  while (exponent < -900) {
    result *= power(-100);
    exponent += 100;
  }
  result *= power(exponent);
  return is_negative ? -result : result;
}

}  // namespace

double Fma(double a, double b, double c) {
  const bool is_finite = Abs(a) < kInfinity<double> && Abs(b) < kInfinity<double>;
  if (is_finite && Abs(c) == kInfinity<double>) return c;
  if (!is_finite || c != c || a == 0 || b == 0) return a * b + c;
  const int product_exponent = ExponentOf(a) + ExponentOf(b);
  const auto is_moderate = [](double x) { return ExponentOf(x) > -900 && ExponentOf(x) < 900; };
  if (!is_moderate(a) || !is_moderate(b) || product_exponent < -800 || product_exponent > 900)
    return ExactFma(a, b, c);
  const double product = a * b;
  if (c == 0) return product;
  if (!is_moderate(c)) return ExactFma(a, b, c);
  // Boldo and Melquiond: the low parts are added to odd, so that the last sum alone rounds.
  const double error = ProductError(a, b, product);
  const double low_sum = c + error;
  const double low_error = SumError(c, error, low_sum);
  const double high_sum = product + low_sum;
  const double high_error = SumError(product, low_sum, high_sum);
  return high_sum + SumToOdd(high_error, low_error);
}

}  // namespace stillflow

#endif
