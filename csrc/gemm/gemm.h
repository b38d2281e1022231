#pragma once
#include "math/scalar.h"
#include <type_traits>
namespace stillflow {
template <typename T> struct MatrixView { const T* data; int64_t row_stride, column_stride; };
template <typename T>
Status Gemm(const KernelCall& call, int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c, int64_t ldc, bool accumulate=false) {
  using W = std::conditional_t<std::is_integral_v<T>, T, Wide<std::conditional_t<std::is_integral_v<T>,float,T>>>;
  return ForEachChunk(call, m, 16, [&](Range r) {
    for (int64_t i=r.begin;i<r.end;++i) for (int64_t j=0;j<n;++j) {
      W s = W{};
      for (int64_t l=0;l<k;++l) {
        const T x=a.data[i*a.row_stride+l*a.column_stride], y=b.data[l*b.row_stride+j*b.column_stride];
        if constexpr (std::is_integral_v<T>) s = (T)((uint64_t)s+(uint64_t)x*(uint64_t)y); else s = Fma((W)Widen(x),(W)Widen(y),s);
      }
      if constexpr (std::is_integral_v<T>) c[i*ldc+j]=s; else c[i*ldc+j]=Narrow<T>(s);
    }});
}
}
