// guarded.h: wraps kernels that use standard containers, whose std::bad_alloc becomes a Status.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "io/message_writer.h"
#include "kernel_api/kernel.h"

namespace stillflow {

// body(), or an error where it ran out of memory. What parallel chunks do is guarded chunk by chunk.
template <typename Body>
Status CatchingOutOfMemory(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return OutOfScratch();
  } catch (const std::length_error&) {
    return OutOfScratch();
  }
}

template <Status (*kKernel)(const KernelCall&)>
Status Guarded(const KernelCall& call) {
  return CatchingOutOfMemory([&] { return kKernel(call); });
}

inline io::Bytes BytesOf(const StringCell* cell) {
  return cell == nullptr ? io::Bytes{"", 0} : io::Bytes{cell->bytes, static_cast<size_t>(cell->size)};
}

// Element `index` of a string tensor.
inline io::Bytes StringAt(const Tensor& tensor, int64_t index) { return BytesOf(Data<StringCell*>(tensor)[index]); }

inline std::string Text(io::Bytes bytes) { return bytes.ToString(); }

// A string scalar as output 0.
inline Status SetScalarString(const KernelCall& call, const std::string& bytes) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kString, Shape()));
  return SetString(call, call.out[0], 0, bytes.data(), static_cast<int64_t>(bytes.size())) ? Status()
                                                                                           : OutOfScratch();
}

}  // namespace stillflow
