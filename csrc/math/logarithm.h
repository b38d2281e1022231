#pragma once
#include "math/exponential.h"
namespace stillflow {
template <typename T> inline T Log(T x) { return std::log(x); }
template <typename T> inline T Log1p(T x) { return std::log1p(x); }
}
