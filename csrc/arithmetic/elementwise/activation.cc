// Activation functions of neural networks and their gradients. NaN propagates.
#include "arithmetic/math/activation.h"

#include "arithmetic/elementwise/tile.h"

namespace stillflow {
namespace {

constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

// Products of two numbers of one type, wrapping around for integers.
template <typename T>
STILLFLOW_INLINE T Times(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}

struct Relu {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x) {
    return x < T{0} ? T{0} : x;
  }
};
struct Relu6 {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x) {
    return x < 0 ? T{0} : (x > 6 ? T{6} : x);
  }
};
struct Elu : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x) {
    return x < 0 ? Expm1(x) : x;
  }
};
struct Selu : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x) {
    return x < 0 ? static_cast<T>(kSeluScaleAlpha) * Expm1(x) : static_cast<T>(kSeluScale) * x;
  }
};
struct LeakyRelu {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x, T alpha) {
    return x > 0 ? x : x * alpha;
  }
};
STILLFLOW_UNARY_OP(Softplus)
struct Softsign {
  template <typename T>
  STILLFLOW_INLINE static T Run(T x) {
    return x / (Abs(x) + 1);
  }
};

// Gradients. A product with 0 hands on infinities and NaN of the gradient, as in TensorFlow.
struct ReluGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T x) {
    return Times(dy, x > 0 ? T{1} : T{0});
  }
};
struct Relu6Grad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T x) {
    return Times(dy, (x > 0) & (x < 6) ? T{1} : T{0});
  }
};
struct EluGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T y) {
    return y < 0 ? (y + 1) * dy : dy;
  }
};
struct SeluGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T y) {
    return dy * (y < 0 ? y + static_cast<T>(kSeluScaleAlpha) : static_cast<T>(kSeluScale));
  }
};
struct LeakyReluGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T x, T alpha) {
    return x > 0 ? dy : dy * alpha;
  }
};
struct SoftplusGrad : Costly {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T x) {
    return dy / (Exp(-x) + 1);
  }
};
struct SoftsignGrad {
  template <typename T>
  STILLFLOW_INLINE static T Run(T dy, T x) {
    const T denominator = Abs(x) + 1;
    return dy / (denominator * denominator);
  }
};

#define NUMBER_TILES(kind, Op, name) \
  STILLFLOW_FLOAT_TILES(kind, Op, name), STILLFLOW_ALL_INTEGER_TILES(kind, Op, name)

}  // namespace

const TileOp kActivationTiles[] = {NUMBER_TILES(Unary, Relu, "relu"),
                                   NUMBER_TILES(Unary, Relu6, "relu6"),
                                   STILLFLOW_FLOAT_TILES(Unary, Elu, "elu"),
                                   STILLFLOW_FLOAT_TILES(Unary, Selu, "selu"),
                                   STILLFLOW_FLOAT_TILES(Binary, LeakyRelu, "leaky_relu"),
                                   STILLFLOW_FLOAT_TILES(Unary, SoftplusOp, "softplus"),
                                   STILLFLOW_FLOAT_TILES(Unary, Softsign, "softsign"),
                                   NUMBER_TILES(Binary, ReluGrad, "relu_grad"),
                                   NUMBER_TILES(Binary, Relu6Grad, "relu6_grad"),
                                   STILLFLOW_FLOAT_TILES(Binary, EluGrad, "elu_grad"),
                                   STILLFLOW_FLOAT_TILES(Binary, SeluGrad, "selu_grad"),
                                   STILLFLOW_FLOAT_TILES(Ternary, LeakyReluGrad, "leaky_relu_grad"),
                                   STILLFLOW_FLOAT_TILES(Binary, SoftplusGrad, "softplus_grad"),
                                   STILLFLOW_FLOAT_TILES(Binary, SoftsignGrad, "softsign_grad"),
                                   {}};

}  // namespace stillflow
