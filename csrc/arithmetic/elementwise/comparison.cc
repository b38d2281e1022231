// Comparisons, logic, and choosing by a condition.
#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/choice.h"

namespace stillflow {
namespace {

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
// Of booleans, as bytes: GCC makes no vector code of their comparison.
struct EqualBytes : Equal, Sized {};
struct NotEqualBytes : NotEqual, Sized {};
struct Less {
  template <typename T>
  static bool Run(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <typename T>
  static bool Run(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <typename T>
  static bool Run(T a, T b) {
    return a > b;
  }
};
struct GreaterEqual {
  template <typename T>
  static bool Run(T a, T b) {
    return a >= b;
  }
};
struct LogicalAnd {
  static bool Run(bool a, bool b) { return a & b; }
};
struct LogicalOr {
  static bool Run(bool a, bool b) { return a | b; }
};
struct LogicalNot : Sized {
  static uint8_t Run(uint8_t x) { return x ^ 1; }
};
struct IsNan {
  template <typename T>
  static bool Run(T x) {
    return x != x;
  }
};
struct IsInf {
  template <typename T>
  static bool Run(T x) {
    return Abs(x) > std::numeric_limits<T>::max();
  }
};
struct IsFinite {
  template <typename T>
  static bool Run(T x) {
    return Abs(x) <= std::numeric_limits<T>::max();
  }
};

// |a - b| < tolerance. The difference of integers wraps around at their width.
struct ApproximateEqual : Sized {
  template <typename T>
  static bool Run(T a, T b, T tolerance) {
    const T difference = a > b ? static_cast<T>(a - b) : static_cast<T>(b - a);
    return difference < tolerance;
  }
};

template <typename T>
void SelectTile(const TileCall& call) {
  constexpr int64_t step = kStep<uint8_t, T>;
  const auto* condition = static_cast<const uint8_t*>(call.in[0]);
  const T* a = static_cast<const T*>(call.in[1]);
  const T* b = static_cast<const T*>(call.in[2]);
  T* y = static_cast<T*>(call.out);
  if (call.scalars == 0) {
    ForElements<step>(
        call.count, [=](int64_t i) __attribute__((always_inline)) { y[i] = Choose(condition[i] != 0, a[i], b[i]); });
  } else if (call.scalars == 2) {
    const T scalar = *a;
    ForElements<step>(
        call.count, [=](int64_t i)
                        __attribute__((always_inline)) { y[i] = Choose(condition[i] != 0, scalar, b[i]); });
  } else if (call.scalars == 4) {
    const T scalar = *b;
    ForElements<step>(
        call.count, [=](int64_t i)
                        __attribute__((always_inline)) { y[i] = Choose(condition[i] != 0, a[i], scalar); });
  } else {
    const int64_t condition_step = call.scalars & 1 ? 0 : 1;
    const int64_t a_step = call.scalars & 2 ? 0 : 1;
    const int64_t b_step = call.scalars & 4 ? 0 : 1;
    for (int64_t i = 0; i < call.count; ++i)
      y[i] = Choose(condition[i * condition_step] != 0, a[i * a_step], b[i * b_step]);
  }
}

template <typename Storage>
constexpr TileOp Select(DType type) {
  return {"select", type, type, 3, SelectTile<Storage>};
}

}  // namespace

#define COMPARISON(Op, name) STILLFLOW_NUMBER_TILES(Binary, Op, name)

const TileOp kComparisonTiles[] = {COMPARISON(Equal, "equal"),
                                   OfBits<DType::kBool>(Binary<EqualBytes, uint8_t>("equal")),
                                   COMPARISON(NotEqual, "not_equal"),
                                   OfBits<DType::kBool>(Binary<NotEqualBytes, uint8_t>("not_equal")),
                                   COMPARISON(Less, "less"),
                                   STILLFLOW_WIDE_UNSIGNED_TILES(Binary, Less, "less"),
                                   COMPARISON(LessEqual, "less_equal"),
                                   STILLFLOW_WIDE_UNSIGNED_TILES(Binary, LessEqual, "less_equal"),
                                   COMPARISON(Greater, "greater"),
                                   STILLFLOW_WIDE_UNSIGNED_TILES(Binary, Greater, "greater"),
                                   COMPARISON(GreaterEqual, "greater_equal"),
                                   STILLFLOW_WIDE_UNSIGNED_TILES(Binary, GreaterEqual, "greater_equal"),
                                   Binary<LogicalAnd, bool>("logical_and"),
                                   Binary<LogicalOr, bool>("logical_or"),
                                   OfBits<DType::kBool>(Unary<LogicalNot, uint8_t>("logical_not")),
                                   STILLFLOW_FLOAT_TILES(Unary, IsNan, "is_nan"),
                                   STILLFLOW_FLOAT_TILES(Unary, IsInf, "is_inf"),
                                   STILLFLOW_FLOAT_TILES(Unary, IsFinite, "is_finite"),
                                   STILLFLOW_NUMBER_TILES(Ternary, ApproximateEqual, "approximate_equal"),
                                   Select<uint64_t>(DType::kDouble),
                                   Select<uint64_t>(DType::kInt64),
                                   Select<uint64_t>(DType::kUInt64),
                                   Select<uint64_t>(DType::kComplex64),
                                   Select<uint32_t>(DType::kFloat),
                                   Select<uint32_t>(DType::kInt32),
                                   Select<uint32_t>(DType::kUInt32),
                                   Select<uint16_t>(DType::kHalf),
                                   Select<uint16_t>(DType::kBFloat16),
                                   Select<uint16_t>(DType::kInt16),
                                   Select<uint16_t>(DType::kUInt16),
                                   Select<uint8_t>(DType::kInt8),
                                   Select<uint8_t>(DType::kUInt8),
                                   Select<uint8_t>(DType::kBool),
                                   {}};

}  // namespace stillflow
