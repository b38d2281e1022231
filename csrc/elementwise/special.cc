// The error function and other special functions.
#include "elementwise/tile.h"
#include "math/error_function.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Erf)
STILLFLOW_UNARY_OP(Erfc)

}  // namespace

const TileOp kSpecialTiles[] = {
    STILLFLOW_FLOAT_TILES(Unary, ErfOp, "erf"), STILLFLOW_FLOAT_TILES(Unary, ErfcOp, "erfc"), {}};

}  // namespace stillflow
