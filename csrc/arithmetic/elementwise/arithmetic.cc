// Sums, products, quotients, signs, roundings: what needs no approximation. Integers wrap around.
#include <cmath>

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/activation.h"
#include "arithmetic/math/root.h"

namespace stillflow {
namespace {

// Integer arithmetic is done in unsigned types, where overflow is defined.
template <typename T>
using Wrapping = std::make_unsigned_t<T>;

template <typename T, typename Fn>
inline T Wrap(T a, T b, Fn fn) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(fn(static_cast<Wrapping<T>>(a), static_cast<Wrapping<T>>(b)));
  } else {
    return fn(a, b);
  }
}

struct Add {
  template <typename T>
  static T Run(T a, T b) {
    return Wrap(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Sub {
  template <typename T>
  static T Run(T a, T b) {
    return Wrap(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Mul {
  template <typename T>
  static T Run(T a, T b) {
    return Wrap(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct Div {
  template <typename T>
  static T Run(T a, T b) {
    return a / b;
  }
};
struct DivNoNan {
  template <typename T>
  static T Run(T a, T b) {
    return b == 0 ? T{0} : a / b;
  }
};
// x / y, and 0 for x = 0 whatever y is.
struct Xdivy {
  template <typename T>
  static T Run(T a, T b) {
    return a == 0 ? T{0} : a / b;
  }
};
struct MulNoNan {
  template <typename T>
  static T Run(T a, T b) {
    return b == 0 ? T{0} : a * b;
  }
};
struct SquaredDifference {
  template <typename T>
  static T Run(T a, T b) {
    const T difference = Sub::Run(a, b);
    return Mul::Run(difference, difference);
  }
};
// a unless b is beyond it: a NaN stays on the left and is passed over on the right, as in TensorFlow. Not by the
// instructions of x86, which make zeros of denormal numbers: they would be the compiler's choice.
struct Maximum {
  template <typename T>
  static T Run(T a, T b) {
    return a < b ? b : a;
  }
};
struct Minimum {
  template <typename T>
  static T Run(T a, T b) {
    return b < a ? b : a;
  }
};
struct Clip {
  template <typename T>
  static T Run(T x, T most, T least) {
    return Maximum::Run(Minimum::Run(x, most), least);
  }
};
// a - n b for the integer n nearest to the quotient: exact where n has few bits and no number is denormal. NaN for
// others.
template <typename T>
STILLFLOW_INLINE T NearestRemainder(T a, T b) {
  using Bits = BitsOf<T>;
  constexpr T kMostQuotient = FloatFormat<T>::kShift / 6;
  constexpr T kLeastDivisor = sizeof(T) == 4 ? T{0x1p-100} : T{0x1p-960};
  constexpr Bits kSmallest = Bits{1} << FloatFormat<T>::kMantissaBits;
  const T divisor = Abs(b);
  const bool is_denormal = BitCast<Bits>(Abs(a)) - 1 < kSmallest - 1;
  const bool is_plain = (Abs(a) < divisor * kMostQuotient) & (divisor >= kLeastDivisor) & (divisor < kInfinity<T>);
  const T remainder = Fma(-RoundSmall(a / b), b, a);
  return is_plain & !is_denormal ? remainder : kNan<T>;
}

// With the sign of the divisor. RunPlain gives the same, or NaN.
struct FloorModFloat : Costly {
  template <typename T>
  static T Run(T a, T b) {
    const T remainder = std::fmod(a, b);
    const bool differs = (remainder != 0) & ((remainder < 0) != (b < 0));
    return differs ? remainder + b : remainder;
  }
  template <typename T>
  STILLFLOW_INLINE static T RunPlain(T a, T b) {
    const T remainder = NearestRemainder(a, b);
    const T with_sign = (remainder < 0) != (b < 0) ? remainder + b : remainder;
    return remainder == 0 ? CopySign(T{0}, a) : with_sign;
  }
};
// With the sign of the dividend.
struct TruncateModFloat : Costly {
  template <typename T>
  static T Run(T a, T b) {
    return std::fmod(a, b);
  }
  template <typename T>
  STILLFLOW_INLINE static T RunPlain(T a, T b) {
    const T remainder = NearestRemainder(a, b);
    const T with_sign = (remainder < 0) != (a < 0) ? remainder + CopySign(b, a) : remainder;
    return remainder == 0 ? CopySign(T{0}, a) : with_sign;
  }
};

template <typename Op>
struct PlainOf {
  template <typename T>
  STILLFLOW_INLINE static T Run(T a, T b) {
    return Op::RunPlain(a, b);
  }
};

// Block by block, with vector code where all numbers are plain.
template <typename Op, typename T>
void RemainderTile(const TileCall& call) {
  constexpr int64_t kBlock = 256;
  T made[kBlock];
  ForParts<T>(call, kBlock, 2, [&made](const TileCall& part) {
    TileCall staged = part;
    staged.out = made;
    BinaryTile<PlainOf<Op>, T>(staged);
    IntOf<T> others = 0;
    for (int64_t i = 0; i < part.count; ++i) others += made[i] != made[i] ? 1 : 0;
    if (others != 0) BinaryTileOneByOne<Op, T>(staged);
    std::memcpy(part.out, made, static_cast<size_t>(part.count) * sizeof(T));
  });
}

template <typename Op, typename T>
constexpr TileOp OfRemainder(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 2, RemainderTile<Op, W>);
}

struct FloorDivFloat {
  template <typename T>
  static T Run(T a, T b) {
    return std::floor(a / b);
  }
};

struct NegOp {
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(x));
    } else {
      return -x;
    }
  }
};
// Of a 16-bit float, NaN too.
struct NegBits : Sized {
  static uint16_t Run(uint16_t x) { return x ^ 0x8000; }
};
struct AbsBits : Sized {
  static uint16_t Run(uint16_t x) { return x & 0x7FFF; }
};
struct AbsOp {
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_integral_v<T>) {
      return x < 0 ? NegOp::Run(x) : x;
    } else {
      return Abs(x);
    }
  }
};
struct SquareOp {
  template <typename T>
  static T Run(T x) {
    return Mul::Run(x, x);
  }
};
struct SignOp {
  template <typename T>
  static T Run(T x) {
    return static_cast<T>(static_cast<int>(x > 0) - static_cast<int>(x < 0));  // 0 of -0 and NaN, as in TensorFlow
  }
};
struct ReciprocalOp {
  template <typename T>
  static T Run(T x) {
    return 1.0f / x;
  }
};
struct SqrtOp {
  template <typename T>
  static T Run(T x) {
    return Sqrt(x);
  }
};
template <typename T>
void RootTile(const TileCall& call) {
  StoreRoots(static_cast<const T*>(call.in[0]), static_cast<T*>(call.out), call.count);
}
template <typename Op, typename T>
constexpr TileOp OfRoot(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 1, RootTile<W>);
}

struct RsqrtOp {
  template <typename T>
  static T Run(T x) {
    return Rsqrt(x);
  }
};
struct FloorOp {
  template <typename T>
  static T Run(T x) {
    return std::floor(x);
  }
};
struct CeilOp {
  template <typename T>
  static T Run(T x) {
    return std::ceil(x);
  }
};
struct RintOp {
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_integral_v<T>) {
      return x;
    } else {
      return std::nearbyint(x);
    }
  }
};
struct CopyOp {
  template <typename T>
  static T Run(T x) {
    return x;
  }
};

