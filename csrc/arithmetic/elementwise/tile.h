// tile.h: elementwise operations over consecutive elements.
//
// A TileOp is one operation for one element type. A program (program.h) runs a chain of them tile by tile, so that
// intermediate values stay in cache.
//
// There is code for float, double, and integers of 32 and 64 bits. Operands of narrower types are converted to float
// or int32, and results back, a staging buffer at a time (RunWidened): the bits are the same, and each operation is
// compiled for a third of the types.
#pragma once

#include <algorithm>

#include "arithmetic/math/lanes.h"
#include "arithmetic/math/polynomial.h"

namespace stillflow {

// Invalid operands that an operation met, as bits.
enum TileFault : uint32_t {
  kDivisionByZero = 1,
  kNegativePower = 2,
};

struct TileCall {
  const void* in[3];
  void* out;  // may be one of `in`
  int64_t count;
  uint32_t scalars;  // bit i: in[i] is a scalar, broadcast to all elements
  uint32_t* faults;
  // If not zero, the operand that `scalars` names has one element for each run of so many (operations that take
  // runs).
  int64_t run = 0;
};

using TileFunction = void (*)(const TileCall& call);

struct TileOp {
  const char* name;
  DType type;    // of the operands; for "select" of the branches
  DType result;  // of the output
  int32_t arity;
  TileFunction run;
  bool is_wide = false;    // `run` takes and makes floats or int32 in place of `type`; call RunWidened
  bool is_costly = false;  // takes several times as long as an addition
  bool takes_runs = false;
};

// Runs an operation that is_wide.
void RunWidened(const TileOp& op, const TileCall& call);

// For kernels that apply a single operation: finds it, or returns null, and runs it on any number of elements.
const TileOp* FindTileOp(const char* name, DType type, DType result);
inline void RunTileOp(const TileOp& op, const TileCall& call) { op.is_wide ? RunWidened(op, call) : op.run(call); }

// The operations of each file of this folder, each list ended by an entry without a name.
extern const TileOp kArithmeticTiles[];
extern const TileOp kIntegerTiles[];
extern const TileOp kExponentialTiles[];
extern const TileOp kTrigonometricTiles[];
extern const TileOp kSpecialTiles[];
extern const TileOp kActivationTiles[];
extern const TileOp kComparisonTiles[];
extern const TileOp kCastTiles[];
extern const TileOp kComplexTiles[];

// ---- Loops over elements ------------------------------------------------------------------------------------

// Elements per step of vector code: the narrower type fills a register.
template <typename T, typename Result>
constexpr int64_t kStep =
    kRegisterBytes / static_cast<int64_t>(sizeof(T) < sizeof(Result) ? sizeof(T) : sizeof(Result));

// Calls each(i) for all elements: first whole registers (unrolled twice), then half a register, then the tail one by
// one. The trip counts of the vector loops are multiples of the vector width, so compilers emit no epilogues for
// them.
template <int64_t step, typename Each>
STILLFLOW_INLINE void ForElements(int64_t count, const Each& each) {
  const int64_t whole = count & -step;
#pragma GCC ivdep
#pragma GCC unroll 2
  for (int64_t i = 0; i < whole; ++i) each(i);
  int64_t done = whole;
  if ((count & step / 2) != 0) {
#pragma GCC ivdep
#pragma GCC unroll 1
    for (int64_t i = 0; i < step / 2; ++i) each(done + i);
    done += step / 2;
  }
  for (; done < count; ++done) {
    __asm__("" : "+r"(done));  // keeps vector code out of this loop
    each(done);
  }
}

template <typename Op, typename T>
__attribute__((noinline)) void UnaryTile(const TileCall& call) {
  using Result = decltype(Op::Run(T{}));
  const T* x = static_cast<const T*>(call.in[0]);
  auto* y = static_cast<Result*>(call.out);
  ForElements<kStep<T, Result>>(call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(x[i]); });
}

template <typename Op, typename T>
__attribute__((noinline)) void BinaryTile(const TileCall& call) {
  using Result = decltype(Op::Run(T{}, T{}));
  constexpr int64_t step = kStep<T, Result>;
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  auto* y = static_cast<Result*>(call.out);
  const int64_t run = call.run > 0 ? call.run : call.count;
  if (call.scalars == 2) {
    for (const Result* const end = y + call.count; y < end; y += run, a += run, ++b) {
      const T scalar = *b;
      ForElements<step>(run, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(a[i], scalar); });
    }
  } else if (call.scalars == 1) {
    for (const Result* const end = y + call.count; y < end; y += run, ++a, b += run) {
      const T scalar = *a;
      ForElements<step>(run, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(scalar, b[i]); });
    }
  } else {  // also for one element of each
    ForElements<step>(call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(a[i], b[i]); });
  }
}

