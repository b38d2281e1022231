#pragma once
#include "math/scalar.h"
namespace stillflow {
template <typename T> inline T Pow(T x,T y){return std::pow(x,y);}
}