// The number of the type that is next to x on the way to y.
struct NextAfter {
  template <typename T>
  static T Run(T x, T y) {
    using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
    constexpr Bits kSign = std::numeric_limits<Bits>::min();
    const auto bits = BitCast<Bits>(x);
    const Bits from_zero = (BitCast<Bits>(y) & kSign) | 1;
    const Bits outward = (x < y) == (x > T{0}) ? Bits{1} : Bits{-1};
    const T next = BitCast<T>(x == T{0} ? from_zero : static_cast<Bits>(bits + outward));
    return x != x || y != y ? x + y : x == y ? y : next;
  }
};

// Gradients, of y = f(x) and the gradient dy. See TensorFlow's *Grad ops for which of x and y they take. A gradient
// of 0 stays 0, also where the derivative is infinite or NaN.
struct ReciprocalGrad {
  template <typename T>
  static T Run(T y, T dy) {
    return dy == 0 ? T{0} : (-dy) * (y * y);
  }
};
struct SqrtGrad {
  template <typename T>
  static T Run(T y, T dy) {
    return dy == 0 ? T{0} : dy * T{0.5} / y;
  }
};
struct RsqrtGrad {
  template <typename T>
  static T Run(T y, T dy) {
    return dy == 0 ? T{0} : T{-0.5} * (dy * y) * (y * y);
  }
};

}  // namespace

