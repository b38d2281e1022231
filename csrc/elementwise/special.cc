// The error function and other special functions.
#include "elementwise/tile.h"
#include "math/error_function.h"
#include "math/gamma.h"
#include "math/zeta.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Erf)
STILLFLOW_UNARY_OP(Erfc)
STILLFLOW_UNARY_OP(Lgamma)
STILLFLOW_UNARY_OP(Digamma)

struct ZetaOp {
  template <typename T>
  static T Run(T s, T q) {
    return Zeta(s, q);
  }
};
struct PolygammaOp {
  template <typename T>
  static T Run(T n, T x) {
    return Polygamma(n, x);
  }
};

}  // namespace

const TileOp kSpecialTiles[] = {STILLFLOW_FLOAT_TILES(Unary, ErfOp, "erf"),
                                STILLFLOW_FLOAT_TILES(Unary, ErfcOp, "erfc"),
                                STILLFLOW_FLOAT_TILES(Unary, LgammaOp, "lgamma"),
                                STILLFLOW_FLOAT_TILES(Unary, DigammaOp, "digamma"),
                                STILLFLOW_WIDE_FLOAT_TILES(Binary, ZetaOp, "zeta"),
                                STILLFLOW_WIDE_FLOAT_TILES(Binary, PolygammaOp, "polygamma"),
                                {}};

}  // namespace stillflow
