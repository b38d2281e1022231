// Sines, cosines, tangents and their inverses.
#include "math/trigonometric.h"

#include "elementwise/tile.h"
#include "math/inverse_trigonometric.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Asin)
STILLFLOW_UNARY_OP(Acos)
STILLFLOW_UNARY_OP(Atan)

struct Atan2Op : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T y, T x) {
    return Atan2(y, x);
  }
};

// Functions of an angle have a second form for large angles.
#define ANGLE_OP(Name)                   \
  struct Name##Op : Costly {             \
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
void AngleTile(const TileCall& call) {
  MapAngles(
      static_cast<const T*>(call.in[0]), static_cast<T*>(call.out), call.count,
      [](T x) __attribute__((always_inline)) { return Op::Run(x); }, [](T x) { return Op::RunLarge(x); });
}

template <typename Op, typename T>
constexpr TileOp OfAngle(const char* name) {
  using W = Worked<Op, T>;
  return TileOpOf<Op, T, W>(name, 1, AngleTile<Op, W>);
}

}  // namespace

const TileOp kTrigonometricTiles[] = {
    STILLFLOW_FLOAT_TILES(OfAngle, SinOp, "sin"),    STILLFLOW_FLOAT_TILES(OfAngle, CosOp, "cos"),
    STILLFLOW_FLOAT_TILES(OfAngle, TanOp, "tan"),    STILLFLOW_FLOAT_TILES(Unary, AsinOp, "asin"),
    STILLFLOW_FLOAT_TILES(Unary, AcosOp, "acos"),    STILLFLOW_FLOAT_TILES(Unary, AtanOp, "atan"),
    STILLFLOW_FLOAT_TILES(Binary, Atan2Op, "atan2"), {}};

}  // namespace stillflow
