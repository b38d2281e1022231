// cumulative_logsumexp: running logarithms of sums of exponentials along an axis.
//
//   in[0]  x     floats, at least of rank 1
//   in[1]  axis  int32 | int64 scalar; negative counts from the end
//   out[0] of x's shape
//   attrs  exclusive: whether an element is left out of its own result; reverse: whether to begin at the end
//
// The sum of nothing is the lowest number of the type. Half numbers are worked with in float.
#include <algorithm>
#include <limits>

#include "arithmetic/math/element.h"
#include "arithmetic/math/exponential.h"
#include "arithmetic/math/logarithm.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 4096;

template <typename W>
STILLFLOW_INLINE W Combine(W a, W b) {
  const W smaller = b < a ? b : a;
  const W larger = b < a ? a : b;
  return Log1p(Exp(smaller - larger)) + larger;
}

struct Walk {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  bool is_exclusive;
  bool is_reverse;
};

template <typename T, typename W>
Status RunAll(const KernelCall& call, const Walk& walk, W lowest) {
  const T* const from = Data<T>(*call.in[0]);
  T* const to = MutableData<T>(*call.out[0]);
  const int64_t chunk = std::max<int64_t>(kElementsPerChunk / walk.size, 1);
  return ForEachChunk(call, walk.outer * walk.inner, chunk, [&](Range range) {
    for (int64_t row = range.begin; row < range.end; ++row) {
      const int64_t begin = row / walk.inner * walk.size * walk.inner + row % walk.inner;
      W running = lowest;
      for (int64_t i = 0; i < walk.size; ++i) {
        const int64_t at = begin + (walk.is_reverse ? walk.size - 1 - i : i) * walk.inner;
        const W next = Combine(running, Widen(from[at]));
        to[at] = Narrow<T>(walk.is_exclusive ? running : next);
        running = next;
      }
    }
  });
}

Status CumulativeLogsumexp(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  const Tensor& axis_tensor = *call.in[1];
  if (axis_tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("ScanOp: axis must be a scalar, not %s", ShapeText(axis_tensor).c_str());
  }
  const int64_t axis = IntAt(axis_tensor, 0) < 0 ? IntAt(axis_tensor, 0) + x.rank : IntAt(axis_tensor, 0);
  if (axis < 0 || axis >= x.rank) {
    return STILLFLOW_INVALID_ARGUMENT("ScanOp: Expected scan axis in the range [%d, %d), but got %lld", -x.rank,
                                      x.rank, static_cast<long long>(IntAt(axis_tensor, 0)));
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, x.dtype, Shape(x)));
  if (x.count == 0) return Status();
  const Shape shape(x);
  Walk walk;
  walk.outer = shape.Count(0, static_cast<int>(axis));
  walk.size = shape.dims[axis];
  walk.inner = shape.Count(static_cast<int>(axis) + 1, shape.rank);
  walk.is_exclusive = call.attrs[0].i != 0;
  walk.is_reverse = call.attrs[1].i != 0;
  constexpr float kLowestHalf = -65504.0f;
  switch (x.dtype) {
    case DType::kFloat:
      return RunAll<float>(call, walk, std::numeric_limits<float>::lowest());
    case DType::kDouble:
      return RunAll<double>(call, walk, std::numeric_limits<double>::lowest());
    case DType::kHalf:
      return RunAll<Half>(call, walk, kLowestHalf);
    default:
      return UnsupportedType("CumulativeLogsumexp", x.dtype);
  }
}

}  // namespace

STILLFLOW_KERNELS(math, cumulative_logsumexp){
    {"cumulative_logsumexp", "x, axis | exclusive, reverse", CumulativeLogsumexp}, {}};

}  // namespace stillflow
