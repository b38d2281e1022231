// inverse_trigonometric.h: the angles whose sine, cosine or tangent is given.
//
// Errors: double within 1 ulp, float within 1.5 ulp.
#pragma once

#include "math/approximations.h"

namespace stillflow {

constexpr double kRightAngle = 0x1.921fb54442d18p+0;
constexpr double kRightAngleRest = 0x1.1a62633145c07p-54;

// asin(t + t_low) = t + low, for |t| <= 1/2, or for t = sqrt((1 - |x|) / 2), from which asin and acos of |x| > 1/2
// follow.
struct HalfAngle {
  double t;
  double low;
};

STILLFLOW_INLINE HalfAngle HalfAngleOf(double x, double magnitude) {
  const bool is_small = magnitude <= 0.5;
  const double square = is_small ? x * x : 0.5 - 0.5 * magnitude;
  const double root = Sqrt(square);
  const double root_low = root > 0 ? Fma(-root, root, square) / (2 * root) : 0.0;
  const double t = is_small ? x : root;
  return {t, Fma(t * square, AsinTail(square), is_small ? 0.0 : root_low)};
}

STILLFLOW_INLINE double Asin(double x) {
  const double magnitude = Abs(x);
  const HalfAngle half = HalfAngleOf(x, magnitude);
  // pi / 2 - 2 (t + low); the difference of the large parts is exact up to `rest`.
  const double high = kRightAngle - 2 * half.t;
  const double rest = (kRightAngle - high) - 2 * half.t;
  const double large = CopySign(high + (rest + (kRightAngleRest - 2 * half.low)), x);
  const double result = magnitude <= 0.5 ? half.t + half.low : large;
  const double inside = magnitude > 1 ? kNan<double> : result;
  return (magnitude < 0x1p-27) | (x != x) ? x : inside;
}

STILLFLOW_INLINE double Acos(double x) {
  const double magnitude = Abs(x);
  const HalfAngle half = HalfAngleOf(x, magnitude);
  // 2 (t + low); pi - 2 (t + low); pi / 2 - (t + low).
  const bool is_small = magnitude <= 0.5;
  const double factor = is_small ? 1.0 : 2.0;
  const double base = is_small ? kRightAngle : 2 * kRightAngle;
  const double base_rest = is_small ? kRightAngleRest : 2 * kRightAngleRest;
  const double t = factor * half.t;
  const double high = base - t;
  const double rest = (base - high) - t;
  const double below = high + (rest + (base_rest - factor * half.low));
  const double result = x > 0.5 ? 2 * (half.t + half.low) : below;
  const double inside = magnitude > 1 ? kNan<double> : result;
  return x != x ? kNan<double> : inside;
}

// The angle of the point (x, y), x >= 0 and y >= 0 and not both 0, or, if `side` is -1, pi minus it. It lies within
// an eighth of pi of 0, pi / 4 or pi / 2; the tangent of what is left is a quotient.
STILLFLOW_INLINE double AngleOf(double y, double x, double side) {
  const double larger = y > x ? y : x;
  const double scale = larger < 0x1p-700 ? 0x1p200 : (larger > 0x1p1000 ? 0x1p-4 : 1.0);
  y *= scale;
  x *= scale;
  constexpr double kEighth = 0x1.a827999fcef32p-2;  // tan(pi / 8)
  const bool is_low = y <= kEighth * x;
  const bool is_high = x < kEighth * y;
  const double over = is_low ? y : (is_high ? -x : y - x);
  const double under = is_low ? x : (is_high ? y : y + x);
  const double over_low = is_low | is_high ? 0.0 : SumError(y, -x, over);
  const double under_low = is_low | is_high ? 0.0 : SumError(y, x, under);
  const double t = over / under;
  const double t_low = (Fma(-t, under, over) + (over_low - t * under_low)) / under;
  const double z = t * t;
  const double low = Fma(t * z, AtanTail(z), t_low);
  // All multiples of pi / 4 but 3 pi / 4 have the same digits.
  const double quarters = is_low ? 0.0 : (is_high ? 1.0 : 0.5);
  const double turned = side < 0 ? 2 - quarters : quarters;
  const double base = turned == 1.5 ? 0x1.2d97c7f3321d2p+1 : turned * kRightAngle;
  const double base_low = turned == 1.5 ? 0x1.a79394c9e8a0ap-54 : turned * kRightAngleRest;
  const double signed_t = side * t;
  const double high = base + signed_t;
  const double rest = (base - high) + signed_t;
  // Without a base, `rest` may be the difference of zeros.
  return turned == 0 ? t + low : high + (rest + (base_low + side * low));
}

// The angle of |x|, or that of -1 / |x| and a right angle.
STILLFLOW_INLINE double Atan(double x) {
  const double a = SmallerMagnitude(Abs(x), 0x1p100);
  const bool is_large = a > 1;
  const double inverse = -1 / a;
  const double t = is_large ? inverse : a;
  const double t_low = is_large ? Fma(inverse, a, 1.0) * inverse : 0.0;
  const double base = is_large ? kRightAngle : 0.0;
  const double base_low = is_large ? kRightAngleRest : 0.0;
  const double z = t * t;
  // 1 / (1 + z) would be what t_low counts with.
  const double low = Fma(t * z, AtanTailToOne(z), Fma(t_low, Fma(-0.5, z, 1.0), base_low));
  const double high = base + t;
  const double result = CopySign(high + (((base - high) + t) + low), x);
  return x != x ? x : result;
}

STILLFLOW_INLINE double Atan2(double y, double x) {
  const double y_size = Abs(y);
  const double x_size = Abs(x);
  const bool is_y_infinite = y_size == kInfinity<double>;
  const bool is_x_infinite = x_size == kInfinity<double>;
  const double y_leg = is_y_infinite ? 1.0 : (is_x_infinite ? 0.0 : y_size);
  const double x_leg = is_x_infinite ? 1.0 : (is_y_infinite ? 0.0 : x_size);
  const bool is_origin = y_leg + x_leg == 0;
  const double result = CopySign(AngleOf(y_leg, is_origin ? 1.0 : x_leg, CopySign(1.0, x)), y);
  return (x != x) | (y != y) ? kNan<double> : result;
}

constexpr auto kRightAngleOfFloat = static_cast<float>(kRightAngle);
constexpr auto kRightAngleRestOfFloat = static_cast<float>(kRightAngle - kRightAngleOfFloat);

// asin(t) = t + low for t = |x| <= 1/2, or for t = sqrt((1 - |x|) / 2).
STILLFLOW_INLINE float Asin(float x) {
  const float a = Abs(x);
  const bool is_small = a <= 0.5f;
  const float square = is_small ? a * a : Fma(-0.5f, a, 0.5f);
  const float t = is_small ? a : Sqrt(square);
  const float low = t * square * AsinTail(square);
  const float high = Fma(-2.0f, t, kRightAngleOfFloat);
  const float rest = Fma(-2.0f, t, kRightAngleOfFloat - high) + kRightAngleRestOfFloat;
  const float large = high + Fma(-2.0f, low, rest);
  const float result = CopySign(is_small ? t + low : large, x);
  return x != x ? x : result;
}

STILLFLOW_INLINE float Acos(float x) {
  const float a = Abs(x);
  const bool is_small = a <= 0.5f;
  const float square = is_small ? a * a : Fma(-0.5f, a, 0.5f);
  const float t = CopySign(is_small ? a : Sqrt(square), x);
  const float low = t * square * AsinTail(square);
  // pi / 2 - (t + low); 2 (t + low), and pi beside it for x < 0.
  const float factor = is_small ? -1.0f : 2.0f;
  const float base = is_small ? kRightAngleOfFloat : (x < 0 ? 2 * kRightAngleOfFloat : 0.0f);
  const float base_rest = is_small ? kRightAngleRestOfFloat : (x < 0 ? 2 * kRightAngleRestOfFloat : 0.0f);
  const float high = Fma(factor, t, base);
  const float result = high + Fma(factor, low, Fma(factor, t, base - high) + base_rest);
  return x != x ? kNan<float> : result;
}

// The angle of |x|, or that of -1 / |x| and a right angle.
STILLFLOW_INLINE float Atan(float x) {
  const float a = Abs(x);
  const bool is_large = a > 1;
  const float t = is_large ? -1 / a : a;
  const float z = t * t;
  const float tail = Fma(t * z, AtanTail(z), is_large ? kRightAngleRestOfFloat : 0.0f);
  return CopySign((is_large ? kRightAngleOfFloat : 0.0f) + (t + tail), x);
}

// The angle of the smaller leg over the larger, which is turned to where the point is.
STILLFLOW_INLINE float Atan2(float y, float x) {
  const float y_leg = Abs(y);
  const float x_leg = Abs(x);
  const bool is_high = y_leg > x_leg;
  const bool is_left = BitCast<int32_t>(x) < 0;
  const float larger = is_high ? y_leg : x_leg;
  const float smaller = is_high ? x_leg : y_leg;
  // The power of two that brings the larger leg into [2, 4); of a leg that is 0 or infinite it makes NaN.
  constexpr uint32_t kExponentBits = 0xFFu << FloatFormat<float>::kMantissaBits;
  const float scale = BitCast<float>(kExponentBits - (BitCast<uint32_t>(larger) & kExponentBits));
  const float scaled = larger * scale;
  const float at_end = smaller == kInfinity<float> ? 1.0f : 0.0f;
  const float over = scaled != scaled ? at_end : smaller * scale;
  const float under = scaled != scaled ? 1.0f : scaled;
  const float signed_over = is_high != is_left ? -over : over;
  const float inverse = 1 / under;
  const float t = signed_over * inverse;
  const float t_low = Fma(-t, under, signed_over) * inverse;
  const float right_angles = is_high ? 1.0f : (is_left ? 2.0f : 0.0f);
  const float z = t * t;
  // The derivative, 1 / (1 + z), is about 1 - z / 2.
  const float low = Fma(right_angles, kRightAngleRestOfFloat, t_low);
  const float tail = Fma(z, Fma(t, AtanTail(z), -0.5f * t_low), low);
  const float result = CopySign(Fma(right_angles, kRightAngleOfFloat, t + tail), y);
  return (x != x) | (y != y) ? kNan<float> : result;
}

}  // namespace stillflow
