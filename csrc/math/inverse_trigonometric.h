#pragma once
#include "math/scalar.h"
namespace stillflow {
template <typename T> inline T Asin(T x) { return std::asin(x); }
template <typename T> inline T Acos(T x) { return std::acos(x); }
template <typename T> inline T Atan(T x) { return std::atan(x); }
template <typename T> inline T Atan2(T x,T y){return std::atan2(x,y);}
}
