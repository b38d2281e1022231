#pragma once
#include "math/hyperbolic.h"
namespace stillflow {
template <typename T> inline T Sigmoid(T x) { return 1/(1+std::exp(-x)); }
template <typename T> inline T Softplus(T x) { return x>0 ? x+std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
}
