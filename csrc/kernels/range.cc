// range, lin_space: numbers in equal steps.
//
//   range      in[0..2] start, limit, delta, scalars of one type; out[0] start, start + delta, ... before limit
//   lin_space  in[0] start; in[1] stop; in[2] num, int32 | int64; out[0] num numbers from start to stop
//
// A range adds up its steps one after the other, in its own type, as TensorFlow does.
#include <cmath>

#include "math/scalar.h"

namespace stillflow {
namespace {

constexpr double kMostElements = 9.2e18;

Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar, not shape %s", name, ShapeText(tensor).c_str());
}

template <typename T>
Status RangeSize(T start, T limit, T delta, int64_t* size) {
  if (delta > 0) {
    if (!(start <= limit)) {
      return STILLFLOW_INVALID_ARGUMENT("Requires start <= limit when delta > 0: %g/%g", static_cast<double>(start),
                                        static_cast<double>(limit));
    }
  } else if (delta < 0) {
    if (!(start >= limit)) {
      return STILLFLOW_INVALID_ARGUMENT("Requires start >= limit when delta < 0: %g/%g", static_cast<double>(start),
                                        static_cast<double>(limit));
    }
  } else {
    return STILLFLOW_INVALID_ARGUMENT("Requires delta != 0: %g", static_cast<double>(delta));
  }
  if constexpr (std::is_integral_v<T>) {
    const uint64_t distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                        : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step =
        delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(static_cast<int64_t>(delta));
    const uint64_t count = distance == 0 ? 0 : (distance - 1) / step + 1;
    if (count > static_cast<uint64_t>(INT64_MAX)) {
      return STILLFLOW_INVALID_ARGUMENT("Requires ((limit - start) / delta) <= 9223372036854775807");
    }
    *size = static_cast<int64_t>(count);
  } else {
    const double count = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    if (!(count < kMostElements)) {
      return STILLFLOW_INVALID_ARGUMENT("Requires ((limit - start) / delta) <= 9223372036854775807");
    }
    *size = static_cast<int64_t>(count);
  }
  return Status();
}

Status MakeRange(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[0], "start"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "limit"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "delta"));
  const DType type = call.in[0]->dtype;
  return ForType<int32_t, int64_t, float, double>("Range", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T delta = *Data<T>(*call.in[2]);
    T value = *Data<T>(*call.in[0]);
    Shape shape;
    shape.Add(0);
    STILLFLOW_RETURN_IF_ERROR(RangeSize(value, *Data<T>(*call.in[1]), delta, &shape.dims[0]));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
    T* to = MutableData<T>(*call.out[0]);
    for (int64_t i = 0; i < shape.dims[0]; ++i) {
      to[i] = value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(static_cast<uint64_t>(value) + static_cast<uint64_t>(delta));
      } else {
        value += delta;
      }
    }
    return Status();
  });
}

Status MakeLinSpace(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[0], "start"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "stop"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "num"));
  const int64_t num = IntAt(*call.in[2], 0);
  if (num <= 0) return STILLFLOW_INVALID_ARGUMENT("Requires num > 0: %lld", static_cast<long long>(num));
  Shape shape;
  shape.Add(num);
  const DType type = call.in[0]->dtype;
  return ForType<float, double>("LinSpace", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
    const T start = *Data<T>(*call.in[0]);
    const T stop = *Data<T>(*call.in[1]);
    T* to = MutableData<T>(*call.out[0]);
    const T step = num > 1 ? (stop - start) / static_cast<T>(num - 1) : T{0};
    for (int64_t i = 0; i < num; ++i) to[i] = start + step * static_cast<T>(i);
    if (num > 1) to[num - 1] = stop;  // whatever rounding has made of it
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(range){
    {"range", "start, limit, delta", MakeRange}, {"lin_space", "start, stop, num", MakeLinSpace}, {}};

}  // namespace stillflow
