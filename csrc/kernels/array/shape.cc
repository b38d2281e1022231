// shape, size, rank, broadcast_gradient_args, concat_offset: arithmetic on shapes.
#include <algorithm>
#include <string>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

void StoreInt(Tensor* tensor, int64_t index, int64_t value) {
  if (tensor->dtype == DType::kInt64) {
    MutableData<int64_t>(*tensor)[index] = value;
  } else {
    MutableData<int32_t>(*tensor)[index] = static_cast<int32_t>(value);
  }
}

Status MakeVector(const KernelCall& call, int out, DType type, int64_t count) {
  Shape shape;
  shape.Add(count);
  return AllocateOutput(call, out, type, shape);
}

Status CheckFits(DType type, int64_t value) {
  if (type == DType::kInt64 || value <= INT32_MAX) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Shape output type is 32-bit but a dimension is %lld",
                                    static_cast<long long>(value));
}

// in[0] input; out[0] its shape, of the type that attr 0 names.
Status ShapeOne(const KernelCall& call, int index) {
  const auto type = static_cast<DType>(call.attrs[0].i);
  const Tensor& input = *call.in[index];
  STILLFLOW_RETURN_IF_ERROR(MakeVector(call, index, type, input.rank));
  for (int i = 0; i < input.rank; ++i) {
    STILLFLOW_RETURN_IF_ERROR(CheckFits(type, input.dims[i]));
    StoreInt(call.out[index], i, input.dims[i]);
  }
  return Status();
}

Status ShapeOf(const KernelCall& call) {
  for (int i = 0; i < call.in_count; ++i) STILLFLOW_RETURN_IF_ERROR(ShapeOne(call, i));
  return Status();
}

Status SizeOf(const KernelCall& call) {
  const auto type = static_cast<DType>(call.attrs[0].i);
  STILLFLOW_RETURN_IF_ERROR(CheckFits(type, call.in[0]->count));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, Shape()));
  StoreInt(call.out[0], 0, call.in[0]->count);
  return Status();
}

Status RankOf(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kInt32, Shape()));
  StoreInt(call.out[0], 0, call.in[0]->rank);
  return Status();
}

// in[0], in[1] two shapes; out[0], out[1] the axes of their broadcast result over which the gradient of each
// is summed.
Status BroadcastGradientArgs(const KernelCall& call) {
  const Tensor* shapes[2] = {call.in[0], call.in[1]};
  const int64_t rank = std::max(shapes[0]->count, shapes[1]->count);
  bool are_equal = shapes[0]->count == shapes[1]->count;
  const auto size = [&](int side, int64_t axis) {
    const int64_t offset = rank - shapes[side]->count;
    return axis < offset ? int64_t{1} : IntAt(*shapes[side], axis - offset);
  };
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t a = size(0, i);
    const int64_t b = size(1, i);
    are_equal = are_equal && a == b;
    if (a != b && a != 1 && b != 1) {
      Shape left;
      Shape right;
      for (int64_t k = 0; k < std::min<int64_t>(shapes[0]->count, kMaxRank); ++k) left.Add(IntAt(*shapes[0], k));
      for (int64_t k = 0; k < std::min<int64_t>(shapes[1]->count, kMaxRank); ++k) right.Add(IntAt(*shapes[1], k));
      return STILLFLOW_INVALID_ARGUMENT("Incompatible shapes: %s vs. %s", ShapeText(left).c_str(),
                                        ShapeText(right).c_str());
    }
  }
  for (int side = 0; side < 2; ++side) {
    int64_t count = 0;
    for (int64_t i = 0; !are_equal && i < rank; ++i) count += size(side, i) == 1;
    STILLFLOW_RETURN_IF_ERROR(MakeVector(call, side, shapes[side]->dtype, count));
    int64_t next = 0;
    for (int64_t i = 0; !are_equal && i < rank; ++i) {
      if (size(side, i) == 1) StoreInt(call.out[side], next++, i);
    }
  }
  return Status();
}

// in[0] an axis; in[1...] shapes that differ there alone; out[i] where part i begins in their concatenation.
// "[2 7 10]" of a vector of sizes.
std::string SizesText(const Tensor& sizes) {
  std::string text;
  for (int64_t i = 0; i < sizes.count; ++i) text += (i == 0 ? "" : " ") + std::to_string(IntAt(sizes, i));
  return "[" + text + "]";
}

Status ConcatOffset(const KernelCall& call) {
  const int64_t rank = call.in[1]->count;
  for (int part = 1; part < call.in_count; ++part) {
    if (call.in[part]->rank != 1) {
      return STILLFLOW_INVALID_ARGUMENT("input %d should be a vector, but got a tensor of %d dimensions", part - 1,
                                        static_cast<int>(call.in[part]->rank));
    }
  }
  int64_t axis = IntAt(*call.in[0], 0);
  if (axis < -rank || axis >= rank) {
    return STILLFLOW_INVALID_ARGUMENT("Concat dim is out of range: %lld vs. %lld", static_cast<long long>(axis),
                                      static_cast<long long>(rank));
  }
  axis = axis < 0 ? axis + rank : axis;
  int64_t offset = 0;
  for (int part = 1; part < call.in_count; ++part) {
    if (call.in[part]->count != rank) {
      return STILLFLOW_INVALID_ARGUMENT("input %d should contain %lld elements, but got %lld", part - 1,
                                        static_cast<long long>(rank), static_cast<long long>(call.in[part]->count));
    }
    STILLFLOW_RETURN_IF_ERROR(MakeVector(call, part - 1, call.in[part]->dtype, rank));
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axis && IntAt(*call.in[part], i) != IntAt(*call.in[1], i)) {
        return STILLFLOW_INVALID_ARGUMENT(
            "All dimensions except %lld must match. Input %d has shape %s and doesn't match input 0 with shape %s.",
            static_cast<long long>(axis), part - 1, SizesText(*call.in[part]).c_str(),
            SizesText(*call.in[1]).c_str());
      }
      StoreInt(call.out[part - 1], i, i == axis ? offset : 0);
    }
    offset += IntAt(*call.in[part], axis);
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, shape){{"shape", "inputs... | out_type", ShapeOf},
                                {"size", "input | out_type", SizeOf},
                                {"rank", "input", RankOf},
                                {"broadcast_gradient_args", "s0, s1", BroadcastGradientArgs},
                                {"concat_offset", "axis, shapes...", ConcatOffset},
                                {}};

}  // namespace stillflow
