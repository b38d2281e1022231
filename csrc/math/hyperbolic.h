#pragma once
#include "math/logarithm.h"
namespace stillflow {
template <typename T> inline T Sinh(T x) { return std::sinh(x); }
template <typename T> inline T Cosh(T x) { return std::cosh(x); }
template <typename T> inline T Tanh(T x) { return std::tanh(x); }
template <typename T> inline T Asinh(T x) { return std::asinh(x); }
template <typename T> inline T Acosh(T x) { return std::acosh(x); }
template <typename T> inline T Atanh(T x) { return std::atanh(x); }
}
