// float_functions.h: log1p and expm1 of floats with the bits of glibc before 2.41, for expected counts.
//
// The algorithms are fdlibm's for single precision; each operation is rounded to float.
//
//   Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved. Developed at SunPro, a Sun Microsystems, Inc.
//   business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this
//   notice is preserved.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

constexpr float kLn2High = 0x1.62e3p-1f;
constexpr float kLn2Low = 0x1.2fefa2p-17f;

// log(1 + x) for -1 <= x < 1.
inline float Log1pFloat(float x) {
  const auto hx = BitCast<int32_t>(x);
  const int32_t ax = hx & 0x7FFFFFFF;
  if (x == -1.0f) return -__builtin_inff();
  if (ax < 0x24800000) return x;
  if (ax < 0x31000000) return x - x * x * 0.5f;
  int32_t k = 0;
  int32_t hu = 1;
  float f = x;
  float c = 0;
  const bool is_small = hx < 0x3ED413D7 && (hx > 0 || hx <= static_cast<int32_t>(0xBE95F61F));
  if (!is_small) {
    float u = 1.0f + x;
    hu = BitCast<int32_t>(u);
    k = (hu >> 23) - 127;
    c = (k > 0 ? 1.0f - (u - x) : x - (u - 1.0f)) / u;  // what rounding 1 + x has lost
    hu &= 0x7FFFFF;
    if (hu < 0x3504F7) {
      u = BitCast<float>(hu | 0x3F800000);
    } else {
      ++k;
      u = BitCast<float>(hu | 0x3F000000);
      hu = (0x800000 - hu) >> 2;
    }
    f = u - 1.0f;
  }
  const auto exponent = static_cast<float>(k);
  const float h = 0.5f * f * f;
  if (hu == 0) {  // f is tiny
    if (f == 0) return k == 0 ? 0.0f : exponent * kLn2High + (c + exponent * kLn2Low);
    const float r = h * (1.0f - 0.6666667f * f);
    return k == 0 ? f - r : exponent * kLn2High - ((r - (exponent * kLn2Low + c)) - f);
  }
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float r =
      z * (0x1.555556p-1f +
           z * (0x1.99999ap-2f +
                z * (0x1.24924ap-2f +
                     z * (0x1.c71c52p-3f + z * (0x1.74664ap-3f + z * (0x1.39a09ep-3f + z * 0x1.2f112ep-3f))))));
  if (k == 0) return f - (h - s * (h + r));
  return exponent * kLn2High - ((h - (s * (h + r) + (exponent * kLn2Low + c))) - f);
}

// exp(x) - 1 for x <= 0.
inline float Expm1Float(float x) {
  const auto magnitude = BitCast<uint32_t>(x) & 0x7FFFFFFFu;
  if (magnitude >= 0x4195B844u) return x != x ? x : -1.0f;
  if (magnitude < 0x33000000u) return x;
  int32_t k = 0;
  float c = 0;
  if (magnitude > 0x3EB17218u) {
    float high;
    float low;
    if (magnitude < 0x3F851592u) {
      k = -1;
      high = x + kLn2High;
      low = -kLn2Low;
    } else {
      k = static_cast<int32_t>(0x1.715476p+0f * x - 0.5f);
      high = x - static_cast<float>(k) * kLn2High;
      low = static_cast<float>(k) * kLn2Low;
    }
    x = high - low;
    c = (high - x) - low;
  }
  const float a = 0.5f * x;
  const float s = x * a;
  const float r =
      1.0f + s * (-0x1.111112p-5f +
                  s * (0x1.a01a02p-10f + s * (-0x1.4ce19ap-14f + s * (0x1.0cfca8p-18f + s * -0x1.afdb76p-23f))));
  const float t = 3.0f - r * a;
  float e = s * ((r - t) / (6.0f - x * t));
  if (k == 0) return x - (x * e - s);
  e = (x * (e - c) - c) - s;
  if (k == -1) return 0.5f * (x - e) - 0.5f;
  const float y = 1.0f - (e - x);
  return BitCast<float>(BitCast<int32_t>(y) + k * (1 << 23)) - 1.0f;
}

}  // namespace stillflow
