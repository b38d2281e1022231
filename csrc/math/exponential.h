#pragma once
#include "math/scalar.h"
namespace stillflow {
template <typename T> inline T Exp(T x) { return std::exp(x); }
template <typename T> inline T Expm1(T x) { return std::expm1(x); }
}
