// add_n: the sum of tensors of one shape.
//
//   in[i]  numbers of one type and shape
//   out[0] of that shape: (in[0] + in[1]) + in[2] ..., each sum rounded to the type
#include <algorithm>

#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

template <typename T>
void Accumulate(const T* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (kIsFloating<T>) {
      to[i] = Narrow<T>(Widen(to[i]) + Widen(from[i]));
    } else {
      to[i] = static_cast<T>(static_cast<uint64_t>(to[i]) + static_cast<uint64_t>(from[i]));
    }
  }
}

template <typename T>
Status Sum(const KernelCall& call) {
  T* to = MutableData<T>(*call.out[0]);
  const T* first = Data<T>(*call.in[0]);
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk, [&](Range range) {
    const int64_t count = range.end - range.begin;
    if (to != first) std::copy_n(first + range.begin, count, to + range.begin);
    for (int i = 1; i < call.in_count; ++i) Accumulate(Data<T>(*call.in[i]) + range.begin, count, to + range.begin);
  });
}

Status AddN(const KernelCall& call) {
  const Shape shape(*call.in[0]);
  for (int i = 1; i < call.in_count; ++i) {
    if (!(Shape(*call.in[i]) == shape)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inputs to operation of type AddN must have the same size and shape.  Input 0: %s != input %d: %s",
          ShapeText(shape).c_str(), i, ShapeText(*call.in[i]).c_str());
    }
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, call.in[0]->dtype, shape));
  return ForType<float, double, Half, BFloat16, int64_t, int32_t, int16_t, int8_t, uint64_t, uint32_t, uint16_t,
                 uint8_t>("AddN", call.in[0]->dtype,
                          [&](auto tag) { return Sum<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(add_n){{"add_n", "inputs...", AddN}, {}};

}  // namespace stillflow
