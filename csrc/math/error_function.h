#pragma once
#include "math/scalar.h"
namespace stillflow {
template <typename T> inline T Erf(T x) { return std::erf(x); }
template <typename T> inline T Erfc(T x) { return std::erfc(x); }
}
