// Exponentials, logarithms, powers, and the hyperbolic functions.
#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/activation.h"
#include "arithmetic/math/hyperbolic.h"
#include "arithmetic/math/power.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Expm1)
STILLFLOW_UNARY_OP(Sigmoid)
STILLFLOW_UNARY_OP(Tanh)
STILLFLOW_UNARY_OP(Sinh)

constexpr uint64_t kBitsOfOne = 0x3FF0000000000000;

STILLFLOW_PLAIN_OP(Exp, Exp, NormalExp, kMostBitsOfLogarithm<T>, MagnitudeBits(x))
STILLFLOW_PLAIN_OP(Log, Log, LogOfPlain, kMostBitsFromLeast<T>, BitsFromLeast(x, kPlainOffset<T>))
STILLFLOW_PLAIN_OP(Log1p, Log1p, Log1pOfPlain, kMostBitsOfLog1p<T>, BitsAboveSmallest(1 + x))
STILLFLOW_PLAIN_OP(Cosh, Cosh, CoshOfPlain, kMostBitsOfHyperbolic<T>, MagnitudeBits(x))
STILLFLOW_PLAIN_OP(Asinh, Asinh, AsinhOfPlain, kMostBitsOfSquare, MagnitudeBits(x))
STILLFLOW_PLAIN_OP(Acosh, Acosh, AcoshOfPlain, kMostBitsOfSquare - kBitsOfOne, BitCast<uint64_t>(x) - kBitsOfOne)
STILLFLOW_PLAIN_OP(Atanh, Atanh, AtanhOfPlain, kMostBitsBelowOne<T>, MagnitudeBits(x))

struct PowOp : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x, T y) {
    return Pow(x, y);
  }
};
// The logarithms of powers, where x is plain to LogOfPlain and the power is a normal number; tells whether it is so
// everywhere. That the powers are taken in a loop of their own lets more of both loops' steps overlap.
template <typename T>
bool LogsOfPowers(const TileCall& call, T* high, T* low) {
  const T* x = static_cast<const T*>(call.in[0]);
  const T* y = static_cast<const T*>(call.in[1]);
  BitsOf<T> largest_base = 0;
  BitsOf<T> largest_log = 0;
  const auto each = [ =, &largest_base, &largest_log ](int64_t i, T a, T b) __attribute__((always_inline)) {
    const SumOfTwo<T> log = LogOfPlainPower(a, b);
    const BitsOf<T> base_bits = BitsFromLeast(a, kPlainOffset<T>);
    const BitsOf<T> log_bits = MagnitudeBits(log.high);
    largest_base = base_bits > largest_base ? base_bits : largest_base;
    largest_log = log_bits > largest_log ? log_bits : largest_log;
    high[i] = log.high;
    low[i] = log.low;
  };
  constexpr int64_t step = kStep<T, T>;
  if (call.scalars == 2) {
    const T scalar = *y;
    ForElements<step>(call.count, [=](int64_t i) __attribute__((always_inline)) { each(i, x[i], scalar); });
  } else if (call.scalars == 1) {
    const T scalar = *x;
    ForElements<step>(call.count, [=](int64_t i) __attribute__((always_inline)) { each(i, scalar, y[i]); });
  } else {
    ForElements<step>(call.count, [=](int64_t i) __attribute__((always_inline)) { each(i, x[i], y[i]); });
  }
  return largest_base <= kMostBitsFromLeast<T> && largest_log <= kMostBitsOfPowerLog<T>;
}

template <typename T>
void PowTile(const TileCall& call) {
  constexpr int64_t kBlock = kPlainBlock / 2;  // both parts stay in the first-level cache
  T high[kBlock];
  T low[kBlock];
  ForParts<T>(call, kBlock, 2, [&high, &low](const TileCall& part) {
    if (!LogsOfPowers(part, high, low)) return BinaryTile<PowOp, T>(part);
    T* powers = static_cast<T*>(part.out);
    ForElements<kStep<T, T>>(
        part.count, [ powers, high = high, low = low ](int64_t i)
                        __attribute__((always_inline)) { powers[i] = NormalPower(SumOfTwo<T>{high[i], low[i]}); });
  });
}

template <typename Op, typename T>
constexpr TileOp OfPower(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 2, PowTile<W>);
}

// x log y, and 0 for x = 0 whatever y is. Of two NaNs it is x: a product's could be either, as the compiler has it.
struct XlogyOp : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x, T y) {
    const T product = x * Log(y);
    return x == 0 ? T{0} : (x != x ? x : product);
  }
};

// Gradients, of y = f(x) and the gradient dy.
struct SigmoidGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T y, T dy) {
    return dy * (1 - y) * y;
  }
};
struct TanhGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T y, T dy) {
    return dy * (1 - y * y);
  }
};

}  // namespace

const TileOp kExponentialTiles[] = {
    STILLFLOW_FLOAT_TILES(UnaryOfPlain, ExpOp, "exp"),     STILLFLOW_FLOAT_TILES(Unary, Expm1Op, "expm1"),
    STILLFLOW_FLOAT_TILES(UnaryOfPlain, LogOp, "log"),     STILLFLOW_FLOAT_TILES(UnaryOfPlain, Log1pOp, "log1p"),
    STILLFLOW_FLOAT_TILES(Unary, SigmoidOp, "sigmoid"),    STILLFLOW_FLOAT_TILES(Unary, TanhOp, "tanh"),
    STILLFLOW_FLOAT_TILES(Unary, SinhOp, "sinh"),          STILLFLOW_FLOAT_TILES(UnaryOfPlain, CoshOp, "cosh"),
    STILLFLOW_PLAIN_DOUBLE_TILES(AsinhOp, "asinh"),        STILLFLOW_PLAIN_DOUBLE_TILES(AcoshOp, "acosh"),
    STILLFLOW_FLOAT_TILES(UnaryOfPlain, AtanhOp, "atanh"), STILLFLOW_FLOAT_TILES(OfPower, PowOp, "pow"),
    STILLFLOW_FLOAT_TILES(Binary, XlogyOp, "xlogy"),       STILLFLOW_FLOAT_TILES(Binary, SigmoidGrad, "sigmoid_grad"),
    STILLFLOW_FLOAT_TILES(Binary, TanhGrad, "tanh_grad"),  {}};

}  // namespace stillflow