// Calls body(part) for parts of at most `size` elements; operands and results are of type T.
template <typename T, typename Body>
void ForParts(const TileCall& call, int64_t size, int arity, const Body& body) {
  TileCall part = call;
  for (int64_t begin = 0; begin < call.count; begin += size) {
    part.count = call.count - begin < size ? call.count - begin : size;
    for (int i = 0; i < arity; ++i) {
      part.in[i] = static_cast<const T*>(call.in[i]) + ((call.scalars >> i & 1) != 0 ? 0 : begin);
    }
    part.out = static_cast<T*>(call.out) + begin;
    body(part);
  }
}

// The number of elements of operand `in`.
inline int64_t OperandCount(const TileCall& call, int in) {
  return (call.scalars >> in & 1) != 0 && call.count > 1 ? 1 : call.count;
}

// Elements that are tested for special cases together.
constexpr int64_t kPlainBlock = 1024;

// Runs Op::RunPlain, which is valid where Op::Measure is at most Op::kMostPlain; returns whether it is everywhere.
template <typename Op, typename T>
__attribute__((noinline)) bool RunPlainBlock(const T* x, T* y, int64_t count) {
  BitsOf<T> largest = 0;
  ForElements<kStep<T, T>>(
      count, [ x, y, &largest ](int64_t i) __attribute__((always_inline)) {
        const auto measured = Op::Measure(x[i]);
        largest = measured > largest ? measured : largest;
        y[i] = Op::RunPlain(x[i]);
      });
  return largest <= Op::template kMostPlain<T>;
}

// Run the general form of an operation: on all elements of a block, or only where the plain one is not valid.
template <typename Op, typename T>
void RunBlock(const T* x, T* y, int64_t count) {
  UnaryTile<Op, T>(TileCall{{x}, y, count, 0, nullptr});
}
template <typename Op, typename T>
void RunOthers(const T* x, T* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (Op::Measure(x[i]) > Op::template kMostPlain<T>) y[i] = Op::Run(x[i]);
  }
}

template <typename Op, typename T, void (*rest)(const T*, T*, int64_t)>
void PlainTile(const TileCall& call) {
  T saved[kPlainBlock];
  ForParts<T>(call, kPlainBlock, 1, [&saved](const TileCall& part) {
    const T* x = static_cast<const T*>(part.in[0]);
    T* y = static_cast<T*>(part.out);
    if (x == y) x = static_cast<const T*>(std::memcpy(saved, x, part.count * sizeof(T)));
    if (!RunPlainBlock<Op>(x, y, part.count)) rest(x, y, part.count);
  });
}

// For operations that do not vectorize.
template <typename Op, typename T>
void BinaryTileOneByOne(const TileCall& call) {
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  const int64_t a_step = call.scalars & 1 ? 0 : 1;
  const int64_t b_step = call.scalars & 2 ? 0 : 1;
  T* y = static_cast<T*>(call.out);
  for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(a[i * a_step], b[i * b_step]);
}

// Vector code for the usual cases: the last operand is a scalar, or the last two are.
template <typename Op, typename T>
void TernaryTile(const TileCall& call) {
  using Result = decltype(Op::Run(T{}, T{}, T{}));
  const T* a = static_cast<const T*>(call.in[0]);
  const T* b = static_cast<const T*>(call.in[1]);
  const T* c = static_cast<const T*>(call.in[2]);
  auto* y = static_cast<Result*>(call.out);
  if (call.scalars == 4) {
    const T scalar = *c;
    return ForElements<kStep<T, Result>>(
        call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(a[i], b[i], scalar); });
  }
  if (call.scalars == 6) {
    const T first = *b;
    const T second = *c;
    return ForElements<kStep<T, Result>>(
        call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Op::Run(a[i], first, second); });
  }
  const int64_t a_step = call.scalars & 1 ? 0 : 1;
  const int64_t b_step = call.scalars & 2 ? 0 : 1;
  const int64_t c_step = call.scalars & 4 ? 0 : 1;
  for (int64_t i = 0; i < call.count; ++i) y[i] = Op::Run(a[i * a_step], b[i * b_step], c[i * c_step]);
}

// ---- Listing operations -------------------------------------------------------------------------------------

// Base classes that mark operations: costly ones, and those whose result depends on the width of a small integer.
struct Costly {};
struct Sized {};

template <typename T>
constexpr bool kIsSmallInteger = std::is_integral_v<T> && sizeof(T) < 4 && !std::is_same_v<T, bool>;
template <typename Op, typename T>
constexpr bool kIsWidened =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> || (kIsSmallInteger<T> && !std::is_base_of_v<Sized, Op>);

