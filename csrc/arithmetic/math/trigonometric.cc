// Sine, cosine and tangent of large angles.
#include "arithmetic/math/trigonometric.h"

namespace stillflow {
namespace {

// The bits of 2 / pi, after 64 zeros.
constexpr uint64_t kTwoOverPiBits[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

// 64 bits from the given position on.
uint64_t BitsAt(int position) {
  const int word = position / 64;
  const int shift = position % 64;
  return shift == 0 ? kTwoOverPiBits[word] : kTwoOverPiBits[word] << shift | kTwoOverPiBits[word + 1] >> (64 - shift);
}

bool IsFinite(double x) { return Abs(x) < kInfinity<double>; }

}  // namespace

// x = m 2^e. Of 2 / pi, digits whose product with x is a multiple of 4 do not count; of the others, 192 are enough,
// since no double is nearer than 2^-61 to a multiple of pi / 2.
ReducedAngle<double> ReduceLargeAngle(double x) {
  const auto bits = BitCast<uint64_t>(Abs(x));
  const uint64_t mantissa = (bits & 0x000FFFFFFFFFFFFF) | 0x0010000000000000;
  const int exponent = static_cast<int>(bits >> 52) - 1075;
  const int position = exponent + 62;  // of the digit whose product weighs 2 times the mantissa
  using Wide128 = unsigned __int128;
  const Wide128 low = static_cast<Wide128>(mantissa) * BitsAt(position + 128);
  const Wide128 middle = static_cast<Wide128>(mantissa) * BitsAt(position + 64) + static_cast<uint64_t>(low >> 64);
  const uint64_t high = mantissa * BitsAt(position) + static_cast<uint64_t>(middle >> 64);
  // The product modulo 4, with 190 bits after the point: quarter turns, then a fraction of one.
  int64_t quadrant = static_cast<int64_t>(high >> 62);
  const auto middle_word = static_cast<uint64_t>(middle);
  const auto low_word = static_cast<uint64_t>(low);
  Wide128 fraction = static_cast<Wide128>(high << 2 | middle_word >> 62) << 64 | (middle_word << 2 | low_word >> 62);
  const bool is_above_half = fraction >> 127 != 0;
  if (is_above_half) {
    ++quadrant;
    fraction = -fraction;
  }
  const auto leading = static_cast<double>(fraction);
  const auto trailing = static_cast<double>(static_cast<__int128>(fraction - static_cast<Wide128>(leading)));
  const double turn = leading * 0x1p-128;
  const double turn_low = trailing * 0x1p-128;
  const double r = turn * kHalfPi;
  const double r_low = Fma(turn, kHalfPi, -r) + (turn * kHalfPiRest + turn_low * kHalfPi);
  const double sign = is_above_half != (x < 0) ? -1.0 : 1.0;
  return {x < 0 ? -quadrant : quadrant, sign * r, sign * r_low};
}

float SinLarge(float x) { return static_cast<float>(SinLarge(static_cast<double>(x))); }
float CosLarge(float x) { return static_cast<float>(CosLarge(static_cast<double>(x))); }
float TanLarge(float x) { return static_cast<float>(TanLarge(static_cast<double>(x))); }
double SinLarge(double x) { return IsFinite(x) ? SinOfAngle(ReduceLargeAngle(x)) : x - x; }
double CosLarge(double x) { return IsFinite(x) ? CosOfAngle(ReduceLargeAngle(x)) : x - x; }
double TanLarge(double x) { return IsFinite(x) ? TanOfAngle(ReduceLargeAngle(x)) : x - x; }

}  // namespace stillflow
