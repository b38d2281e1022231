// The error function and other special functions.
#include "elementwise/tile.h"
#include "math/error_function.h"
#include "math/gamma.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Erf)
STILLFLOW_UNARY_OP(Erfc)
STILLFLOW_UNARY_OP(Lgamma)
STILLFLOW_UNARY_OP(Digamma)

}  // namespace

const TileOp kSpecialTiles[] = {STILLFLOW_FLOAT_TILES(Unary, ErfOp, "erf"),
                                STILLFLOW_FLOAT_TILES(Unary, ErfcOp, "erfc"),
                                STILLFLOW_FLOAT_TILES(Unary, LgammaOp, "lgamma"),
                                STILLFLOW_FLOAT_TILES(Unary, DigammaOp, "digamma"),
                                {}};

}  // namespace stillflow
