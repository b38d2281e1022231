// one_hot: rows with one element on at a given place.
//
//   in[0]   indices    int32 | int64 | uint8, any shape
//   in[1]   depth      int32 scalar
//   in[2]   on_value   scalar; in[3] off_value
//   out[0]  output     the indices' shape with a dimension of size depth at `axis`
//
// Indices outside of [0, depth) turn nothing on.
#include <algorithm>

#include "kernel_api/element_width.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 32768;

int64_t IndexAt(const Tensor& indices, int64_t i) {
  return indices.dtype == DType::kUInt8 ? Data<uint8_t>(indices)[i] : IntAt(indices, i);
}

// In a function of its own, where nothing else may be the value that is written: vector code.
template <typename T>
__attribute__((noinline)) void FillRun(T* to, int64_t count, T value) {
  for (int64_t i = 0; i < count; ++i) to[i] = value;
}

// Indices [outer, inner], output [outer, depth, inner].
template <typename T>
Status Fill(const KernelCall& call, int64_t outer, int64_t depth, int64_t inner) {
  const Tensor& indices = *call.in[0];
  const T on = *Data<T>(*call.in[2]);
  const T off = *Data<T>(*call.in[3]);
  T* to = MutableData<T>(*call.out[0]);
  const int64_t block = depth * inner;
  const int64_t blocks_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(block, 1), 1);
  return ForEachChunk(call, outer, blocks_per_chunk, [&](Range range) {
    FillRun(to + range.begin * block, (range.end - range.begin) * block, off);
    for (int64_t i = range.begin; i < range.end; ++i) {
      for (int64_t k = 0; k < inner; ++k) {
        const int64_t index = IndexAt(indices, i * inner + k);
        if (static_cast<uint64_t>(index) < static_cast<uint64_t>(depth)) to[i * block + index * inner + k] = on;
      }
    }
  });
}

Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar, but got: %s", name, ShapeText(tensor).c_str());
}

Status OneHot(const KernelCall& call) {
  const Tensor& indices = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[1], "depth"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "on_value"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[3], "off_value"));
  const int64_t axis = call.attrs[0].i;
  if (axis < -1 || axis > indices.rank) {
    return STILLFLOW_INVALID_ARGUMENT("Expected axis to be -1 or between [0, %d).  But received: %lld",
                                      indices.rank + 1, static_cast<long long>(axis));
  }
  const int64_t depth = IntAt(*call.in[1], 0);
  if (depth < 0) {
    return STILLFLOW_INVALID_ARGUMENT("depth must be non-negative, got: %lld", static_cast<long long>(depth));
  }
  if (indices.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  const int at = axis == -1 ? indices.rank : static_cast<int>(axis);
  Shape shape;
  for (int i = 0; i <= indices.rank; ++i) shape.Add(i == at ? depth : indices.dims[i < at ? i : i - 1]);
  const Tensor& on_value = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, on_value.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  const int64_t outer = shape.Count(0, at);
  const int64_t inner = shape.Count(at + 1, shape.rank);
  STILLFLOW_RETURN_IF_ERROR(ForWidth("OneHot", on_value.dtype, [&](auto tag) {
    return Fill<typename decltype(tag)::type>(call, outer, depth, inner);
  }));
  RetainStrings(*call.out[0]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, one_hot){{"one_hot", "indices, depth, on_value, off_value | axis", OneHot}, {}};

}  // namespace stillflow
