// The error function and other special functions.
#include "arithmetic/elementwise/tile.h"
#include "arithmetic/math/bessel.h"
#include "arithmetic/math/error_function.h"
#include "arithmetic/math/gamma.h"
#include "arithmetic/math/incomplete_gamma.h"
#include "arithmetic/math/zeta.h"

namespace stillflow {
namespace {

STILLFLOW_UNARY_OP(Erf)
STILLFLOW_UNARY_OP(Erfc)
STILLFLOW_PLAIN_OP(Lgamma, Lgamma, LgammaOfPlain, kMostBitsOfRight, BitCast<BitsOf<T>>(x))
STILLFLOW_UNARY_OP(Digamma)

STILLFLOW_UNARY_OP(BesselI0e)
STILLFLOW_UNARY_OP(BesselI1e)

// A function of two doubles, of which floats are a case.
template <double (*function)(double, double)>
struct OfTwo : Costly {
  template <typename T>
  static T Run(T a, T b) {
    return static_cast<T>(function(a, b));
  }
};

}  // namespace

const TileOp kSpecialTiles[] = {Unary<ErfOp, float>("erf"),
                                Unary<ErfOp, double>("erf"),
                                Unary<ErfOp, Half>("erf"),
                                Unary<ErfOp, BFloat16>("erf"),
                                STILLFLOW_FLOAT_TILES(Unary, ErfcOp, "erfc"),
                                STILLFLOW_PLAIN_FLOAT_TILES(LgammaOp, "lgamma"),
                                STILLFLOW_FLOAT_TILES(Unary, DigammaOp, "digamma"),
                                STILLFLOW_FLOAT_TILES(Unary, BesselI0eOp, "bessel_i0e"),
                                STILLFLOW_FLOAT_TILES(Unary, BesselI1eOp, "bessel_i1e"),
                                STILLFLOW_WIDE_FLOAT_TILES(BinaryOneByOne, OfTwo<Zeta>, "zeta"),
                                STILLFLOW_WIDE_FLOAT_TILES(BinaryOneByOne, OfTwo<Polygamma>, "polygamma"),
                                STILLFLOW_WIDE_FLOAT_TILES(BinaryOneByOne, OfTwo<Igamma>, "igamma"),
                                STILLFLOW_WIDE_FLOAT_TILES(BinaryOneByOne, OfTwo<Igammac>, "igammac"),
                                STILLFLOW_WIDE_FLOAT_TILES(BinaryOneByOne, OfTwo<IgammaGradA>, "igamma_grad_a"),
                                {}};

}  // namespace stillflow