const TileOp kArithmeticTiles[] = {
    STILLFLOW_NUMBER_TILES(Binary, Add, "add"),
    OfBits<DType::kUInt64>(Binary<Add, int64_t>("add")),
    OfBits<DType::kUInt32>(Binary<Add, int32_t>("add")),
    Binary<Add, uint16_t>("add"),
    STILLFLOW_NUMBER_TILES(Binary, Sub, "sub"),
    Binary<Sub, uint16_t>("sub"),
    STILLFLOW_NUMBER_TILES(Binary, Mul, "mul"),
    Binary<Mul, uint16_t>("mul"),
    STILLFLOW_FLOAT_TILES(Binary, Div, "div"),
    STILLFLOW_FLOAT_TILES(Binary, Div, "truncate_div"),  // not truncated, as in TensorFlow
    STILLFLOW_FLOAT_TILES(Binary, DivNoNan, "div_no_nan"),
    STILLFLOW_FLOAT_TILES(Binary, Xdivy, "xdivy"),
    STILLFLOW_FLOAT_TILES(Binary, MulNoNan, "mul_no_nan"),
    STILLFLOW_NUMBER_TILES(Binary, SquaredDifference, "squared_difference"),
    STILLFLOW_WIDE_FLOAT_TILES(Binary, NextAfter, "next_after"),
    STILLFLOW_NUMBER_TILES(Binary, Maximum, "maximum"),
    STILLFLOW_NUMBER_TILES(Binary, Minimum, "minimum"),
    STILLFLOW_NUMBER_TILES(Ternary, Clip, "clip"),
    STILLFLOW_FLOAT_TILES(OfRemainder, FloorModFloat, "floor_mod"),
    STILLFLOW_FLOAT_TILES(OfRemainder, TruncateModFloat, "truncate_mod"),
    STILLFLOW_FLOAT_TILES(Binary, FloorDivFloat, "floor_div"),
    STILLFLOW_WIDE_FLOAT_TILES(Unary, NegOp, "neg"),
    STILLFLOW_INTEGER_TILES(Unary, NegOp, "neg"),
    OfBits<DType::kHalf>(Unary<NegBits, uint16_t>("neg")),
    OfBits<DType::kBFloat16>(Unary<NegBits, uint16_t>("neg")),
    STILLFLOW_WIDE_FLOAT_TILES(Unary, AbsOp, "abs"),
    STILLFLOW_INTEGER_TILES(Unary, AbsOp, "abs"),
    OfBits<DType::kHalf>(Unary<AbsBits, uint16_t>("abs")),
    OfBits<DType::kBFloat16>(Unary<AbsBits, uint16_t>("abs")),
    STILLFLOW_NUMBER_TILES(Unary, SquareOp, "square"),
    STILLFLOW_NUMBER_TILES(Unary, SignOp, "sign"),
    STILLFLOW_FLOAT_TILES(Unary, ReciprocalOp, "reciprocal"),
    STILLFLOW_WIDE_FLOAT_TILES(OfRoot, SqrtOp, "sqrt"),
    OfRoot<SqrtOp, Half>("sqrt"),
    Unary<SqrtOp, BFloat16>("sqrt"),
    STILLFLOW_FLOAT_TILES(Unary, RsqrtOp, "rsqrt"),
    STILLFLOW_FLOAT_TILES(Unary, FloorOp, "floor"),
    STILLFLOW_FLOAT_TILES(Unary, CeilOp, "ceil"),
    STILLFLOW_NUMBER_TILES(Unary, RintOp, "rint"),
    STILLFLOW_NUMBER_TILES(Unary, CopyOp, "copy"),
    Unary<CopyOp, bool>("copy"),
    STILLFLOW_FLOAT_TILES(Binary, ReciprocalGrad, "reciprocal_grad"),
    STILLFLOW_FLOAT_TILES(Binary, SqrtGrad, "sqrt_grad"),
    STILLFLOW_FLOAT_TILES(Binary, RsqrtGrad, "rsqrt_grad"),
    {}};

}  // namespace stillflow
