// add_n: the sum of tensors of one shape.
//
//   in[i]  numbers of one type and shape
//   out[0] of that shape: (in[0] + in[1]) + in[2] ..., each sum rounded to the type
#include <algorithm>

#include "arithmetic/math/scalar.h"
#include "memory/stream.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 16384;

template <typename T>
STILLFLOW_INLINE T SumOfTwo(T a, T b) {
  if constexpr (kIsFloating<T>) {
    return Narrow<T>(Widen(a) + Widen(b));
  } else {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
}

// Three inputs at a time, of which `to` may be one: each pass over memory costs more than the sums.
template <typename T>
void SumRange(const KernelCall& call, Range range, T* to) {
  const int64_t count = range.end - range.begin;
  const auto input = [&](int i) { return Data<T>(*call.in[i]) + range.begin; };
  const T* a = input(0);
  if (call.in_count == 1 && to != a) std::copy_n(a, count, to);
  int i = 1;
  for (; i + 1 < call.in_count; i += 2, a = to) {
    const T* const b = input(i);
    const T* const c = input(i + 1);
#pragma GCC ivdep
    for (int64_t k = 0; k < count; ++k) to[k] = SumOfTwo(SumOfTwo(a[k], b[k]), c[k]);
  }
  if (i == call.in_count) return;
  const T* const b = input(i);
#pragma GCC ivdep
  for (int64_t k = 0; k < count; ++k) to[k] = SumOfTwo(a[k], b[k]);
}

// Past the caches, some elements at a time.
template <typename T>
void StreamRange(const KernelCall& call, Range range) {
  constexpr int64_t kTileElements = 256;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  alignas(64) T sums[kTileElements];
  ReadAhead ahead;
  for (int i = 0; i < call.in_count; ++i) ahead.Add(Data<char>(*call.in[i]) + 2 * kTileElements * kBytes, 64);
  for (int64_t begin = range.begin; begin < range.end; begin += kTileElements) {
    const int64_t end = std::min(begin + kTileElements, range.end);
    SumRange(call, {begin, end}, sums);
    StreamBytes(MutableData<char>(*call.out[0]), reinterpret_cast<const char*>(sums), (end - begin) * kBytes,
                begin * kBytes, ahead);
  }
  EndStream();
}

template <typename T>
Status Sum(const KernelCall& call) {
  T* to = MutableData<T>(*call.out[0]);
  const bool is_streamed = IsStreamed(*call.out[0]) && call.in_count > 1 && to != Data<T>(*call.in[0]);
  const int64_t count = call.out[0]->count * PartCount(call.out[0]->dtype);
  return ForEachChunk(call, count, kElementsPerChunk, [&](Range range) {
    if (is_streamed) return StreamRange<T>(call, range);
    SumRange(call, range, to + range.begin);
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
                 uint8_t>("AddN", PartType(call.in[0]->dtype),
                          [&](auto tag) { return Sum<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(math, add_n){{"add_n", "inputs...", AddN}, {}};

}  // namespace stillflow
