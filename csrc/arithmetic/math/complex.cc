#include "arithmetic/math/complex.h"

#include "arithmetic/math/activation.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/math/hyperbolic.h"
#include "arithmetic/math/inverse_trigonometric.h"
#include "arithmetic/math/logarithm.h"
#include "arithmetic/math/trigonometric.h"

namespace stillflow {
namespace {

constexpr double kPi = 0x1.921fb54442d18p1;
constexpr double kLogOfTwo = 0x1.62e42fefa39efp-1;
constexpr double kLargest = std::numeric_limits<double>::max();

bool IsFinite(double x) { return Abs(x) <= kLargest; }
bool IsInfinite(double x) { return Abs(x) > kLargest; }

double SineOf(double x) { return MagnitudeBits(x) <= kMostBitsOfAngle<double> ? Sin(x) : SinLarge(x); }
double CosineOf(double x) { return MagnitudeBits(x) <= kMostBitsOfAngle<double> ? Cos(x) : CosLarge(x); }
double TangentOf(double x) { return MagnitudeBits(x) <= kMostBitsOfAngle<double> ? Tan(x) : TanLarge(x); }

// 2^n, for exponents of normal numbers.
double TwoTo(int n) { return BitCast<double>(static_cast<uint64_t>(n + 1023) << 52); }
// The exponent of a positive number, between those of normal ones whose inverse is normal too.
int ExponentOf(double x) {
  const int exponent = static_cast<int>(BitCast<uint64_t>(x) >> 52) - 1023;
  return exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
}

// Of a part of an infinite number, what stands for it: its sign, or a zero of that sign where it is finite.
double Boxed(double x) { return CopySign(IsInfinite(x) ? 1.0 : 0.0, x); }
double ZeroOfNan(double x) { return x != x ? CopySign(0.0, x) : x; }

}  // namespace

// ---- Products, quotients, magnitudes
// --------------------------------------------------------------------------------

Complex128 ProductOfInfinities(Complex128 a, Complex128 b) {
  bool is_infinite = false;
  if (IsInfinite(a.re) || IsInfinite(a.im)) {
    a = {Boxed(a.re), Boxed(a.im)};
    b = {ZeroOfNan(b.re), ZeroOfNan(b.im)};
    is_infinite = true;
  }
  if (IsInfinite(b.re) || IsInfinite(b.im)) {
    b = {Boxed(b.re), Boxed(b.im)};
    a = {ZeroOfNan(a.re), ZeroOfNan(a.im)};
    is_infinite = true;
  }
  if (!is_infinite) return {kNan<double>, kNan<double>};
  return Scaled(a * b, kInfinity<double>);
}

// Powers of two bring both numbers near 1, so that no product overflows or vanishes.
Complex128 operator/(Complex128 a, Complex128 b) {
  const double largest = Abs(b.re) > Abs(b.im) ? Abs(b.re) : Abs(b.im);
  if (IsFinite(b.re) && IsFinite(b.im) && largest > 0 && IsFinite(a.re) && IsFinite(a.im)) {
    const int b_exponent = ExponentOf(largest);
    const int a_exponent = ExponentOf(Abs(a.re) > Abs(a.im) ? Abs(a.re) : Abs(a.im));
    const Complex128 divisor = Scaled(b, TwoTo(-b_exponent));
    const Complex128 dividend = Scaled(a, TwoTo(-a_exponent));
    const double norm = divisor.re * divisor.re + divisor.im * divisor.im;
    const Complex128 product = dividend * Conj(divisor);
    const int exponent = a_exponent - b_exponent;
    const int half = exponent / 2;
    return Scaled(Scaled(Complex128{product.re / norm, product.im / norm}, TwoTo(half)), TwoTo(exponent - half));
  }
  if (largest == 0 && (a.re == a.re || a.im == a.im)) {
    const double infinity = CopySign(kInfinity<double>, b.re);
    return {infinity * a.re, infinity * a.im};
  }
  if ((IsInfinite(a.re) || IsInfinite(a.im)) && IsFinite(b.re) && IsFinite(b.im)) {
    return Scaled(Complex128{Boxed(a.re), Boxed(a.im)} * Conj(b), kInfinity<double>);
  }
  if ((IsInfinite(b.re) || IsInfinite(b.im)) && IsFinite(a.re) && IsFinite(a.im)) {
    return Scaled(a * Conj(Complex128{Boxed(b.re), Boxed(b.im)}), 0.0);
  }
  return {kNan<double>, kNan<double>};
}

double Magnitude(double x, double y) {
  if (IsInfinite(x) || IsInfinite(y)) return kInfinity<double>;
  const double larger = Abs(x) > Abs(y) ? Abs(x) : Abs(y);
  if (!(larger > 0)) return x + y != x + y ? kNan<double> : 0;
  const int exponent = ExponentOf(larger);
  const double scale = TwoTo(-exponent);
  const double a = x * scale;
  const double b = y * scale;
  return Sqrt(Fma(a, a, b * b)) * TwoTo(exponent);
}

double Angle(Complex128 z) { return Atan2(z.im, z.re); }

Complex128 Sign(Complex128 z) {
  if (IsZero(z)) return {0, 0};
  const double magnitude = Magnitude(z);
  if (IsInfinite(magnitude) || magnitude >= 0x1p-1000) return {z.re / magnitude, z.im / magnitude};
  const Complex128 scaled = Scaled(z, 0x1p100);
  const double larger = Magnitude(scaled);
  return {scaled.re / larger, scaled.im / larger};
}

// ---- Exponentials
// ---------------------------------------------------------------------------------------------------

namespace {

// growth * e^x, where e^x may overflow though the product does not.
double TimesExp(double factor, double x) {
  if (x <= 700) return factor * Exp(x);
  const double half = Exp(x / 2);
  return factor * half * half;
}

// The hyperbolic sine and cosine of x times a factor each.
double TimesSinh(double factor, double x) {
  return Abs(x) <= 700 ? factor * Sinh(x) : TimesExp(CopySign(0.5, x) * factor, Abs(x));
}
double TimesCosh(double factor, double x) {
  return Abs(x) <= 700 ? factor * Cosh(x) : TimesExp(0.5 * factor, Abs(x));
}

// Infinities of the direction of a finite angle; of a zero angle nothing is turned.
Complex128 InfiniteTowards(double infinity, double y) {
  if (y == 0) return {infinity, y};
  if (!IsFinite(y)) return {infinity, kNan<double>};
  return {CopySign(kInfinity<double>, CosineOf(y)) * CopySign(1.0, infinity),
          CopySign(kInfinity<double>, SineOf(y)) * CopySign(1.0, infinity)};
}

}  // namespace

Complex128 Exp(Complex128 z) {
  if (z.im == 0) return {Exp(z.re), z.im};
  if (IsInfinite(z.re)) {
    if (z.re > 0) return InfiniteTowards(z.re, z.im);
    if (!IsFinite(z.im)) return {0, 0};
    return {CopySign(0.0, CosineOf(z.im)), CopySign(0.0, SineOf(z.im))};
  }
  return {TimesExp(CosineOf(z.im), z.re), TimesExp(SineOf(z.im), z.re)};
}

// e^x cos(y) - 1 = (e^x - 1) cos(y) - 2 sin(y / 2)^2.
Complex128 Expm1(Complex128 z) {
  if (z.im == 0) return {Expm1(z.re), z.im};
  if (!IsFinite(z.re) || !IsFinite(z.im) || z.re > 700) {
    const Complex128 power = Exp(z);
    return {power.re - 1, power.im};
  }
  const double half = SineOf(z.im / 2);
  return {Expm1(z.re) * CosineOf(z.im) - 2 * half * half, Exp(z.re) * SineOf(z.im)};
}

Complex128 Sinh(Complex128 z) {
  if (z.im == 0) return {Sinh(z.re), z.im};
  if (z.re == 0) return {CopySign(0.0, z.re) * CopySign(1.0, CosineOf(z.im)), SineOf(z.im)};
  if (IsInfinite(z.re)) {
    const Complex128 towards = InfiniteTowards(kInfinity<double>, z.im);
    return {z.re > 0 ? towards.re : -towards.re, towards.im};
  }
  return {TimesSinh(CosineOf(z.im), z.re), TimesCosh(SineOf(z.im), z.re)};
}

Complex128 Cosh(Complex128 z) {
  const double zero = CopySign(0.0, z.re) * CopySign(1.0, z.im);
  if (z.im == 0) return {Cosh(z.re), z.re != z.re ? z.im : zero};
  if (z.re == 0) return {CosineOf(z.im), IsFinite(z.im) ? z.re * SineOf(z.im) : zero};
  if (IsInfinite(z.re)) {
    const Complex128 towards = InfiniteTowards(kInfinity<double>, z.im);
    return {towards.re, z.re > 0 ? towards.im : -towards.im};
  }
  return {TimesCosh(CosineOf(z.im), z.re), TimesSinh(SineOf(z.im), z.re)};
}

// Kahan, "Branch cuts for complex elementary functions", 1987: by the tangent of y and the hyperbolic sine of x.
Complex128 Tanh(Complex128 z) {
  const double x = z.re;
  if (z.im == 0) return {Tanh(x), z.im};
  if (Abs(x) > 22) {
    if (IsInfinite(x) && !IsFinite(z.im)) return {CopySign(1.0, x), CopySign(0.0, z.im)};
    const double decay = Exp(-Abs(x));
    return {CopySign(1.0, x), 4 * SineOf(z.im) * CosineOf(z.im) * decay * decay};
  }
  const double tangent = TangentOf(z.im);
  const double beta = 1 + tangent * tangent;
  const double sine = Sinh(x);
  const double cosine = Cosh(x);
  if (IsInfinite(beta)) return {cosine / sine, 1 / tangent};
  const double divisor = 1 + beta * sine * sine;
  return {beta * cosine * sine / divisor, tangent / divisor};
}

Complex128 Sin(Complex128 z) {
  const Complex128 turned = Sinh(TimesI(z));
  return {turned.im, -turned.re};
}
Complex128 Cos(Complex128 z) { return Cosh(TimesI(z)); }
Complex128 Tan(Complex128 z) {
  const Complex128 turned = Tanh(TimesI(z));
  return {turned.im, -turned.re};
}

Complex128 Sigmoid(Complex128 z) {
  const bool is_left = z.re < 0;
  const Complex128 power = Exp(is_left ? z : -z);
  const Complex128 divisor = {1 + power.re, power.im};
  return (is_left ? power : Complex128{1, 0}) / divisor;
}

// ---- Roots, logarithms and powers
// -----------------------------------------------------------------------------------

Complex128 Sqrt(Complex128 z) {
  if (IsInfinite(z.im)) return {kInfinity<double>, z.im};
  if (IsZero(z)) return {0, z.im};
  if (IsInfinite(z.re)) {
    const double other = z.im != z.im ? z.im : 0;
    return z.re > 0 ? Complex128{z.re, CopySign(other, z.im)} : Complex128{other, CopySign(kInfinity<double>, z.im)};
  }
  // An even power of two brings the number near 1.
  const int exponent = ExponentOf(Abs(z.re) > Abs(z.im) ? Abs(z.re) : Abs(z.im)) & ~1;
  const Complex128 near = Scaled(z, TwoTo(-exponent));
  const double root = Sqrt((Abs(near.re) + Magnitude(near)) / 2);
  const double other = near.im / (2 * root);
  const Complex128 result = near.re >= 0 ? Complex128{root, other} : Complex128{Abs(other), CopySign(root, near.im)};
  return Scaled(result, TwoTo(exponent / 2));
}

// Where |z| is near 1, log |z| is made of what z is off.
Complex128 Log(Complex128 z) {
  const double angle = Angle(z);
  const double larger = Abs(z.re) > Abs(z.im) ? Abs(z.re) : Abs(z.im);
  const double smaller = Abs(z.re) > Abs(z.im) ? Abs(z.im) : Abs(z.re);
  if (!(larger > 0) || !IsFinite(larger) || !IsFinite(smaller)) return {Log(Magnitude(z)), angle};
  if (larger > 0.5 && larger < 2) return {Log1p(Fma(smaller, smaller, (larger - 1) * (larger + 1))) / 2, angle};
  const int exponent = ExponentOf(larger);
  const double scale = TwoTo(-exponent);
  return {Log(Magnitude(z.re * scale, z.im * scale)) + exponent * kLogOfTwo, angle};
}

Complex128 Log1p(Complex128 z) {
  const Complex128 more = {1 + z.re, z.im};
  if (Abs(z.re) > 0.5 || Abs(z.im) > 0.5 || z.re != z.re || z.im != z.im) return Log(more);
  return {Log1p(Fma(z.im, z.im, z.re * (2 + z.re))) / 2, Angle(more)};
}

// e^(y log(x)); of 0 it is what that comes to.
Complex128 Pow(Complex128 x, Complex128 y) { return Exp(Product(y, Log(x))); }

// ---- Inverse hyperbolic functions
// -----------------------------------------------------------------------------------

namespace {

// From there on, z^2 + 1 is z^2.
constexpr double kFar = 0x1p100;
bool IsFar(Complex128 z) { return !(Abs(z.re) < kFar && Abs(z.im) < kFar); }

// log(2 z) for a z in the right half-plane.
Complex128 LogOfTwice(Complex128 z) {
  const Complex128 log = Log(z);
  return {log.re + kLogOfTwo, log.im};
}

// sqrt(1 - z) and sqrt(1 + z).
struct Roots {
  Complex128 below;
  Complex128 above;
  explicit Roots(Complex128 z) : below(Sqrt(Complex128{1 - z.re, -z.im})), above(Sqrt(Complex128{1 + z.re, z.im})) {}
};

Complex128 Asin(Complex128 z) {
  const Roots roots(z);
  // The real part of the product vanishes where z is near a cut: Atan2 takes it as it is.
  return {Atan2(z.re, (roots.below * roots.above).re), Asinh((Conj(roots.below) * roots.above).im)};
}

}  // namespace

// Kahan's formulas.
Complex128 Asinh(Complex128 z) {
  if (IsFar(z)) {
    if (z.re != z.re || z.im != z.im) {
      if (IsInfinite(z.re)) return {z.re, kNan<double>};
      return {IsInfinite(z.im) ? kInfinity<double> : kNan<double>, z.im == 0 ? z.im : kNan<double>};
    }
    const Complex128 log = LogOfTwice(Complex128{Abs(z.re), Abs(z.im)});
    return {CopySign(log.re, z.re), CopySign(log.im, z.im)};
  }
  const Complex128 turned = Asin(TimesI(z));
  return {turned.im, -turned.re};
}

Complex128 Acosh(Complex128 z) {
  if (IsFar(z)) {
    if (z.re != z.re || z.im != z.im) {
      const bool is_infinite = IsInfinite(z.re) || IsInfinite(z.im);
      return {is_infinite ? kInfinity<double> : kNan<double>, kNan<double>};
    }
    return LogOfTwice(z);
  }
  const Complex128 below = Sqrt(Complex128{z.re - 1, z.im});
  const Complex128 above = Sqrt(Complex128{z.re + 1, z.im});
  return {Asinh((Conj(below) * above).re), 2 * Atan2(below.im, above.re)};
}

Complex128 Atanh(Complex128 z) {
  const double x = Abs(z.re);
  const double y = Abs(z.im);
  if (IsFar(z)) {
    if (z.re != z.re && !IsInfinite(z.im)) return {kNan<double>, kNan<double>};
    double real = 0;
    if (z.im != z.im) {
      real = IsInfinite(x) || x == 0 ? 0 : kNan<double>;
    } else if (z.re == z.re) {
      real = (Complex128{1, 0} / Complex128{x, y}).re;
    }
    return {CopySign(real, z.re), z.im != z.im ? kNan<double> : CopySign(kPi / 2, z.im)};
  }
  if (x == 1 && y == 0) return {CopySign(kInfinity<double>, z.re), z.im};
  const double away = (1 - x) * (1 - x) + y * y;
  const double real = x == 1 && y < 0x1p-300 ? -Log(y / 2) / 2 : Log1p(4 * x / away) / 4;
  const double imaginary = Atan2(2 * y, (1 - x) * (1 + x) - y * y) / 2;
  return {CopySign(real, z.re), CopySign(imaginary, z.im)};
}

}  // namespace stillflow
