// Operations on complex numbers. What takes long is done in double, for floats too, which are rounded once.
#include "arithmetic/math/complex.h"

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

// ---- Loops
// ----------------------------------------------------------------------------------------------------------

template <typename Op, typename T>
void ComplexUnaryTile(const TileCall& call) {
  using Result = decltype(Op::Run(T{}));
  const T* x = static_cast<const T*>(call.in[0]);
  auto* y = static_cast<Result*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(x[i]);
}

template <typename Op, typename T>
void ComplexBinaryTile(const TileCall& call) {
  using Result = decltype(Op::Run(T{}, T{}));
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  auto* y = static_cast<Result*>(call.out);
  if (call.scalars == 2) {
    const T scalar = *b;
    for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(a[i], scalar);
  } else if (call.scalars == 1) {
    const T scalar = *a;
    for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(scalar, b[i]);
  } else {
    for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(a[i], b[i]);
  }
}

template <typename Op, typename T>
constexpr TileOp ComplexUnary(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<decltype(Op::Run(T{}))>(), 1, ComplexUnaryTile<Op, T>};
}
template <typename Op, typename T>
constexpr TileOp ComplexBinary(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<decltype(Op::Run(T{}, T{}))>(), 2, ComplexBinaryTile<Op, T>};
}

using UnaryFunction = Complex128 (*)(Complex128);
using BinaryFunction = Complex128 (*)(Complex128, Complex128);

template <UnaryFunction function>
struct OfOne {
  template <typename T>
  static T Run(T x) {
    return NarrowComplex<T>(function(Widen(x)));
  }
};
template <BinaryFunction function>
struct OfTwo {
  template <typename T>
  static T Run(T x, T y) {
    return NarrowComplex<T>(function(Widen(x), Widen(y)));
  }
};

// ---- Arithmetic
// -----------------------------------------------------------------------------------------------------

struct Add {
  template <typename T>
  static T Run(T a, T b) {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  static T Run(T a, T b) {
    return a - b;
  }
};
struct PlainMul {
  template <typename T>
  static T Run(T a, T b) {
    return a * b;
  }
};
struct NegOp {
  template <typename T>
  static T Run(T x) {
    return -x;
  }
};
struct ConjOp {
  template <typename T>
  static T Run(T x) {
    return Conj(x);
  }
};
struct CopyOp {
  template <typename T>
  static T Run(T x) {
    return x;
  }
};

// Products are made by vector code, and those that are NaN made again.
template <typename T>
void MulTile(const TileCall& call) {
  constexpr int64_t kBlock = 256;
  T made[kBlock];
  ForParts<T>(call, kBlock, 2, [&made](const TileCall& part) {
    TileCall staged = part;
    staged.out = made;
    ComplexBinaryTile<PlainMul, T>(staged);
    int64_t others = 0;
    for (int64_t i = 0; i < part.count; ++i) others += IsNan(made[i]) ? 1 : 0;
    for (int64_t i = 0; others > 0 && i < part.count; ++i) {
      const T a = static_cast<const T*>(part.in[0])[(part.scalars & 1) != 0 ? 0 : i];
      const T b = static_cast<const T*>(part.in[1])[(part.scalars & 2) != 0 ? 0 : i];
      if (IsNan(made[i])) made[i] = Product(a, b);
    }
    std::memcpy(part.out, made, static_cast<size_t>(part.count) * sizeof(T));
  });
}
template <typename T>
constexpr TileOp MulOf(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<T>(), 2, MulTile<T>};
}

Complex128 Quotient(Complex128 a, Complex128 b) { return a / b; }
Complex128 Reciprocal(Complex128 x) { return Complex128{1, 0} / x; }
Complex128 Rsqrt(Complex128 x) { return Complex128{1, 0} / Sqrt(x); }
Complex128 Square(Complex128 x) { return Product(x, x); }
Complex128 DivNoNan(Complex128 a, Complex128 b) { return IsZero(b) ? Complex128{0, 0} : a / b; }
Complex128 MulNoNan(Complex128 a, Complex128 b) { return IsZero(b) ? Complex128{0, 0} : Product(a, b); }
Complex128 Xdivy(Complex128 a, Complex128 b) { return IsZero(a) ? Complex128{0, 0} : a / b; }
Complex128 Xlogy(Complex128 a, Complex128 b) { return IsZero(a) ? Complex128{0, 0} : Product(a, Log(b)); }
// The square of the difference's magnitude, as in TensorFlow.
Complex128 SquaredDifference(Complex128 a, Complex128 b) {
  const Complex128 difference = a - b;
  return {difference.re * difference.re + difference.im * difference.im, 0};
}

// Gradients, of y = f(x) and the gradient dy: TensorFlow conjugates y in these of them. A gradient of 0 stays 0.
Complex128 ReciprocalGrad(Complex128 y, Complex128 dy) {
  if (IsZero(dy)) return {0, 0};
  const Complex128 conj = Conj(y);
  return Product(-dy, Product(conj, conj));
}
Complex128 SqrtGrad(Complex128 y, Complex128 dy) { return IsZero(dy) ? Complex128{0, 0} : Scaled(dy, 0.5) / Conj(y); }
Complex128 RsqrtGrad(Complex128 y, Complex128 dy) {
  if (IsZero(dy)) return {0, 0};
  const Complex128 conj = Conj(y);
  return Product(Scaled(Product(dy, conj), -0.5), Product(conj, conj));
}
Complex128 SigmoidGrad(Complex128 y, Complex128 dy) { return Product(Product(dy, Complex128{1 - y.re, -y.im}), y); }
Complex128 TanhGrad(Complex128 y, Complex128 dy) { return Product(dy, Complex128{1, 0} - Product(y, y)); }

