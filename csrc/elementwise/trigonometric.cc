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
#define ANGLE_OP(Name)                                           \
  struct Name##Op : Costly {                                     \
    template <typename T>                                        \
    static constexpr BitsOf<T> kMostPlain = kMostBitsOfAngle<T>; \
    template <typename T>                                        \
    STILLFLOW_INLINE static BitsOf<T> Measure(T x) {             \
      return MagnitudeBits(x);                                   \
    }                                                            \
    template <typename T>                                        \
    STILLFLOW_INLINE static T RunPlain(T x) {                    \
      return Name(x);                                            \
    }                                                            \
    template <typename T>                                        \
    static T Run(T x) {                                          \
      return Name##Large(x);                                     \
    }                                                            \
  };
ANGLE_OP(Sin)
ANGLE_OP(Cos)
ANGLE_OP(Tan)

}  // namespace

const TileOp kTrigonometricTiles[] = {STILLFLOW_FLOAT_TILES(UnaryOfMostlyPlain, SinOp, "sin"),
                                      STILLFLOW_FLOAT_TILES(UnaryOfMostlyPlain, CosOp, "cos"),
                                      STILLFLOW_FLOAT_TILES(UnaryOfMostlyPlain, TanOp, "tan"),
                                      STILLFLOW_FLOAT_TILES(Unary, AsinOp, "asin"),
                                      STILLFLOW_FLOAT_TILES(Unary, AcosOp, "acos"),
                                      STILLFLOW_FLOAT_TILES(Unary, AtanOp, "atan"),
                                      STILLFLOW_FLOAT_TILES(Binary, Atan2Op, "atan2"),
                                      {}};

}  // namespace stillflow
