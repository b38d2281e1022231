// range, lin_space: numbers in equal steps.
//
//   range      in[0..2] start, limit, delta, scalars of one type; out[0] start, start + delta, ... before limit
//   lin_space  in[0] start; in[1] stop; in[2] num, int32 | int64; out[0] num numbers from start to stop
//
// A range adds up its steps one after the other, in its own type, as TensorFlow does. Where no sum is rounded it is
// start + i delta, whatever i comes first.
#include <algorithm>
#include <cmath>
#include <limits>

#include "arithmetic/math/scalar.h"

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

constexpr int64_t kElementsPerChunk = 1 << 16;

// The place of the lowest bit that is set in a finite number: it is a multiple of 2 to this power, of all for 0.
template <typename T>
int LowestBit(T x) {
  if (x == 0) return std::numeric_limits<int>::max();
  constexpr int kDigits = std::numeric_limits<T>::digits;
  int exponent;
  const T fraction = std::frexp(x, &exponent);
  return exponent - kDigits + __builtin_ctzll(static_cast<uint64_t>(std::ldexp(std::abs(fraction), kDigits)));
}

// start + i delta; integers wrap around.
template <typename T>
STILLFLOW_INLINE T Step(T start, T delta, int64_t i) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
  } else {
    return start + static_cast<T>(i) * delta;
  }
}

// Whether all start + i delta up to i = count, and all products, are numbers of type T. Not for starts that sums
// change: -0 and denormal numbers.
template <typename T>
bool SumsAreExact(T start, T delta, int64_t count) {
  if constexpr (std::is_integral_v<T>) {
    return true;
  } else {
    const T first = Step(start, delta, 0);
    const T most = std::abs(start) + std::abs(delta) * static_cast<T>(count);
    const int unit = std::min({LowestBit(start), LowestBit(delta), 0});
    return std::memcmp(&first, &start, sizeof start) == 0 &&
           most <= std::ldexp(T{1}, unit + std::numeric_limits<T>::digits - 1);
  }
}

template <typename T>
void AddUp(T start, T delta, int64_t count, T* to) {
  T value = start;
  for (int64_t i = 0; i < count; ++i, value += delta) to[i] = value;
}

template <typename T>
Status FillRange(const KernelCall& call, T start, T delta, int64_t count, T* to) {
  if (!SumsAreExact(start, delta, count)) {
    AddUp(start, delta, count, to);
    return Status();
  }
  return ForEachChunk(call, count, kElementsPerChunk, [=](Range range) {
    const T first = Step(start, delta, range.begin);
    T* const chunk = to + range.begin;
    const auto size = static_cast<int32_t>(range.end - range.begin);
    for (int32_t i = 0; i < size; ++i) chunk[i] = Step(first, delta, i);
  });
}

Status MakeRange(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[0], "start"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "limit"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "delta"));
  const DType type = call.in[0]->dtype;
  return ForType<int32_t, int64_t, float, double>("Range", type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T delta = *Data<T>(*call.in[2]);
    const T start = *Data<T>(*call.in[0]);
    Shape shape;
    shape.Add(0);
    STILLFLOW_RETURN_IF_ERROR(RangeSize(start, *Data<T>(*call.in[1]), delta, &shape.dims[0]));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
    return FillRange(call, start, delta, shape.dims[0], MutableData<T>(*call.out[0]));
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
    for (int64_t i = 0; i < num; ++i) to[i] = Step(start, step, i);
    if (num > 1) to[num - 1] = stop;  // whatever rounding has made of it
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(array, range){
    {"range", "start, limit, delta", MakeRange}, {"lin_space", "start, stop, num", MakeLinSpace}, {}};

}  // namespace stillflow
