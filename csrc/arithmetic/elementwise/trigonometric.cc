// Sines, cosines, tangents and their inverses.
#include "arithmetic/math/trigonometric.h"

#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/inverse_trigonometric.h"

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

STILLFLOW_PLAIN_OP(Sin, SinLarge, Sin, kMostBitsOfAngle<T>, MagnitudeBits(x))
STILLFLOW_PLAIN_OP(Cos, CosLarge, Cos, kMostBitsOfAngle<T>, MagnitudeBits(x))
STILLFLOW_PLAIN_OP(Tan, TanLarge, Tan, kMostBitsOfAngle<T>, MagnitudeBits(x))

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
