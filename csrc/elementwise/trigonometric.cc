// Sines, cosines, tangents and their inverses.
#include "math/trigonometric.h"

#include <algorithm>

#include "elementwise/tile.h"
#include "math/inverse_trigonometric.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Asin)
STILLFLOW_UNARY_OP(Acos)
STILLFLOW_UNARY_OP(Atan)

struct Atan2Op {
  template <typename T>
  STILLFLOW_INLINE static T Run(T y, T x) {
    return Atan2(y, x);
  }
};

// Functions of an angle have a second form for large angles.
#define ANGLE_OP(Name)                   \
  struct Name##Op {                      \
    template <typename T>                \
    STILLFLOW_INLINE static T Run(T x) { \
      return Name(x);                    \
    }                                    \
    template <typename T>                \
    static T RunLarge(T x) {             \
      return Name##Large(x);             \
    }                                    \
  };
ANGLE_OP(Sin)
ANGLE_OP(Cos)
ANGLE_OP(Tan)

template <typename Op, typename T>
void Map(const T* from, T* to, int64_t count) {
  MapAngles(
      from, to, count, [](T x) __attribute__((always_inline)) { return Op::Run(x); },
      [](T x) { return Op::RunLarge(x); });
}

template <typename Op, typename T>
void AngleTile(const TileCall& call) {
  const T* x = static_cast<const T*>(call.in[0]);
  T* y = static_cast<T*>(call.out);
  const int64_t count = call.scalars != 0 ? 1 : call.count;
  if constexpr (std::is_floating_point_v<T>) {
    Map<Op>(x, y, count);
  } else {
    constexpr int64_t kBlock = 256;
    float wide[kBlock];
    for (int64_t begin = 0; begin < count; begin += kBlock) {
      const int64_t size = std::min(kBlock, count - begin);
      for (int64_t i = 0; i < size; ++i) wide[i] = Widen(x[begin + i]);
      Map<Op>(wide, wide, size);
      for (int64_t i = 0; i < size; ++i) y[begin + i] = Narrow<T>(wide[i]);
    }
  }
  if (call.scalars != 0) Fill(*y, call.count, y);
}

template <typename Op, typename T>
constexpr TileOp OfAngle(const char* name) {
  return {name, DTypeOf<T>(), DTypeOf<T>(), 1, AngleTile<Op, T>};
}

}  // namespace

const TileOp kTrigonometricTiles[] = {
    STILLFLOW_FLOAT_TILES(OfAngle, SinOp, "sin"),    STILLFLOW_FLOAT_TILES(OfAngle, CosOp, "cos"),
    STILLFLOW_FLOAT_TILES(OfAngle, TanOp, "tan"),    STILLFLOW_FLOAT_TILES(Unary, AsinOp, "asin"),
    STILLFLOW_FLOAT_TILES(Unary, AcosOp, "acos"),    STILLFLOW_FLOAT_TILES(Unary, AtanOp, "atan"),
    STILLFLOW_FLOAT_TILES(Binary, Atan2Op, "atan2"), {}};

}  // namespace stillflow
