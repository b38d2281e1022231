// fill, zeros, zeros_like, ones_like: one value in every element.
#include <algorithm>

#include "arithmetic/math/complex.h"
#include "kernel_api/element_width.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 65536;

template <typename T>
Status FillOutput(const KernelCall& call, T value) {
  T* to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk,
                      [&](Range range) { std::fill(to + range.begin, to + range.end, value); });
}

Status FillStrings(const KernelCall& call, StringCell* value) {
  auto** to = MutableData<StringCell*>(*call.out[0]);
  for (int64_t i = 0; i < call.out[0]->count; ++i) {
    to[i] = value;
    if (value != nullptr) value->references.fetch_add(1, std::memory_order_relaxed);
  }
  return Status();
}

// in[0] dims, a vector; in[1] value, a scalar; out[0] of that shape
Status Fill(const KernelCall& call) {
  const Tensor& value = *call.in[1];
  Shape shape;
  if (value.count != 1 || value.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("value must be a scalar, got shape %s", ShapeText(value).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[0], &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, value.dtype, shape));
  if (HasCells(value.dtype)) return FillStrings(call, *Data<StringCell*>(value));
  return ForWidth("Fill", value.dtype,
                  [&](auto tag) { return FillOutput(call, *Data<typename decltype(tag)::type>(value)); });
}

// in[0] shape, a vector; attr the type
Status Zeros(const KernelCall& call) {
  Shape shape;
  if (call.in[0]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("shape must be a vector of int32, got shape %s",
                                      ShapeText(*call.in[0]).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[0], &shape));
  return AllocateZeros(call, 0, static_cast<DType>(call.attrs[0].i), shape);
}

// Of kinds of values that have no zeros, variants that hold nothing.
Status ZerosLikeVariants(const KernelCall& call) {
  auto** to = MutableData<Variant*>(*call.out[0]);
  for (int64_t i = 0; i < call.out[0]->count; ++i) {
    const Variant* const value = Data<Variant*>(*call.in[0])[i];
    if (value == nullptr || value->zeros_like == nullptr) continue;
    STILLFLOW_RETURN_IF_ERROR(value->zeros_like(*call.services, *value, &to[i]));
  }
  return Status();
}

Status ZerosLike(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.dtype == DType::kVariant) return ZerosLikeVariants(call);
  if (HasCells(input.dtype)) return Status();  // empty already
  char* to = MutableData<char>(*call.out[0]);
  const int64_t width = ElementBytes(input.dtype);
  return ForEachChunk(call, input.count, kElementsPerChunk, [&](Range range) {
    std::memset(to + range.begin * width, 0, (range.end - range.begin) * width);
  });
}

Status OnesLike(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, uint16_t, int8_t, uint8_t, bool, Complex64,
                 Complex128>("OnesLike", input.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      return FillOutput(call, T{1, 0});
    } else if constexpr (kIsFloating<T>) {
      return FillOutput(call, Narrow<T>(Wide<T>{1}));
    } else {
      return FillOutput(call, static_cast<T>(1));
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(array, fill){{"fill", "dims, value", Fill},
                               {"zeros", "shape | dtype", Zeros},
                               {"zeros_like", "x", ZerosLike},
                               {"ones_like", "x", OnesLike},
                               {}};

}  // namespace stillflow
