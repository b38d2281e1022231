// tile.h: elementwise operations over a run of consecutive elements.
//
// A TileOp is one operation for one element type. A chain of them is run tile by tile (program.h), so that
// what lies between two operations stays in cache.
#pragma once

#include "math/scalar.h"

namespace stillflow {

// What an operation met in its values; several may be set.
enum TileFault : uint32_t {
  kDivisionByZero = 1,
  kNegativePower = 2,
};

struct TileCall {
  const void* in[3];
  void* out;  // may be one of `in`
  int64_t count;
  uint32_t scalars;  // bit i: in[i] is a single element that stands for all
  uint32_t* faults;
};

using TileFunction = void (*)(const TileCall& call);

struct TileOp {
  const char* name;
  DType type;    // of the operands; for "select" of the branches
  DType result;  // of the output
  int32_t arity;
  TileFunction run;
};

// The operations of each file of this folder, each list ended by an entry without a name.
extern const TileOp kArithmeticTiles[];
extern const TileOp kIntegerTiles[];
extern const TileOp kExponentialTiles[];
extern const TileOp kTrigonometricTiles[];
extern const TileOp kSpecialTiles[];
extern const TileOp kActivationTiles[];
extern const TileOp kComparisonTiles[];
extern const TileOp kCastTiles[];

// Wraps an operation on wide types so that it takes and returns T, rounding once.
template <typename T, typename Op, typename... Args>
STILLFLOW_INLINE auto Apply(Args... args) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    const auto result = Op::Run(Widen(args)...);
    if constexpr (std::is_same_v<decltype(result), const float>) {
      return Narrow<T>(result);
    } else {
      return result;
    }
  } else {
    return Op::Run(args...);
  }
}

template <typename T>
inline void Fill(T value, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

template <typename Op, typename T>
void UnaryTile(const TileCall& call) {
  using Result = decltype(Apply<T, Op>(T{}));
  const T* x = static_cast<const T*>(call.in[0]);
  auto* y = static_cast<Result*>(call.out);
  if (call.scalars != 0) return Fill(Apply<T, Op>(*x), call.count, y);
#pragma GCC ivdep
  for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(x[i]);
}

template <typename Op, typename T>
void BinaryTile(const TileCall& call) {
  using Result = decltype(Apply<T, Op>(T{}, T{}));
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  auto* y = static_cast<Result*>(call.out);
  if (call.scalars == 3) {
    Fill(Apply<T, Op>(*a, *b), call.count, y);
  } else if (call.scalars == 2) {
    const T scalar = *b;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(a[i], scalar);
  } else if (call.scalars == 1) {
    const T scalar = *a;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(scalar, b[i]);
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(a[i], b[i]);
  }
}

// The last operand is mostly a number.
template <typename Op, typename T>
void TernaryTile(const TileCall& call) {
  using Result = decltype(Apply<T, Op>(T{}, T{}, T{}));
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  const T* c = static_cast<const T*>(call.in[2]);
  auto* y = static_cast<Result*>(call.out);
  if (call.scalars == 4) {
    const T scalar = *c;
#pragma GCC ivdep
    for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(a[i], b[i], scalar);
    return;
  }
  const int64_t a_step = call.scalars & 1 ? 0 : 1;
  const int64_t b_step = call.scalars & 2 ? 0 : 1;
  const int64_t c_step = call.scalars & 4 ? 0 : 1;
  for (int64_t i = 0; i < call.count; ++i) y[i] = Apply<T, Op>(a[i * a_step], b[i * b_step], c[i * c_step]);
}

template <typename Op, typename T>
constexpr TileOp Unary(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<decltype(Apply<T, Op>(T{}))>(), 1, UnaryTile<Op, T>};
}

template <typename Op, typename T>
constexpr TileOp Binary(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<decltype(Apply<T, Op>(T{}, T{}))>(), 2, BinaryTile<Op, T>};
}

template <typename Op, typename T>
constexpr TileOp Ternary(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<decltype(Apply<T, Op>(T{}, T{}, T{}))>(), 3, TernaryTile<Op, T>};
}

// An operation that is a function of one number by another name.
#define STILLFLOW_UNARY_OP(Name)         \
  struct Name##Op {                      \
    template <typename T>                \
    STILLFLOW_INLINE static T Run(T x) { \
      return Name(x);                    \
    }                                    \
  };

// Lists an operation for all floating-point types, for float and double alone, for the integers that TensorFlow
// computes with, for both, for the integers that it rarely computes with, or for all integers.
#define STILLFLOW_FLOAT_TILES(kind, Op, name) \
  kind<Op, float>(name), kind<Op, double>(name), kind<Op, Half>(name), kind<Op, BFloat16>(name)
#define STILLFLOW_WIDE_FLOAT_TILES(kind, Op, name) kind<Op, float>(name), kind<Op, double>(name)
#define STILLFLOW_INTEGER_TILES(kind, Op, name)                                                      \
  kind<Op, int64_t>(name), kind<Op, int32_t>(name), kind<Op, int16_t>(name), kind<Op, int8_t>(name), \
      kind<Op, uint8_t>(name)
#define STILLFLOW_NUMBER_TILES(kind, Op, name) \
  STILLFLOW_FLOAT_TILES(kind, Op, name), STILLFLOW_INTEGER_TILES(kind, Op, name)
#define STILLFLOW_WIDE_UNSIGNED_TILES(kind, Op, name) \
  kind<Op, uint16_t>(name), kind<Op, uint32_t>(name), kind<Op, uint64_t>(name)
#define STILLFLOW_ALL_INTEGER_TILES(kind, Op, name) \
  STILLFLOW_INTEGER_TILES(kind, Op, name), STILLFLOW_WIDE_UNSIGNED_TILES(kind, Op, name)

}  // namespace stillflow
