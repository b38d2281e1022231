// clip_by_value: elements between two bounds.
//
//   in[0]   t           half | float | double | int8 | int16 | int32 | int64 | uint8 | uint16
//   in[1,2] the bounds  of t's type, scalars or of t's shape
//   out[0]  the lower bound where it is above the smaller of element and upper bound; a NaN bound does nothing
#include "arithmetic/math/scalar.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

template <typename T>
T Clip(T x, T low, T high) {
  if constexpr (kIsFloating<T>) {
    const T below = Widen(high) < Widen(x) ? high : x;
    return Widen(below) < Widen(low) ? low : below;
  } else {
    const T below = high < x ? high : x;
    return below < low ? low : below;
  }
}

Status ClipByValue(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  for (int i = 1; i < 3; ++i) {
    if (call.in[i]->rank == 0 || Shape(*call.in[i]) == Shape(x)) continue;
    return STILLFLOW_INVALID_ARGUMENT(
        "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: "
        "%sclip_value_min shape: %sclip_value_max shape: %s",
        ShapeText(x).c_str(), ShapeText(*call.in[1]).c_str(), ShapeText(*call.in[2]).c_str());
  }
  const int64_t low_step = call.in[1]->rank == 0 ? 0 : 1;
  const int64_t high_step = call.in[2]->rank == 0 ? 0 : 1;
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, x.dtype, Shape(x)));
  return ForType<Half, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t>(
      "ClipByValue", x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        const T* const low = Data<T>(*call.in[1]);
        const T* const high = Data<T>(*call.in[2]);
        return ForEachChunk(call, x.count, kElementsPerChunk, [&](Range range) {
          for (int64_t i = range.begin; i < range.end; ++i) {
            MutableData<T>(*call.out[0])[i] = Clip(Data<T>(x)[i], low[i * low_step], high[i * high_step]);
          }
        });
      });
}

}  // namespace

STILLFLOW_KERNELS(math, clip){{"clip_by_value", "t, clip_value_min, clip_value_max", ClipByValue}, {}};

}  // namespace stillflow
