// select, select_v2: elements of one tensor or another, by a condition.
//
//   in[0]  condition  bool; select: of the branches' shape, a scalar, or a vector that chooses among rows
//   in[1]  then       any type
//   in[2]  else       its type; for select its shape, for select_v2 all three are broadcast
//   out[0] the branches' shape resp. the broadcast shape
#include <cstring>

#include "arithmetic/math/choice.h"
#include "kernel_api/broadcast.h"
#include "kernel_api/element_width.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 1 << 16;

template <typename T>
Status ChooseElements(const KernelCall& call) {
  const bool* condition = Data<bool>(*call.in[0]);
  const T* then = Data<T>(*call.in[1]);
  const T* otherwise = Data<T>(*call.in[2]);
  T* to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kBytesPerChunk / static_cast<int64_t>(sizeof(T)), [=](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      if constexpr (std::is_integral_v<T>) {
        to[i] = Choose(condition[i], then[i], otherwise[i]);
      } else {
        to[i] = condition[i] ? then[i] : otherwise[i];
      }
    }
  });
}

template <typename T>
Status ChooseBroadcast(const KernelCall& call, const Shape& shape) {
  T* to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kBytesPerChunk / static_cast<int64_t>(sizeof(T)), [&](Range range) {
    BroadcastWalk at_condition(Shape(*call.in[0]), shape, range.begin);
    BroadcastWalk at_then(Shape(*call.in[1]), shape, range.begin);
    BroadcastWalk at_otherwise(Shape(*call.in[2]), shape, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, at_condition.Next(), at_then.Next(), at_otherwise.Next()) {
      to[i] = Data<bool>(*call.in[0])[at_condition.index()] ? Data<T>(*call.in[1])[at_then.index()]
                                                            : Data<T>(*call.in[2])[at_otherwise.index()];
    }
  });
}

// A row of `width` bytes for each element of the condition.
Status ChooseRows(const KernelCall& call, int64_t rows, int64_t width) {
  const bool* condition = Data<bool>(*call.in[0]);
  const char* branches[2] = {Data<char>(*call.in[2]), Data<char>(*call.in[1])};
  char* to = MutableData<char>(*call.out[0]);
  return ForEachChunk(call, rows, std::max<int64_t>(kBytesPerChunk / std::max<int64_t>(width, 1), 1),
                      [&](Range range) {
                        for (int64_t i = range.begin; i < range.end; ++i) {
                          std::memcpy(to + i * width, branches[condition[i] ? 1 : 0] + i * width, width);
                        }
                      });
}

Status CheckRows(const Tensor& condition, const Tensor& then) {
  if (then.rank == 0) {
    return STILLFLOW_INVALID_ARGUMENT("'then' must be at least a vector, but saw shape: %s", ShapeText(then).c_str());
  }
  if (then.dims[0] == condition.count) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Number of batches of 'then' must match size of 'cond', but saw: %lld vs. %lld",
                                    static_cast<long long>(then.dims[0]), static_cast<long long>(condition.count));
}

Status Select(const KernelCall& call) {
  const Tensor& condition = *call.in[0];
  const Tensor& then = *call.in[1];
  const Tensor& otherwise = *call.in[2];
  const Shape shape(then);
  const bool is_whole = Shape(condition) == shape;
  if (!(shape == Shape(otherwise))) {
    if (is_whole) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Inputs to operation of type Select must have the same size and shape.  Input 0: %s != input 2: %s",
          ShapeText(condition).c_str(), ShapeText(otherwise).c_str());
    }
    return STILLFLOW_INVALID_ARGUMENT("'then' and 'else' must have the same size.  but received: %s vs. %s",
                                      ShapeText(then).c_str(), ShapeText(otherwise).c_str());
  }
  if (condition.rank == 0) {
    Alias(call, *Data<bool>(condition) ? 1 : 2, 0, shape);
    return Status();
  }
  if (!is_whole && condition.rank == 1) {
    STILLFLOW_RETURN_IF_ERROR(CheckRows(condition, then));
  } else if (!is_whole) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Inputs to operation of type Select must have the same size and shape.  Input 0: %s != input 1: %s",
        ShapeText(condition).c_str(), ShapeText(then).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, then.dtype, shape));
  Status status;
  if (is_whole) {
    status =
        ForWidth("Select", then.dtype, [&](auto tag) { return ChooseElements<typename decltype(tag)::type>(call); });
  } else if (then.count > 0) {
    status = ChooseRows(call, condition.count, then.count / condition.count * ElementBytes(then.dtype));
  }
  if (HasCells(then.dtype)) RetainStrings(*call.out[0]);
  return status;
}

Status SelectV2(const KernelCall& call) {
  Shape branches;
  Shape shape;
  if (!BroadcastTwo(Shape(*call.in[1]), Shape(*call.in[2]), &branches).ok() ||
      !BroadcastTwo(Shape(*call.in[0]), branches, &shape).ok()) {
    return STILLFLOW_INVALID_ARGUMENT("condition %s, then %s, and else %s must be broadcastable",
                                      ShapeText(*call.in[0]).c_str(), ShapeText(*call.in[1]).c_str(),
                                      ShapeText(*call.in[2]).c_str());
  }
  const DType type = call.in[1]->dtype;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, type, shape));
  Status status =
      ForWidth("Select", type, [&](auto tag) { return ChooseBroadcast<typename decltype(tag)::type>(call, shape); });
  if (HasCells(type)) RetainStrings(*call.out[0]);
  return status;
}

}  // namespace

STILLFLOW_KERNELS(math, select){
    {"select", "condition, t, e", Select}, {"select_v2", "condition, t, e", SelectV2}, {}};

}  // namespace stillflow
