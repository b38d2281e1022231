// inverse_trigonometric.h: asin, acos, atan and atan2.
//
// Errors: within 1.5 ulp; Acos of double within 1 ulp, Asin of double within 1.25 ulp.
#pragma once

#include "arithmetic/math/approximations.h"

namespace stillflow {

template <typename T>
constexpr T kRightAngle = static_cast<T>(0x1.921fb54442d18p+0);
template <typename T>
constexpr T kRightAngleRest =
    sizeof(T) == 4 ? static_cast<T>(kRightAngle<double> - kRightAngle<float>) : static_cast<T>(0x1.1a62633145c07p-54);

// asin(t + t_low) = t + low for t = |x| <= 1/2, or for t + t_low = sqrt((1 - |x|) / 2). Past 1, t is NaN.
STILLFLOW_INLINE double Asin(double x) {
  const double a = Abs(x);
  const bool is_small = a <= 0.5;
  const double square = is_small ? a * a : Fma(-0.5, a, 0.5);
  const double root = Sqrt(square);
  const double t = is_small ? a : root;
  // Half of what is missing from pi / 2 - 2 t belongs to t, too.
  const double t_low = Fma(Fma(-root, root, square), 0.5 * RoughInverse(root), -0.5 * kRightAngleRest<double>);
  const double angle = t + Fma(t * square, AsinTail(square), is_small ? 0.0 : t_low);
  return CopySign(is_small ? angle : Fma(-2.0, angle, kRightAngle<double>), x);
}

// With that, pi / 2 - (t + low); 2 (t + low); pi - 2 (t + low).
STILLFLOW_INLINE double Acos(double x) {
  const double a = Abs(x);
  const bool is_small = a <= 0.5;
  const double square = is_small ? a * a : Fma(-0.5, a, 0.5);
  const double root = Sqrt(square);
  const double t = is_small ? x : root;
  const double factor = is_small ? -1.0 : CopySign(2.0, x);
  const double base = is_small ? kRightAngle<double> : kRightAngle<double> - CopySign(kRightAngle<double>, x);
  const double base_rest = CopySign(0.5 * kRightAngleRest<double>, x) - 0.5 * kRightAngleRest<double>;
  const double t_low = Fma(Fma(-root, root, square), 0.5 * RoughInverse(root), base_rest);
  const double angle = t + Fma(t * square, AsinTail(square), is_small ? -kRightAngleRest<double> : t_low);
  return Fma(factor, angle, base);
}

// asin(t) = t + low for t = |x| <= 1/2, or for t = sqrt((1 - |x|) / 2).
STILLFLOW_INLINE float Asin(float x) {
  const float a = Abs(x);
  const bool is_small = a <= 0.5f;
  const float square = is_small ? a * a : Fma(-0.5f, a, 0.5f);
  const float t = is_small ? a : Sqrt(square);
  const float low = t * square * AsinTail(square);
  const float high = Fma(-2.0f, t, kRightAngle<float>);
  const float rest = Fma(-2.0f, t, kRightAngle<float> - high) + kRightAngleRest<float>;
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
  const float base = is_small ? kRightAngle<float> : (x < 0 ? 2 * kRightAngle<float> : 0.0f);
  const float base_rest = is_small ? kRightAngleRest<float> : (x < 0 ? 2 * kRightAngleRest<float> : 0.0f);
  const float high = Fma(factor, t, base);
  const float result = high + Fma(factor, low, Fma(factor, t, base - high) + base_rest);
  return x != x ? kNan<float> : result;
}

// The angle of |x|, or that of -1 / |x| and a right angle.
template <typename T>
STILLFLOW_INLINE T Atan(T x) {
  const T a = Abs(x);
  const bool is_large = a > 1;
  const T t = is_large ? -1 / a : a;
  const T z = t * t;
  const T tail = Fma(t * z, AtanTail(z), is_large ? kRightAngleRest<T> : T{0});
  return CopySign((is_large ? kRightAngle<T> : T{0}) + (t + tail), x);
}

// The angle of the smaller leg over the larger, which is turned to where the point is.
template <typename T>
STILLFLOW_INLINE T Atan2(T y, T x) {
  const T y_leg = Abs(y);
  const T x_leg = Abs(x);
  const bool is_high = y_leg > x_leg;
  const bool is_left = BitCast<IntOf<T>>(x) < 0;
  const T larger = is_high ? y_leg : x_leg;
  const T smaller = is_high ? x_leg : y_leg;
  // The power of two that brings the larger leg into [2, 4); of a leg that is 0 or infinite it makes NaN.
  constexpr BitsOf<T> kExponentBits =
      (BitsOf<T>{1} << FloatFormat<T>::kMantissaBits) * (2 * FloatFormat<T>::kBias + 1);
  const T scale = BitCast<T>(kExponentBits - (BitCast<BitsOf<T>>(larger) & kExponentBits));
  const T scaled = larger * scale;
  const T at_end = smaller == kInfinity<T> ? T{1} : T{0};
  const T over = scaled != scaled ? at_end : smaller * scale;
  const T under = scaled != scaled ? T{1} : scaled;
  const T signed_over = is_high != is_left ? -over : over;
  const T inverse = 1 / under;
  const T t = signed_over * inverse;
  const T t_low = Fma(-t, under, signed_over) * inverse;
  const T right_angles = is_high ? T{1} : (is_left ? T{2} : T{0});
  const T z = t * t;
  // The derivative, 1 / (1 + z), is about 1 - z / 2.
  const T low = Fma(right_angles, kRightAngleRest<T>, t_low);
  const T tail = Fma(z, Fma(t, AtanTail(z), T{-0.5f} * t_low), low);
  const T result = CopySign(Fma(right_angles, kRightAngle<T>, t + tail), y);
  return (x != x) | (y != y) ? kNan<T> : result;
}

}  // namespace stillflow
