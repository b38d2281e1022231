// element_width.h: one body for all types whose elements have as many bytes, for kernels that only move elements.
#pragma once

#include "kernel_api/kernel.h"

namespace stillflow {

// Calls body(TypeTag<T>) with a T as wide as elements of `dtype`.
template <typename Body>
Status ForWidth(const char* kernel, DType dtype, const Body& body) {
  switch (ElementBytes(dtype)) {
    case 16:
      return body(TypeTag<Complex128>{});
    case 8:
      return body(TypeTag<uint64_t>{});
    case 4:
      return body(TypeTag<uint32_t>{});
    case 2:
      return body(TypeTag<uint16_t>{});
    case 1:
      return body(TypeTag<uint8_t>{});
    default:
      return UnsupportedType(kernel, dtype);
  }
}

}  // namespace stillflow
