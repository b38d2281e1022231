// choice.h: branch-free selection between two numbers.
#pragma once

#include "arithmetic/math/scalar.h"

namespace stillflow {

// By a mask: left to choose, the compiler makes branches for bytes and for 64 bits. T is unsigned.
template <typename T>
STILLFLOW_INLINE T Choose(bool condition, T a, T b) {
  const T mask = static_cast<T>(T{0} - static_cast<T>(condition));
  return static_cast<T>((a & mask) | (b & static_cast<T>(~mask)));
}

}  // namespace stillflow
