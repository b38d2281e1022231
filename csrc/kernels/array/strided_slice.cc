// strided_slice, strided_slice_grad, strided_slice_assign, strided_slice_update: the part of an array that
// `array[a:b:c, ..., i]` names.
//
//   strided_slice         in[0] input; in[1..3] begin, end, strides, int32 | int64[entries]; out[0] the part
//   strided_slice_grad    in[0] shape; in[1..3]; in[4] dy, of the part's shape; out[0] dy in zeros of that shape
//   strided_slice_assign  in[0] variable; in[1..3]; in[4] value, of the part's shape
//   strided_slice_update  in[0] input; in[1..3]; in[4] value, of the part's shape; out[0] the input with that part
//   attrs                 begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask: a bit per entry
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int kMostEntries = 32;

// The part of an array, as a shape and as strides into the array; `shape` and `strides` leave out the dimensions
// that single indices take away, and have those that are new.
struct Part {
  Shape shape;
  int64_t strides[kMaxRank];
  int64_t offset = 0;
};

struct Masks {
  explicit Masks(const Attr* attrs)
      : begin(attrs[0].i), end(attrs[1].i), ellipsis(attrs[2].i), new_axis(attrs[3].i), shrink(attrs[4].i) {}
  uint64_t begin;
  uint64_t end;
  uint64_t ellipsis;
  uint64_t new_axis;
  uint64_t shrink;
};

bool Has(uint64_t mask, int entry) { return (mask >> entry & 1) != 0; }

Status AddDimension(Part* part, int64_t size, int64_t stride) {
  if (part->shape.rank == kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank);
  }
  part->strides[part->shape.rank] = stride;
  part->shape.Add(size);
  return Status();
}

struct Entry {
  int64_t begin;
  int64_t end;
  int64_t stride;
  bool has_begin;
  bool has_end;
};

// Where a range goes in a dimension of `size`: its first element and how many there are.
void ResolveRange(const Entry& entry, int64_t size, int64_t* first, int64_t* count) {
  const bool is_forward = entry.stride > 0;
  const int64_t least = is_forward ? 0 : -1;
  const int64_t most = is_forward ? size : size - 1;
  const auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + size : at, least, most); };
  const int64_t begin = entry.has_begin ? place(entry.begin) : (is_forward ? least : most);
  const int64_t end = entry.has_end ? place(entry.end) : (is_forward ? most : least);
  *first = begin;
  const int64_t distance = is_forward ? end - begin : begin - end;
  // The stride may be the smallest integer, which has no positive counterpart.
  const uint64_t step = is_forward ? entry.stride : uint64_t{0} - static_cast<uint64_t>(entry.stride);
  *count = distance <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / step + 1);
}

Status AddEntry(const Entry& entry, bool shrinks, int dimension, int64_t size, int64_t stride, Part* part) {
  if (entry.stride == 0) return STILLFLOW_INVALID_ARGUMENT("strides[%d] must be non-zero", dimension);
  if (shrinks) {
    if (entry.stride < 0) return STILLFLOW_INVALID_ARGUMENT("only stride 1 allowed on non-range indexing.");
    const int64_t at = entry.begin < 0 ? entry.begin + size : entry.begin;
    if (at < 0 || at >= size) {
      return STILLFLOW_INVALID_ARGUMENT("slice index %lld of dimension %d out of bounds.", static_cast<long long>(at),
                                        dimension);
    }
    part->offset += at * stride;
    return Status();
  }
  int64_t first = 0;
  int64_t count = 0;
  ResolveRange(entry, size, &first, &count);
  part->offset += count > 0 ? first * stride : 0;
  return AddDimension(part, count, count > 1 ? entry.stride * stride : stride);
}

Status Resolve(const KernelCall& call, const Shape& whole, Part* part) {
  const Tensor& begin = *call.in[1];
  const Tensor& end = *call.in[2];
  const Tensor& strides = *call.in[3];
  const int64_t count = begin.count;
  if (begin.rank != 1 || end.rank != 1 || strides.rank != 1 || end.count != count || strides.count != count ||
      count >= kMostEntries) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes %s, %s, and %s instead.",
        ShapeText(begin).c_str(), ShapeText(end).c_str(), ShapeText(strides).c_str());
  }
  const Masks masks(call.attrs);
  const uint64_t ellipsis = masks.ellipsis & ((uint64_t{1} << count) - 1);
  if ((ellipsis & (ellipsis - 1)) != 0) {
    return STILLFLOW_INVALID_ARGUMENT("Multiple ellipses in slice spec not allowed");
  }
  const int ellipsis_at = ellipsis == 0 ? static_cast<int>(count) : __builtin_ctzll(ellipsis);
  int entries_after = 0;
  for (int i = ellipsis_at + 1; i < count; ++i) entries_after += !Has(masks.new_axis, i);

  int64_t whole_strides[kMaxRank];
  DenseStrides(whole, whole_strides);
  int dimension = 0;
  for (int i = 0; i < std::max<int>(count, ellipsis_at + 1); ++i) {
    if (i == ellipsis_at) {
      for (; dimension < whole.rank - entries_after; ++dimension) {
        STILLFLOW_RETURN_IF_ERROR(AddDimension(part, whole.dims[dimension], whole_strides[dimension]));
      }
    } else if (Has(masks.new_axis, i)) {
      STILLFLOW_RETURN_IF_ERROR(AddDimension(part, 1, 1));
    } else if (dimension == whole.rank) {
      return STILLFLOW_INVALID_ARGUMENT("Index out of range using input dim %d; input has only %d dims", dimension,
                                        whole.rank);
    } else {
      const Entry entry{IntAt(begin, i), IntAt(end, i), IntAt(strides, i), !Has(masks.begin, i), !Has(masks.end, i)};
      STILLFLOW_RETURN_IF_ERROR(
          AddEntry(entry, Has(masks.shrink, i), dimension, whole.dims[dimension], whole_strides[dimension], part));
      ++dimension;
    }
  }
  return Status();
}

