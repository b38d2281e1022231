// registers.h: the width of vector registers, and the vector types that fill one.
#pragma once

namespace stillflow {

#if defined(__AVX512F__)
constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
constexpr int kRegisterBytes = 32;
#else
constexpr int kRegisterBytes = 16;
#endif

template <typename T, int kBytes>
struct RegisterOf {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <typename T>
using Register = typename RegisterOf<T, kRegisterBytes>::type;

}  // namespace stillflow