// ---- Parts
// ----------------------------------------------------------------------------------------------------------

struct RealOp {
  template <typename R>
  static R Run(Complex<R> x) {
    return x.re;
  }
};
struct ImagOp {
  template <typename R>
  static R Run(Complex<R> x) {
    return x.im;
  }
};
struct AbsOp {
  template <typename R>
  static R Run(Complex<R> x) {
    return static_cast<R>(Magnitude(x.re, x.im));
  }
};
struct AngleOp {
  template <typename R>
  static R Run(Complex<R> x) {
    return static_cast<R>(Angle(Widen(x)));
  }
};
struct ComplexOp {
  template <typename R>
  static Complex<R> Run(R re, R im) {
    return {re, im};
  }
};
struct Equal {
  template <typename T>
  static bool Run(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <typename T>
  static bool Run(T a, T b) {
    return a != b;
  }
};
// To and from a real number of the same precision, and between the two precisions.
struct FromReal {
  template <typename R>
  static Complex<R> Run(R x) {
    return {x, 0};
  }
};
struct WidenOp {
  static Complex128 Run(Complex64 x) { return Widen(x); }
};
struct NarrowOp {
  static Complex64 Run(Complex128 x) { return NarrowComplex<Complex64>(x); }
};

void SelectTile(const TileCall& call) {
  const auto* condition = static_cast<const bool*>(call.in[0]);
  const auto* a = static_cast<const Complex128*>(call.in[1]);
  const auto* b = static_cast<const Complex128*>(call.in[2]);
  auto* y = static_cast<Complex128*>(call.out);
  const int64_t condition_step = (call.scalars & 1) != 0 ? 0 : 1;
  const int64_t a_step = (call.scalars & 2) != 0 ? 0 : 1;
  const int64_t b_step = (call.scalars & 4) != 0 ? 0 : 1;
  for (int64_t i = 0; i < call.count; ++i) y[i] = condition[i * condition_step] ? a[i * a_step] : b[i * b_step];
}

}  // namespace

#define COMPLEX_TILES(kind, Op, name) kind<Op, Complex64>(name), kind<Op, Complex128>(name)
#define PART_TILES(kind, Op, name) kind<Op, float>(name), kind<Op, double>(name)

const TileOp kComplexTiles[] = {COMPLEX_TILES(ComplexBinary, Add, "add"),
                                COMPLEX_TILES(ComplexBinary, Sub, "sub"),
                                MulOf<Complex64>("mul"),
                                MulOf<Complex128>("mul"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<Quotient>, "div"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<DivNoNan>, "div_no_nan"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<MulNoNan>, "mul_no_nan"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<Xdivy>, "xdivy"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<Xlogy>, "xlogy"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<SquaredDifference>, "squared_difference"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<Pow>, "pow"),
                                COMPLEX_TILES(ComplexUnary, NegOp, "neg"),
                                COMPLEX_TILES(ComplexUnary, ConjOp, "conj"),
                                COMPLEX_TILES(ComplexUnary, CopyOp, "copy"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Square>, "square"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Sign>, "sign"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Reciprocal>, "reciprocal"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Sqrt>, "sqrt"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Rsqrt>, "rsqrt"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Exp>, "exp"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Expm1>, "expm1"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Log>, "log"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Log1p>, "log1p"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Sigmoid>, "sigmoid"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Tanh>, "tanh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Sinh>, "sinh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Cosh>, "cosh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Asinh>, "asinh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Acosh>, "acosh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Atanh>, "atanh"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Sin>, "sin"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Cos>, "cos"),
                                COMPLEX_TILES(ComplexUnary, OfOne<Tan>, "tan"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<ReciprocalGrad>, "reciprocal_grad"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<SqrtGrad>, "sqrt_grad"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<RsqrtGrad>, "rsqrt_grad"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<SigmoidGrad>, "sigmoid_grad"),
                                COMPLEX_TILES(ComplexBinary, OfTwo<TanhGrad>, "tanh_grad"),
                                COMPLEX_TILES(ComplexUnary, RealOp, "real"),
                                COMPLEX_TILES(ComplexUnary, ImagOp, "imag"),
                                COMPLEX_TILES(ComplexUnary, AbsOp, "complex_abs"),
                                COMPLEX_TILES(ComplexUnary, AngleOp, "angle"),
                                PART_TILES(ComplexBinary, ComplexOp, "complex"),
                                COMPLEX_TILES(ComplexBinary, Equal, "equal"),
                                COMPLEX_TILES(ComplexBinary, NotEqual, "not_equal"),
                                COMPLEX_TILES(ComplexUnary, RealOp, "cast"),
                                PART_TILES(ComplexUnary, FromReal, "cast"),
                                ComplexUnary<WidenOp, Complex64>("cast"),
                                ComplexUnary<NarrowOp, Complex128>("cast"),
                                {"select", DType::kComplex128, DType::kComplex128, 3, SelectTile},
                                {}};

}  // namespace stillflow
