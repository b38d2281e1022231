// complex.h: arithmetic on complex numbers.
//
// Sums, products and quotients are made of their parts by operations in one order, so that they have the same bits
// everywhere. Of the four products in a product, two are fused: left apart, GCC 12 fuses them where a processor
// subtracts and adds by turns, whatever -ffp-contract says. Errors are bounded relative to the magnitude of the
// result, not part by part: 2 units of it for products, 5 for quotients. What is infinite stays so, as in annex G of
// the C standard.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

template <typename T>
constexpr bool kIsComplex = false;
template <typename R>
constexpr bool kIsComplex<Complex<R>> = true;

// The type of a complex number's parts; of any other type itself.
template <typename T>
struct PartOfType {
  using type = T;
};
template <typename R>
struct PartOfType<Complex<R>> {
  using type = R;
};
template <typename T>
using PartOf = typename PartOfType<T>::type;

template <typename R>
STILLFLOW_INLINE Complex<R> operator+(Complex<R> a, Complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <typename R>
STILLFLOW_INLINE Complex<R> operator-(Complex<R> a, Complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <typename R>
STILLFLOW_INLINE Complex<R> operator-(Complex<R> a) {
  return {-a.re, -a.im};
}
template <typename R>
STILLFLOW_INLINE bool operator==(Complex<R> a, Complex<R> b) {
  return (a.re == b.re) & (a.im == b.im);
}
template <typename R>
STILLFLOW_INLINE bool operator!=(Complex<R> a, Complex<R> b) {
  return (a.re != b.re) | (a.im != b.im);
}
template <typename R>
STILLFLOW_INLINE Complex<R> Conj(Complex<R> a) {
  return {a.re, -a.im};
}
template <typename R>
STILLFLOW_INLINE Complex<R> Scaled(Complex<R> a, R factor) {
  return {a.re * factor, a.im * factor};
}
template <typename R>
STILLFLOW_INLINE Complex<R> TimesI(Complex<R> a) {
  return {-a.im, a.re};
}
template <typename R>
STILLFLOW_INLINE bool IsZero(Complex<R> a) {
  return (a.re == 0) & (a.im == 0);
}

// The product of finite numbers; infinities may make NaN of both parts.
template <typename R>
STILLFLOW_INLINE Complex<R> operator*(Complex<R> a, Complex<R> b) {
  return {Fma(a.re, b.re, -(a.im * b.im)), Fma(a.re, b.im, a.im * b.re)};
}
template <typename R>
STILLFLOW_INLINE bool IsNan(Complex<R> a) {
  return (a.re != a.re) & (a.im != a.im);
}

Complex128 operator/(Complex128 a, Complex128 b);
// The product where that of the parts is NaN twice.
Complex128 ProductOfInfinities(Complex128 a, Complex128 b);

inline Complex128 Widen(Complex64 a) { return {a.re, a.im}; }
inline Complex128 Widen(Complex128 a) { return a; }
template <typename T>
inline T NarrowComplex(Complex128 a) {
  using R = typename T::Part;
  return {static_cast<R>(a.re), static_cast<R>(a.im)};
}

template <typename R>
inline Complex<R> Product(Complex<R> a, Complex<R> b) {
  const Complex<R> product = a * b;
  if (!IsNan(product)) return product;
  return NarrowComplex<Complex<R>>(ProductOfInfinities(Widen(a), Widen(b)));
}
// Of floats by doubles, where no square overflows.
inline Complex64 operator/(Complex64 a, Complex64 b) { return NarrowComplex<Complex64>(Widen(a) / Widen(b)); }

// The length of (x, y), within 1 ulp.
double Magnitude(double x, double y);
inline double Magnitude(Complex128 a) { return Magnitude(a.re, a.im); }

// ---- Functions
// ------------------------------------------------------------------------------------------------------

// Cuts and limits are those of annex G. Errors, relative to the magnitude of the result: 8 units; of powers 8 units
// for each unit of |y log(x)|.
Complex128 Exp(Complex128 z);
Complex128 Expm1(Complex128 z);
Complex128 Log(Complex128 z);
Complex128 Log1p(Complex128 z);
Complex128 Sqrt(Complex128 z);
Complex128 Pow(Complex128 x, Complex128 y);
Complex128 Sin(Complex128 z);
Complex128 Cos(Complex128 z);
Complex128 Tan(Complex128 z);
Complex128 Sinh(Complex128 z);
Complex128 Cosh(Complex128 z);
Complex128 Tanh(Complex128 z);
Complex128 Asinh(Complex128 z);
Complex128 Acosh(Complex128 z);
Complex128 Atanh(Complex128 z);
Complex128 Sigmoid(Complex128 z);
double Angle(Complex128 z);
// The number of that direction whose magnitude is 1; zero for zero.
Complex128 Sign(Complex128 z);

}  // namespace stillflow
