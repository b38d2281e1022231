// approximations.h: the polynomials that elementary functions are made of, written by tools/fit_approximations.py.
//
// Errors are absolute, of the polynomial itself; what rounding adds is told where they are used.
#pragma once

#include "arithmetic/math/polynomial.h"

namespace stillflow {

// (e^r - 1 - r) / r^2 for -0.3466 <= r <= 0.3466, to 2^-58.4.
STILLFLOW_INLINE double ExpTail(double r) {
  return Polynomial(r, 0x1p-1, 0x1.5555555555557p-3, 0x1.5555555555556p-5, 0x1.11111111100dcp-7,
                    0x1.6c16c16c162d4p-10, 0x1.a01a01abe7fe1p-13, 0x1.a01a01a6d889cp-16, 0x1.71de0231960ebp-19,
                    0x1.27e4db646b17ep-22, 0x1.af4de97ca4194p-26, 0x1.1f730349868cep-29);
}

// (e^r - 1 - r) / r^2 for -0.3466 <= r <= 0.3466, to 2^-57.9, times r^2 / e^r.
STILLFLOW_INLINE double ShortExpTail(double r) {
  return Polynomial(r, 0x1.000000000000ap-1, 0x1.55555555554fap-3, 0x1.555555555087cp-5, 0x1.1111111127bc1p-7,
                    0x1.6c16c1842a2ddp-10, 0x1.a01a012a61a12p-13, 0x1.a0199a0c19ccfp-16, 0x1.71df253f8af97p-19,
                    0x1.28ad731740566p-22, 0x1.ad7f88b9dd914p-26);
}

// (log(1 + f) - f + f^2 / 2) / f^3 for -0.3334 <= f <= 0.3334, to 2^-24.5.
STILLFLOW_INLINE float LogTail(float f) {
  return Polynomial(f, 0x1.555556p-2f, -0x1.ffffb6p-3f, 0x1.999954p-3f, -0x1.557838p-3f, 0x1.24b29p-3f,
                    -0x1.f7579cp-4f, 0x1.bf1a08p-4f, -0x1.fcd61ap-4f, 0x1.d01f96p-4f);
}

// (2 atanh(s) - 2 s) / s^3, z = s^2, for 0.0 <= z <= 0.02944, to 2^-54.6.
STILLFLOW_INLINE double LogTail(double z) {
  return Polynomial(z, 0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476c42p-2, 0x1.c71c720168526p-3,
                    0x1.745cf8fe328f9p-3, 0x1.3b1c36b445cebp-3, 0x1.0fbe71ad855c9p-3, 0x1.0c05166ec4148p-3);
}

// (2 atanh(s) - 2 s) / s^3, z = s^2, for 0.0 <= z <= 0.0403, to 2^-54.6.
STILLFLOW_INLINE double WideLogTail(double z) {
  return Polynomial(z, 0x1.5555555555555p-1, 0x1.9999999999f64p-2, 0x1.24924923d5fa6p-2, 0x1.c71c72ea53b97p-3,
                    0x1.745ca8e7112ep-3, 0x1.3b2a566312fbbp-3, 0x1.0e820bb45c1ccp-3, 0x1.16eb21047b4c1p-3);
}

// ((2 atanh(s) - 2 s) / s^3 - 2/3) / z, z = s^2, for 0.0 <= z <= 0.02944, to 2^-55.1.
STILLFLOW_INLINE double PowerTail(double z) {
  return Polynomial(z, 0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea994p-3, 0x1.745d177a9cebap-3,
                    0x1.3b1395cf37e45p-3, 0x1.1118c8814a0b1p-3, 0x1.df7ca8236e9e1p-4, 0x1.e02fc68c381f4p-4);
}

// ((log(m) - s) / s^3 - 1/12) / z, s = 2 (m - 1) / (m + 1), z = s^2, for 0.0 <= z <= 0.1178, to 2^-66.6, times z^2.
STILLFLOW_INLINE double TwoPartLogTail(double z) {
  return Polynomial(z, 0x1.9999999999d11p-7, 0x1.24924924397d4p-9, 0x1.c71c724b6a4b2p-12, 0x1.745ce1c78e2f6p-14,
                    0x1.3b2024bbb239bp-16, 0x1.0f673e9c9de62p-18, 0x1.0f0e08d6f2267p-20);
}

// (sinh(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.2033, to 2^-56.6.
STILLFLOW_INLINE double SinhTail(double z) {
  return Polynomial(z, 0x1.5555555555555p-3, 0x1.1111111111116p-7, 0x1.a01a01a0152b6p-13, 0x1.71de3a6ecc65ep-19,
                    0x1.ae63de2b162f1p-26, 0x1.622b502c412c3p-33);
}

// (cosh(x) - 1) / z, z = x^2, for 0.0 <= z <= 0.2033, to 2^-59.3.
STILLFLOW_INLINE double CoshTail(double z) {
  return Polynomial(z, 0x1p-1, 0x1.555555555556ap-5, 0x1.6c16c16c0daf1p-10, 0x1.a01a01cfb144p-16,
                    0x1.27e48aa16b236p-22, 0x1.1fe41ace0558bp-29);
}

// (sin(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.6181, to 2^-56.6.
STILLFLOW_INLINE double SinTail(double z) {
  return Polynomial(z, -0x1.5555555555555p-3, 0x1.111111111111p-7, -0x1.a01a01a019926p-13, 0x1.71de3a545e7p-19,
                    -0x1.ae64540f0ba18p-26, 0x1.61217c1864fa1p-33, -0x1.ab161757f0c63p-41);
}

// (cos(x) - 1 + z / 2) / z^2, z = x^2, for 0.0 <= z <= 0.6181, to 2^-58.6.
STILLFLOW_INLINE double CosTail(double z) {
  return Polynomial(z, 0x1.5555555555555p-5, -0x1.6c16c16c1696p-10, 0x1.a01a019f4d0edp-16, -0x1.27e4fa15bd814p-22,
                    0x1.1eeb66b683028p-29, -0x1.907c0e63adbb6p-37);
}

// (x - sin(x)) / x^3 - 1/8, z = x^2, for 0.0 <= z <= 2.468, to 2^-61.6, times x^3 / sin(x).
STILLFLOW_INLINE double SinTailToHalfPi(double z) {
  return Polynomial(z, 0x1.5555555555554p-5, -0x1.11111111110c1p-7, 0x1.a01a01a01489fp-13, -0x1.71de3a5286fd8p-19,
                    0x1.ae6454caf9654p-26, -0x1.6123cb1102db5p-33, 0x1.ae43173de49dfp-41, -0x1.8828f4beaaea6p-49);
}

// (tan(x) - x) / x^3 TanDivisor(z), z = x^2, for 0.0 <= z <= 0.6181, with the divisor to 2^-55.4 of tan(x).
STILLFLOW_INLINE double TanDividend(double z) {
  return Polynomial(z, 0x1.5555555555531p-2, -0x1.50815cc4884a3p-6, 0x1.a56d38f98a5ep-13);
}

// What TanDividend is divided by for 0.0 <= z <= 0.6181, 1 at 0.
STILLFLOW_INLINE double TanDivisor(double z) {
  return Polynomial(z, 0x1p+0, -0x1.d8b1dafe73efbp-2, 0x1.7e79d822fb048p-6, -0x1.b51e7b4e6efb7p-13);
}

// (asin(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.25, to 2^-55.3.
STILLFLOW_INLINE double AsinTail(double z) {
  return Polynomial(z, 0x1.5555555555556p-3, 0x1.3333333332ecap-4, 0x1.6db6db6e31f13p-5, 0x1.f1c71c1db0623p-6,
                    0x1.6e8bb1c8209a2p-6, 0x1.1c4d35cf95421p-6, 0x1.c9cf07674736ap-7, 0x1.782651caa6547p-7,
                    0x1.52420b04b37bep-7, 0x1.65a9c4dfcf8b2p-8, 0x1.1d189408314eep-6, -0x1.e6aaa8a0a04ccp-7,
                    0x1.d72b2bc8155f8p-6);
}

// (atan(x) - x) / x^3, z = x^2, for 0.0 <= z <= 1.0, to 2^-55.3.
STILLFLOW_INLINE double AtanTail(double z) {
  return Polynomial(z, -0x1.5555555555555p-2, 0x1.999999999997dp-3, -0x1.2492492491234p-3, 0x1.c71c71c6882cdp-4,
                    -0x1.745d1731e853fp-4, 0x1.3b13af957f086p-4, -0x1.1110f9a06b09dp-4, 0x1.e1e0069edf96ep-5,
                    -0x1.af1a76061e434p-5, 0x1.85c82bf04fbd6p-5, -0x1.62c464c86804fp-5, 0x1.42a843b89b0ebp-5,
                    -0x1.20f157ad652dfp-5, 0x1.f0f041d3e2f5p-6, -0x1.8c59dbc673323p-6, 0x1.198ad7e0bd0c6p-6,
                    -0x1.552f78ddf9b3p-7, 0x1.50ea3497605b5p-8, -0x1.0110cfd66bd22p-9, 0x1.19e6b726893dp-11,
                    -0x1.890e58e18ff08p-14, 0x1.04a3628aee536p-17);
}

// e^(x^2) erfc(x) (1 + 2 x), q = (x - 4) / (x + 4), for -1.0 <= q <= 1.0, to 2^-53.6.
STILLFLOW_INLINE double ErfcxShape(double q) {
  return Polynomial(q, 0x1.3ba5916e9fd7fp+0, -0x1.1df1ad154a286p-3, 0x1.f7f5df66fd797p-7, 0x1.16ecefcfa4d1p-4,
                    -0x1.9ddb23c3e8f13p-4, 0x1.7fee004e1eefep-4, -0x1.0fb06dfe4c6cp-4, 0x1.3079edf5181dfp-5,
                    -0x1.09623884747dbp-6, 0x1.49c672e199469p-8, -0x1.8d4a9a6465372p-11, -0x1.a1df5e81f57b4p-13,
                    0x1.3be0432bfa86p-13, -0x1.99537515467bep-16, -0x1.7884d2487d5efp-17, 0x1.7ef644c7815aap-18,
                    0x1.393f4d359a7fdp-22, -0x1.b8ce493292da5p-21, 0x1.4dcd6b6d85452p-24, 0x1.c8a212189b424p-24,
                    -0x1.64110b1736fb3p-26, -0x1.a7f4a11380e73p-27, 0x1.bc41def3d5cc5p-29, 0x1.ff247156a53a2p-31,
                    -0x1.2feb115e10ff8p-32);
}

// e^(x^2) erfc(x) / v, v = 3.5 / (x + 3.5), q = 2 v - 1, for -0.7682 <= q <= 1.0, to 2^-57.2, of 1.
STILLFLOW_INLINE double ErfcxOverV(double q) {
  return Polynomial(q, 0x1.3e0a99a0ee914p-2, 0x1.125f977a879f6p-2, 0x1.9627d82db8abep-3, 0x1.fd5fb892e846fp-4,
                    0x1.082dbe3d58cb1p-4, 0x1.b02834b391c67p-6, 0x1.f08cbf2e090e2p-8, 0x1.dbe9479ec850dp-11,
                    -0x1.871347f2fe4b6p-12, -0x1.ac2339d0cf322p-13, -0x1.933faef6ebcdep-17, 0x1.667197a65ae2ap-16,
                    0x1.6589950b19e23p-18, -0x1.15ceb1a89afd7p-19, -0x1.041fd073c02e5p-20, 0x1.e8cd65d802629p-23,
                    0x1.516dd93dc5a23p-23, -0x1.1d48fbd7bca11p-25, -0x1.9792f3afff9afp-26, 0x1.a96665b70b576p-28,
                    0x1.5c8fae7cdc49ep-29, -0x1.fabf0a8a83c7cp-31);
}

// lgamma(2 + t) / t for -0.5 <= t <= 0.5, to 2^-56.0.
STILLFLOW_INLINE double LgammaNearTwo(double t) {
  return Polynomial(t, 0x1.b0ee6072093cep-2, 0x1.4a34cc4a60fa6p-2, -0x1.13e001a557555p-4, 0x1.51322ac7d8333p-6,
                    -0x1.e404fc21d8fe7p-8, 0x1.7add6eadfcc7bp-9, -0x1.38ac5bfce42c1p-10, 0x1.0b36af5972ed1p-11,
                    -0x1.d3fd6a9087d23p-13, 0x1.a127cd91ac95bp-14, -0x1.78d8f868f383fp-15, 0x1.5808af19fa483p-16,
                    -0x1.3d4ce65b1d70bp-17, 0x1.2620de1c78d97p-18, -0x1.08fccc794a9c7p-19, 0x1.f038cb2f6a913p-21,
                    -0x1.37fd97eeee99dp-21, 0x1.2703c6effc4ebp-22);
}

// (lgamma(x) - Stirling's formula) x, w = 1 / x^2, for 0.0 <= w <= 0.01384, to 2^-57.6.
STILLFLOW_INLINE double LgammaTail(double w) {
  return Polynomial(w, 0x1.5555555555555p-4, -0x1.6c16c16c15b0dp-9, 0x1.a01a018cca121p-11, -0x1.3813603f945dbp-11,
                    0x1.b936e99121375p-11, -0x1.f0efc6e576a9cp-10, 0x1.54871d7b95b2ep-8);
}

// (log(1 + f) - f + f^2 / 2) / f^3 for -0.3334 <= f <= 0.3334, to 2^-32.9.
STILLFLOW_INLINE double RoughLogTail(double f) {
  return Polynomial(f, 0x1.55555553e6e2dp-2, -0x1.fffffffd4f59p-3, 0x1.9999a0d5d50c7p-3, -0x1.55555c21bc3a3p-3,
                    0x1.248f56f61a0e5p-3, -0x1.fffa76c6b2063p-4, 0x1.c7fb5b22ee3b3p-4, -0x1.9a6b05679d4c3p-4,
                    0x1.65aba22befac4p-4, -0x1.4788365459cfp-4, 0x1.a9c1d2a4f03c1p-4, -0x1.8c7d13397a251p-4);
}

// lgamma(2 + t) / t for -0.5 <= t <= 0.5, to 2^-36.0.
STILLFLOW_INLINE double RoughLgammaNearTwo(double t) {
  return Polynomial(t, 0x1.b0ee6072093cep-2, 0x1.4a34cc4eac48p-2, -0x1.13e001ad433ddp-4, 0x1.5132155e09a75p-6,
                    -0x1.e404d4a1b2af2p-8, 0x1.7aec51918c322p-9, -0x1.38ba16b3c5394p-10, 0x1.091dc75bb4395p-11,
                    -0x1.d01f28d52f22cp-13, 0x1.e2458007cf618p-14, -0x1.b4e37f8fecb99p-15);
}

// (lgamma(x) - Stirling's formula) x, w = 1 / x^2, for 0.0 <= w <= 0.08163, to 2^-32.1.
STILLFLOW_INLINE double RoughLgammaTail(double w) {
  return Polynomial(w, 0x1.55555546c1489p-4, -0x1.6c13f3733971fp-9, 0x1.9d57f03433dbp-11, -0x1.fc4faf34d41fap-12);
}

// digamma(x) / (x - its root), t = x - 1.5, for -0.5 <= t <= 0.5, to 2^-53.5.
STILLFLOW_INLINE double DigammaNearRoot(double t) {
  return Polynomial(t, 0x1.e6f0cbb873617p-1, -0x1.b1cb63005ee97p-2, 0x1.eca189b8e6da1p-3, -0x1.2feeeb98a7cd8p-3,
                    0x1.8512e5905d18p-4, -0x1.fb442029cdbf4p-5, 0x1.4de9aa05d3418p-5, -0x1.b9f8b1367959dp-6,
                    0x1.256475e5ac975p-6, -0x1.86355f6f68797p-7, 0x1.03c00801ba958p-7, -0x1.5a071c746535bp-8,
                    0x1.cd3e42d157015p-9, -0x1.33661f9073563p-9, 0x1.980fc9c9f0be8p-10, -0x1.1002aaf6255f5p-10,
                    0x1.7b3b41b0b38cdp-11, -0x1.f99f529bd0771p-12, 0x1.dc8ae08af0fc4p-13, -0x1.3db05b36d9a48p-13,
                    0x1.104c9d0897b58p-12, -0x1.6b107f71aa124p-13);
}

// (log(x) - 1 / (2 x) - digamma(x)) x^2, w = 1 / x^2, for 0.0 <= w <= 0.01384, to 2^-57.6.
STILLFLOW_INLINE double DigammaTail(double w) {
  return Polynomial(w, 0x1.5555555555555p-4, -0x1.111111110d359p-7, 0x1.041040e110c37p-8, -0x1.1110d540e602ap-8,
                    0x1.f04b18bcba9f4p-8, -0x1.545b9adfb3eb3p-6, 0x1.0c3ee15411803p-4);
}

// sin(pi x) / x, z = x^2, for 0.0 <= z <= 0.25, to 2^-52.9.
STILLFLOW_INLINE double SinPiOverX(double z) {
  return Polynomial(z, 0x1.921fb54442d18p+1, -0x1.4abbce625be52p+2, 0x1.466bc6775aa7dp+1, -0x1.32d2cce627c86p-1,
                    0x1.5078348551854p-4, -0x1.e3074dfaf87afp-8, 0x1.e8f3675ee37ddp-12, -0x1.6f7acdb8f658p-16,
                    0x1.9d462020fcc78p-21);
}

// sin(pi x) / x, z = x^2, for 0.0 <= z <= 0.25, to 2^-34.1.
STILLFLOW_INLINE double RoughSinPiOverX(double z) {
  return Polynomial(z, 0x1.921fb54425516p+1, -0x1.4abbce51c31dap+2, 0x1.466bc069009p+1, -0x1.32d12ebe6b56p-1,
                    0x1.5014072bd9ca2p-4, -0x1.cc9b5f3456b49p-8);
}

// (I0(x) - 1) / z, z = x^2, for 0.0 <= z <= 64.0, to 2^-55.2.
STILLFLOW_INLINE double BesselI0Tail(double z) {
  return Polynomial(z, 0x1p-2, 0x1.ffffffffffff8p-7, 0x1.c71c71c71c835p-12, 0x1.c71c71c71a6dep-18,
                    0x1.23456789cad8fp-24, 0x1.02e85c06594fcp-31, 0x1.522a442ca7776p-39, 0x1.522a407351c9ap-47,
                    0x1.0b315b8692d2bp-55, 0x1.55fedb223c9d2p-64, 0x1.69eac23652b1dp-73, 0x1.40852a1bdf9fbp-82,
                    0x1.f3ce33d9e3b74p-92, 0x1.0d6a26a87e4bcp-101, 0x1.2069052b0b501p-110);
}

// sqrt(x) e^-x I0(x), q = 16 / x - 1, for -1.0 <= q <= 1.0, to 2^-54.4.
STILLFLOW_INLINE double BesselI0AtInfinity(double q) {
  return Polynomial(q, 0x1.9bd428ad249a5p-2, 0x1.b87969bb93a48p-9, 0x1.1daa72b5e2366p-13, 0x1.75e5ee7822f78p-17,
                    0x1.8e513accc76a3p-20, 0x1.3f49933733f9p-22, 0x1.7d0e5f25bc841p-24, 0x1.51d5f84cd03f6p-25,
                    0x1.7257db9ed6674p-26, 0x1.02cf9254e767p-27, -0x1.d3b411548af05p-28, -0x1.c9aa2ffce2ca1p-27,
                    -0x1.62c3f99ada19fp-28, 0x1.f7410b7f70fdp-28, 0x1.d29741886cb2dp-28, -0x1.ac9afa081a33ep-29,
                    -0x1.4d2b550bd6e76p-28, 0x1.2c4a86bc0bfefp-30, 0x1.499ae7b4d59c2p-29, -0x1.2e287745e1a2ep-32,
                    -0x1.9ae1031554e04p-31, 0x1.36172c123f453p-35, 0x1.de985e80c26e1p-34);
}

// (I1(x) / x - 1/2) / z, z = x^2, for 0.0 <= z <= 64.0, to 2^-56.4.
STILLFLOW_INLINE double BesselI1Tail(double z) {
  return Polynomial(z, 0x1.fffffffffffffp-5, 0x1.555555555558ap-9, 0x1.c71c71c71b9ddp-15, 0x1.6c16c16c2bec6p-21,
                    0x1.845c8a0ab0b98p-28, 0x1.27e4fb9ab6211p-35, 0x1.522a412013551p-43, 0x1.2c97808e3b0bep-51,
                    0x1.ab7ee5b429f4fp-60, 0x1.f19fdd5da5ec2p-69, 0x1.e0d93f6b67641p-78, 0x1.95d56d9359db3p-87,
                    0x1.d892c2fceb55ep-97, 0x1.0de5feba703fp-105);
}

// sqrt(x) e^-x I1(x), q = 16 / x - 1, for -1.0 <= q <= 1.0, to 2^-55.4.
STILLFLOW_INLINE double BesselI1AtInfinity(double q) {
  return Polynomial(q, 0x1.8ebe783a8403p-2, -0x1.3f796198ee5e3p-7, -0x1.cbc54df1e8a3p-13, -0x1.f89c230c1c6c7p-17,
                    -0x1.ec8e10cda9622p-20, -0x1.76136c8d9dbb3p-22, -0x1.ad8c9576be72ap-24, -0x1.7280f7124367dp-25,
                    -0x1.91b62a0449ae7p-26, -0x1.20dfa102cdc55p-27, 0x1.d2f43270388f8p-28, 0x1.df68969b0012bp-27,
                    0x1.89426861550d7p-28, -0x1.fec28b5e30e16p-28, -0x1.f053fd33757dcp-28, 0x1.a62d3a5241febp-29,
                    0x1.5e0ee1eae723fp-28, -0x1.1ff732137576bp-30, -0x1.5873a50ddf275p-29, 0x1.1be99bbf474cep-32,
                    0x1.ac4bf6a87bc29p-31, -0x1.1f6f8a3689d3bp-35, -0x1.f23ff1f27dca9p-34);
}

// (sin(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.6181, to 2^-28.0, times z.
STILLFLOW_INLINE float SinTail(float z) { return Polynomial(z, -0x1.555546p-3f, 0x1.11077ap-7f, -0x1.9954a8p-13f); }

// (cos(x) - 1 + z / 2) / z^2, z = x^2, for 0.0 <= z <= 0.6181, to 2^-31.1, times z.
STILLFLOW_INLINE float CosTail(float z) { return Polynomial(z, 0x1.55554ep-5f, -0x1.6c0e2cp-10f, 0x1.9a61cap-16f); }

// (tan(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.6181, to 2^-29.3, times z.
STILLFLOW_INLINE float TanTail(float z) {
  return Polynomial(z, 0x1.555562p-2f, 0x1.110d26p-3f, 0x1.baece2p-5f, 0x1.5c0b5p-6f, 0x1.663872p-7f,
                    -0x1.beff14p-16f, 0x1.22671ep-8f);
}

// (e^r - 1 - r) / r^2 for -0.3467 <= r <= 0.3467, to 2^-28.2, times r^2.
STILLFLOW_INLINE float ShortExpTail(float r) {
  return Polynomial(r, 0x1p-1f, 0x1.55549p-3f, 0x1.5554cep-5f, 0x1.123ac6p-7f, 0x1.6d6a7ep-10f);
}

// erf(x) / x - 1, z = x^2, for 0.0 <= z <= 0.8836, to 2^-29.9.
STILLFLOW_INLINE float ErfTail(float z) {
  return Polynomial(z, 0x1.06eba8p-3f, -0x1.81274p-2f, 0x1.ce2d6p-4f, -0x1.b8008ap-6f, 0x1.544362p-8f,
                    -0x1.a5c904p-11f, 0x1.4e8a84p-14f);
}

// (S - S(0)) / t, S = e^(x^2) erfc(x) / v, t = 2 - 3 v, for -1.0 <= t <= 1.469, to 2^-27.9, times t / S.
STILLFLOW_INLINE float ErfcTail(float t) {
  return Polynomial(t, -0x1.2d18a8p-2f, 0x1.10e11p-4f, -0x1.dbaf3cp-12f, -0x1.58c5e2p-9f, -0x1.8d630ep-16f,
                    0x1.263caep-13f, 0x1.31bef4p-16f, -0x1.f9a35cp-18f, -0x1.39669cp-19f, 0x1.36c60cp-21f);
}

// log2(erfc(x)) / x for 0.94 <= x <= 3.95, to 2^-27.9, times x erfc(x).
STILLFLOW_INLINE float Log2ErfcOverX(float x) {
  return Polynomial(x, -0x1.a0ca4cp+0f, -0x1.d59b2cp-1f, -0x1.36dedp-3f, 0x1.0e2a2cp-5f, -0x1.2f103ap-8f,
                    0x1.41f268p-12f);
}

// (sinh(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.2033, to 2^-34.1, times z.
STILLFLOW_INLINE float SinhTail(float z) { return Polynomial(z, 0x1.555556p-3f, 0x1.110fe2p-7f, 0x1.a27c4ep-13f); }

// (cosh(x) - 1) / z, z = x^2, for 0.0 <= z <= 0.2033, to 2^-30.4, times z.
STILLFLOW_INLINE float CoshTail(float z) { return Polynomial(z, 0x1.000002p-1f, 0x1.55521cp-5f, 0x1.6f0a16p-10f); }

// (asinh(x) - x) / x^3, z = x^2, for 0.0 <= z <= 1.0, to 2^-28.2, times z.
STILLFLOW_INLINE float AsinhTail(float z) {
  return Polynomial(z, -0x1.555526p-3f, 0x1.332624p-4f, -0x1.6c78f2p-5f, 0x1.e2d748p-6f, -0x1.3ac8b2p-6f,
                    0x1.5704f2p-7f, -0x1.fa2bc6p-9f, 0x1.647686p-11f);
}

// (asinh(x) - log(2 x)) / w, w = 1 / x^2, for 0.0 <= w <= 1.0, to 2^-28.1, times w.
STILLFLOW_INLINE float AsinhBeyondLog(float w) {
  return Polynomial(w, 0x1.ffffccp-3f, -0x1.7ff1c8p-4f, 0x1.a9527p-5f, -0x1.0ff256p-5f, 0x1.5b9538p-6f,
                    -0x1.767308p-7f, 0x1.1269b2p-8f, -0x1.80da64p-11f);
}

// (acosh(1 + t) / sqrt(2 t) - 1) / t for 0.0 <= t <= 1.0, to 2^-28.0, times t.
STILLFLOW_INLINE float AcoshTail(float t) {
  return Polynomial(t, -0x1.555516p-4f, 0x1.331edep-6f, -0x1.6b83ccp-8f, 0x1.d50a34p-10f, -0x1.0a33bep-11f,
                    0x1.5c8b6ap-14f);
}

// (acosh(x) - log(2 x)) / w, w = 1 / x^2, for 0.0 <= w <= 0.25, to 2^-27.5, times w.
STILLFLOW_INLINE float AcoshBeyondLog(float w) {
  return Polynomial(w, -0x1.00003ep-2f, -0x1.7fcadp-4f, -0x1.b1fb02p-5f, -0x1.c25fb2p-6f, -0x1.789806p-5f);
}

// (atanh(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.25, to 2^-29.4, times z.
STILLFLOW_INLINE float AtanhTail(float z) {
  return Polynomial(z, 0x1.55553ep-2f, 0x1.99a73cp-3f, 0x1.23408ap-3f, 0x1.e4c58ep-4f, 0x1.a1591cp-5f,
                    0x1.6afe46p-3f);
}

// log(1 + x) for 0.5 <= x <= 1.0, to 2^-28.3.
STILLFLOW_INLINE float Log1pOfUpperHalf(float x) {
  return Polynomial(x, 0x1.08fd34p-11f, 0x1.fd37a6p-1f, -0x1.e5c24ep-2f, 0x1.0d7502p-2f, -0x1.fcce64p-4f,
                    0x1.43e292p-5f, -0x1.89b60ap-8f);
}

// (asin(x) - x) / x^3, z = x^2, for 0.0 <= z <= 0.25, to 2^-27.6, times z.
STILLFLOW_INLINE float AsinTail(float z) {
  return Polynomial(z, 0x1.5555cap-3f, 0x1.33016cp-4f, 0x1.7489e6p-5f, 0x1.8bb84p-6f, 0x1.59c9dcp-5f);
}

// (atan(x) - x) / x^3, z = x^2, for 0.0 <= z <= 1.0, to 2^-26.0, times z.
STILLFLOW_INLINE float AtanTail(float z) {
  return Polynomial(z, -0x1.5554e6p-2f, 0x1.997aeap-3f, -0x1.231bcap-3f, 0x1.b56bc4p-4f, -0x1.36862ap-4f,
                    0x1.64d822p-5f, -0x1.0fbae2p-6f, 0x1.860274p-9f);
}

// ((e^2r - 1) / 2 - r) / r^2 for -0.1735 <= r <= 0.1735, to 2^-26.6, of tanh.
STILLFLOW_INLINE float HalfExpm1OfTwiceTail(float r) {
  return Polynomial(r, 0x1.000002p+0f, 0x1.555494p-1f, 0x1.55537ep-2f, 0x1.123832p-3f, 0x1.6d8854p-5f);
}

// (log2(1 + f) - its series to f^4) / f^5 for -0.3333 <= f <= 0.3333, to 2^-34.1, times f^4.
STILLFLOW_INLINE float Log2Tail(float f) {
  return Polynomial(f, 0x1.2776dp-2f, -0x1.ec6e9p-3f, 0x1.a60f8cp-3f, -0x1.71ccc4p-3f, 0x1.49454ap-3f,
                    -0x1.1de7f6p-3f, 0x1.fd06fcp-4f, -0x1.45fbf2p-3f, 0x1.3f51fep-3f);
}

// (2^r - 1) / r for -0.5 <= r <= 0.5, to 2^-26.7.
STILLFLOW_INLINE float Exp2Tail(float r) {
  return Polynomial(r, 0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6afap-5f, 0x1.3b2a4p-7f, 0x1.5ef388p-10f, 0x1.442dfep-13f);
}

// The coefficients of eta^n in C_k(eta), for a >= 200 and |eta| <= 0.4.
constexpr int kTemmeOrders = 8;
constexpr int kTemmeTerms = 18;
constexpr double kTemme[kTemmeOrders][kTemmeTerms] = {
    {-0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10, 0x1.71de3a556c734p-12,
     -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, -0x1.f1b22f594c6b5p-20,
     0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28, 0x1.6097d55c37c1cp-27,
     -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31, -0x1.c0d9b6edf2b0bp-36, -0x1.0070a87340428p-34,
     0x1.ac9475c463659p-36},
    {-0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015acp-9, -0x1.0394f6f09e723p-10,
     0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5afp-16, 0x1.00a9cabd6b83ep-17,
     -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25,
     0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30},
    {0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9ep-11, 0x1.0db20a88f4696p-19, -0x1.c253efaa1a932p-14,
     0x1.bbf43daf4fe53p-15, -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25, 0x1.7058929663937p-20,
     -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33, -0x1.e437343a46f5dp-27},
    {0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7cap-12, 0x1.18b9b5bf2d984p-12,
     -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17, -0x1.7cd6f27b3f02p-18,
     0x1.7e0201539310ep-20},
    {-0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9dp-20,
     0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17},
    {-0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12, -0x1.a2042c5148e27p-13,
     0x1.1d1e9cb24760bp-14},
    {0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11},
    {0x1.691879c01efb4p-12},
};

}  // namespace stillflow
