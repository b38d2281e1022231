// quantized_concat: arrays of integers side by side, in a range that has those of all.
//
//   in[0]  int32 scalar, the axis
//   then   N arrays, quint8 | qint32, N least and N largest numbers that they stand for
//   out[0] the array; out[1], out[2] the range
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

Status CheckArrays(const KernelCall& call, int64_t count, int64_t axis) {
  const Tensor& first = *call.in[1];
  if (axis < 0 || axis >= first.rank) {
    return STILLFLOW_INVALID_ARGUMENT(
        "ConcatOp : Expected concatenating dimensions in the range [0, %d), but got %lld", first.rank,
        static_cast<long long>(axis));
  }
  for (int64_t i = 1; i < count; ++i) {
    const Tensor& other = *call.in[1 + i];
    if (other.rank != first.rank) {
      return STILLFLOW_INVALID_ARGUMENT(
          "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%lld] = %s",
          ShapeText(first).c_str(), static_cast<long long>(i), ShapeText(other).c_str());
    }
    for (int d = 0; d < first.rank; ++d) {
      if (d == axis || other.dims[d] == first.dims[d]) continue;
      return STILLFLOW_INVALID_ARGUMENT(
          "ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%lld] = %s",
          ShapeText(first).c_str(), static_cast<long long>(i), ShapeText(other).c_str());
    }
  }
  return Status();
}

// The range of all, of which that of integers with a sign has zero in the middle.
Status RangeOfAll(const KernelCall& call, int64_t count, bool is_signed, NumberRange* range) {
  *range = {std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest()};
  for (int64_t i = 0; i < count; ++i) {
    NumberRange one;
    STILLFLOW_RETURN_IF_ERROR(ReadFloat(call, static_cast<int>(1 + count + i), "input_mins", &one.low));
    STILLFLOW_RETURN_IF_ERROR(ReadFloat(call, static_cast<int>(1 + 2 * count + i), "input_maxes", &one.high));
    range->low = std::min(range->low, one.low);
    range->high = std::max(range->high, one.high);
  }
  range->low = std::min(0.0f, range->low);
  if (is_signed) {
    const float largest = std::max(std::fabs(range->low), std::fabs(range->high));
    *range = {-largest, largest};
  }
  return Status();
}

template <typename T>
Status CopyAll(const KernelCall& call, int64_t count, int axis, NumberRange range) {
  const Tensor& out = *call.out[0];
  const int64_t rows = Shape(out).Count(0, axis);
  const int64_t width = rows == 0 ? 0 : out.count / rows;
  const Quantizer<T> code(range);
  int64_t place = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Tensor& array = *call.in[1 + i];
    const int64_t part = rows == 0 ? 0 : array.count / rows;
    const NumberRange own{Data<float>(*call.in[1 + count + i])[0], Data<float>(*call.in[1 + 2 * count + i])[0]};
    const bool is_same = own.low == range.low && own.high == range.high;
    const Dequantizer<T> number(own);
    STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, array.count, kQuantizedPerChunk, [&](Range chunk) {
      for (int64_t j = chunk.begin; j < chunk.end; ++j) {
        const T value = Data<T>(array)[j];
        T* const to = MutableData<T>(*call.out[0]) + j / part * width + place + j % part;
        *to = is_same ? value : code(number(value));
      }
    }));
    place += part;
  }
  return Status();
}

Status Concat(const KernelCall& call) {
  const int64_t count = (call.in_count - 1) / 3;
  if (call.in[0]->count != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Concat dim tensor should be a scalar integer, but got shape %s",
                                      ShapeText(*call.in[0]).c_str());
  }
  const int64_t axis = IntAt(*call.in[0], 0);
  STILLFLOW_RETURN_IF_ERROR(CheckArrays(call, count, axis));
  const DType dtype = call.in[1]->dtype;
  NumberRange range;
  STILLFLOW_RETURN_IF_ERROR(RangeOfAll(call, count, dtype == DType::kQInt32, &range));
  Shape shape(*call.in[1]);
  for (int64_t i = 1; i < count; ++i) shape.dims[axis] += call.in[1 + i]->dims[axis];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, shape));
  STILLFLOW_RETURN_IF_ERROR((ForQuantizedType<uint8_t, int32_t>("QuantizedConcat", dtype, [&](auto tag) {
    return CopyAll<typename decltype(tag)::type>(call, count, static_cast<int>(axis), range);
  })));
  return OutputRange(call, 1, range);
}

}  // namespace

STILLFLOW_KERNELS(quantized, concat){
    {"quantized_concat", "concat_dim, values..., input_mins..., input_maxes...", Concat}, {}};

}  // namespace stillflow
