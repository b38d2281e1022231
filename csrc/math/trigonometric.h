#pragma once
#include "math/scalar.h"
namespace stillflow {
template <typename T> inline T Sin(T x) { return std::sin(x); }
template <typename T> inline T Cos(T x) { return std::cos(x); }
template <typename T> inline T Tan(T x) { return std::tan(x); }
template <typename T> inline T SinLarge(T x) { return std::sin(x); }
template <typename T> inline T CosLarge(T x) { return std::cos(x); }
template <typename T> inline T TanLarge(T x) { return std::tan(x); }

template <typename T,class A,class B> inline void MapAngles(const T*x,T*y,int64_t n,A a,B b){for(int64_t i=0;i<n;++i)y[i]=b(x[i]);}
}