Status StridedSlice(const KernelCall& call) {
  Part part;
  STILLFLOW_RETURN_IF_ERROR(Resolve(call, Shape(*call.in[0]), &part));
  return TakeStrided(call, 0, 0, part.shape, part.offset, part.strides);
}

// Copies in[4] into the part of an array.
Status CopyIntoPart(const KernelCall& call, const Part& part, void* to) {
  const Tensor& values = *call.in[4];
  const int64_t element_bytes = ElementBytes(values.dtype);
  int64_t strides[kMaxRank];
  DenseStrides(part.shape, strides);
  StridedCopy copy;
  for (int i = 0; i < part.shape.rank; ++i) copy.Add(part.shape.dims[i], strides[i], part.strides[i]);
  return CopyStrided(call, copy, element_bytes, values.data, static_cast<char*>(to) + part.offset * element_bytes);
}

Status StridedSliceGrad(const KernelCall& call) {
  const Tensor& dy = *call.in[4];
  Shape whole;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[0], &whole));
  Part part;
  STILLFLOW_RETURN_IF_ERROR(Resolve(call, whole, &part));
  if (!(part.shape == Shape(dy))) {
    return STILLFLOW_INVALID_ARGUMENT("shape of dy was %s instead of %s", ShapeText(dy).c_str(),
                                      ShapeText(part.shape).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, dy.dtype, whole));
  STILLFLOW_RETURN_IF_ERROR(CopyIntoPart(call, part, call.out[0]->data));
  RetainStrings(*call.out[0]);
  return Status();
}

Status CheckValue(const Part& part, const Tensor& value) {
  if (part.shape == Shape(value)) return Status();
  return Error(Code::kUnimplemented,
               "sliced l-value shape %s does not match r-value shape %s. Automatic broadcasting not yet implemented.",
               ShapeText(part.shape).c_str(), ShapeText(value).c_str());
}

Status StridedSliceUpdate(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Part part;
  STILLFLOW_RETURN_IF_ERROR(Resolve(call, Shape(input), &part));
  if (part.shape.Count() == 0) {  // of any value, as in TensorFlow
    Alias(call, 0, 0, Shape(input));
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(CheckValue(part, *call.in[4]));
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, input.dtype, Shape(input)));
  if (call.out[0]->data != input.data) {
    STILLFLOW_RETURN_IF_ERROR(CopyRun(call, input.count * ElementBytes(input.dtype), input.data, call.out[0]->data));
  }
  STILLFLOW_RETURN_IF_ERROR(CopyIntoPart(call, part, call.out[0]->data));
  RetainStrings(*call.out[0]);
  return Status();
}

Status StridedSliceAssign(const KernelCall& call) {
  Variable* variable = VariableOf(*call.in[0]);
  const Tensor& value = *call.in[4];
  MutexLock guard(variable->mutex);
  if (variable->value.buffer == nullptr) return Uninitialized(*variable);
  Part part;
  STILLFLOW_RETURN_IF_ERROR(Resolve(call, Shape(variable->value), &part));
  if (part.shape.Count() == 0) return Status();  // of any value, as in TensorFlow
  STILLFLOW_RETURN_IF_ERROR(CheckValue(part, value));
  STILLFLOW_RETURN_IF_ERROR(MakeUnique(*call.services, variable));
  if (HasCells(value.dtype)) {
    return Error(Code::kUnimplemented, "Parts of a variable of strings cannot be assigned");
  }
  return CopyIntoPart(call, part, variable->value.data);
}

}  // namespace

STILLFLOW_KERNELS(array, strided_slice){
    {"strided_slice",
     "input, begin, end, strides | begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask",
     StridedSlice},
    {"strided_slice_grad",
     "shape, begin, end, strides, dy | begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask",
     StridedSliceGrad},
    {"strided_slice_assign",
     "variable, begin, end, strides, value | begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask",
     StridedSliceAssign},
    {"strided_slice_update",
     "input, begin, end, strides, value | begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask",
     StridedSliceUpdate},
    {}};

}  // namespace stillflow