// The type that elements of type T are computed in.
template <typename Op, typename T>
using Worked = std::conditional_t<kIsWidened<Op, T>, std::conditional_t<kIsSmallInteger<T>, int32_t, float>, T>;

// The entry of an operation on T whose function computes a Result.
template <typename Op, typename T, typename Result>
constexpr TileOp TileOpOf(const char* name, int32_t arity, TileFunction run) {
  const bool is_narrowed = kIsWidened<Op, T> && std::is_same_v<Result, Worked<Op, T>>;
  const DType result = is_narrowed ? DTypeOf<T>() : DTypeOf<Result>();
  return {name, DTypeOf<T>(), result, arity, run, kIsWidened<Op, T>, std::is_base_of_v<Costly, Op>};
}

// The same entry for another type of the same size, for operations on bits.
template <DType kType>
constexpr TileOp OfBits(TileOp op) {
  if (op.result == op.type) op.result = kType;
  op.type = kType;
  return op;
}

template <typename Op, typename T>
constexpr TileOp Unary(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, decltype(Op::Run(W{}))>(name, 1, UnaryTile<Op, W>);
}

// Operations with a plain form: the general one vectorizes (UnaryOfPlain), or is run on single elements.
template <typename Op, typename T>
constexpr TileOp UnaryOfPlain(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 1, PlainTile<Op, W, RunBlock<Op, W>>);
}
template <typename Op, typename T>
constexpr TileOp UnaryOfMostlyPlain(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 1, PlainTile<Op, W, RunOthers<Op, W>>);
}

template <typename Op, typename T>
constexpr TileOp Binary(const char* name) {
  using W = Worked<Op, T>;
  TileOp op = TileOpOf<Op, T, decltype(Op::Run(W{}, W{}))>(name, 2, BinaryTile<Op, W>);
  op.takes_runs = !op.is_wide;
  return op;
}

template <typename Op, typename T>
constexpr TileOp BinaryOneByOne(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 2, BinaryTileOneByOne<Op, W>);
}

template <typename Op, typename T>
constexpr TileOp Ternary(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, decltype(Op::Run(W{}, W{}, W{}))>(name, 3, TernaryTile<Op, W>);
}

// Declares Name##Op, which applies the function Name.
#define STILLFLOW_UNARY_OP(Name)         \
  struct Name##Op : Costly {             \
    template <typename T>                \
    STILLFLOW_INLINE static T Run(T x) { \
      return Name(x);                    \
    }                                    \
  };

// The same for a function `Full` with a cheaper form `Plain` that is valid where `measure` is at most `most`
// (UnaryOfPlain, UnaryOfMostlyPlain).
#define STILLFLOW_PLAIN_OP(Name, Full, Plain, most, measure) \
  struct Name##Op : Costly {                                 \
    template <typename T>                                    \
    static constexpr BitsOf<T> kMostPlain = most;            \
    template <typename T>                                    \
    STILLFLOW_INLINE static BitsOf<T> Measure(T x) {         \
      return measure;                                        \
    }                                                        \
    template <typename T>                                    \
    STILLFLOW_INLINE static T RunPlain(T x) {                \
      return Plain(x);                                       \
    }                                                        \
    template <typename T>                                    \
    STILLFLOW_INLINE static T Run(T x) {                     \
      return Full(x);                                        \
    }                                                        \
  };

// Entries of an operation for groups of types: all floating-point types; float and double; the integers that most
// operations support; both; the remaining unsigned integers; all integers; all integers, computed as unsigned.
#define STILLFLOW_FLOAT_TILES(kind, Op, name) \
  kind<Op, float>(name), kind<Op, double>(name), kind<Op, Half>(name), kind<Op, BFloat16>(name)
#define STILLFLOW_PLAIN_FLOAT_TILES(Op, name) /* where only floats have a plain form */ \
  UnaryOfPlain<Op, float>(name), Unary<Op, double>(name), UnaryOfPlain<Op, Half>(name), \
      UnaryOfPlain<Op, BFloat16>(name)
#define STILLFLOW_PLAIN_DOUBLE_TILES(Op, name) /* where only doubles have */ \
  Unary<Op, float>(name), UnaryOfPlain<Op, double>(name), Unary<Op, Half>(name), Unary<Op, BFloat16>(name)
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
#define STILLFLOW_BITS_TILES(kind, Op, name)                                                             \
  kind<Op, uint64_t>(name), kind<Op, uint32_t>(name), kind<Op, uint16_t>(name), kind<Op, uint8_t>(name), \
      OfBits<DType::kInt64>(kind<Op, uint64_t>(name)), OfBits<DType::kInt32>(kind<Op, uint32_t>(name)),  \
      OfBits<DType::kInt16>(kind<Op, uint16_t>(name)), OfBits<DType::kInt8>(kind<Op, uint8_t>(name))

}  // namespace stillflow
