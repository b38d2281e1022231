// conversion.h: the elements of a tensor in another type, as a cast makes them, for kernels that compute in one type.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// Elements of a type in scratch memory, or where they are if they are of that type already.
class Converted {
 public:
  // Fails for types that cannot be cast, naming `kernel`.
  Status Convert(const KernelCall& call, const char* kernel, const Tensor& tensor, DType type);
  ~Converted() {
    if (buffer_ != nullptr) Release(buffer_);
  }
  Converted() = default;
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;

  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }

 private:
  const void* data_ = nullptr;
  Buffer* buffer_ = nullptr;
};

// Writes `count` elements of a type as a tensor's.
Status StoreConverted(const KernelCall& call, const char* kernel, DType type, const void* from, Tensor* tensor);

}  // namespace stillflow
