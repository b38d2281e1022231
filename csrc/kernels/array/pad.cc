// pad, pad_v2, mirror_pad, mirror_pad_grad: padding by a constant or by reflection.
//
//   pad              in[0] input; in[1] paddings, int32 | int64[rank of input, 2]; out[0] zeros around the input
//   pad_v2           in[2] value, a scalar, instead of the zeros
//   mirror_pad       out[0] the input mirrored at its outermost elements (mode REFLECT) or just outside of them
//   mirror_pad_grad  the reverse: what mirror_pad copied is added up again, left side before right side
#include <algorithm>

#include "kernel_api/element_width.h"
#include "memory/row_update.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kElementsPerChunk = 65536;

Status CheckPaddings(const Tensor& input, const Tensor& paddings) {
  if (paddings.rank != 2 || paddings.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("paddings must be a matrix with 2 columns: %s", ShapeText(paddings).c_str());
  }
  if (paddings.dims[0] != input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("The first dimension of paddings must be the rank of inputs%s %s",
                                      ShapeText(paddings).c_str(), ShapeText(input).c_str());
  }
  return Status();
}

// What comes before and after each dimension.
struct Paddings {
  int64_t before[kMaxRank];
  int64_t after[kMaxRank];
};

Status ReadPaddings(const Tensor& input, const Tensor& tensor, Paddings* paddings, Shape* shape) {
  STILLFLOW_RETURN_IF_ERROR(CheckPaddings(input, tensor));
  for (int i = 0; i < input.rank; ++i) {
    const int64_t before = paddings->before[i] = IntAt(tensor, 2 * i);
    const int64_t after = paddings->after[i] = IntAt(tensor, 2 * i + 1);
    if (before < 0 || after < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Paddings must be non-negative: %lld %lld", static_cast<long long>(before),
                                        static_cast<long long>(after));
    }
    int64_t size = 0;
    if (__builtin_add_overflow(before, after, &size) || __builtin_add_overflow(size, input.dims[i], &size)) {
      return STILLFLOW_INVALID_ARGUMENT("Expected a non-negative size: the padded dimension %d overflows", i);
    }
    shape->Add(size);
  }
  int64_t count = 0;
  return CheckedCount(*shape, &count);
}

template <typename T>
Status Fill(const KernelCall& call, T value) {
  T* to = MutableData<T>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kElementsPerChunk,
                      [&](Range range) { std::fill(to + range.begin, to + range.end, value); });
}

Status FillWith(const KernelCall& call, const Tensor& value) {
  return ForWidth("PadV2", value.dtype,
                  [&](auto tag) { return Fill(call, *Data<typename decltype(tag)::type>(value)); });
}

Status CopyIntoMiddle(const KernelCall& call, const Paddings& paddings, const Shape& shape) {
  const Tensor& input = *call.in[0];
  const int64_t element_bytes = ElementBytes(input.dtype);
  int64_t from_strides[kMaxRank];
  int64_t to_strides[kMaxRank];
  DenseStrides(Shape(input), from_strides);
  DenseStrides(shape, to_strides);
  StridedCopy copy;
  int64_t offset = 0;
  for (int i = 0; i < input.rank; ++i) {
    copy.Add(input.dims[i], from_strides[i], to_strides[i]);
    offset += paddings.before[i] * to_strides[i];
  }
  char* to = MutableData<char>(*call.out[0]) + offset * element_bytes;
  STILLFLOW_RETURN_IF_ERROR(CopyStrided(call, copy, element_bytes, input.data, to));
  RetainStrings(*call.out[0]);
  return Status();
}

Status Pad(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  Paddings paddings;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadPaddings(input, *call.in[1], &paddings, &shape));
  if (shape == Shape(input)) {
    Alias(call, 0, 0, shape);
    return Status();
  }
  const bool has_value = call.in_count == 3;
  if (has_value && (call.in[2]->count != 1 || call.in[2]->rank != 0)) {
    return STILLFLOW_INVALID_ARGUMENT("constant_values must be a scalar. Found: %s", ShapeText(*call.in[2]).c_str());
  }
  if (has_value) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
    STILLFLOW_RETURN_IF_ERROR(FillWith(call, *call.in[2]));
  } else {
    STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, input.dtype, shape));
  }
  return CopyIntoMiddle(call, paddings, shape);
}

// ---- Mirrors ------------------------------------------------------------------------------------------------

// 1 if the outermost element is the mirror itself, 0 if the mirror is outside of it.
int64_t MirrorOffset(const Attr& mode) { return mode.size == 7 && std::memcmp(mode.data, "REFLECT", 7) == 0 ? 1 : 0; }

Status CheckMirror(const Shape& inner, const Paddings& paddings, int64_t offset) {
  for (int i = 0; i < inner.rank; ++i) {
    const int64_t most = inner.dims[i] - offset;
    if (std::max(paddings.before[i], paddings.after[i]) > std::max<int64_t>(most, 0)) {
      return STILLFLOW_INVALID_ARGUMENT(
          "paddings must be %s the dimension size: %lld, %lld, %lld", offset == 1 ? "less than" : "no greater than",
          static_cast<long long>(paddings.before[i]), static_cast<long long>(paddings.after[i]),
          static_cast<long long>(inner.dims[i]));
    }
  }
  return Status();
}

// Which element of a dimension of `size` stands at `place` of the padded one.
int64_t Mirrored(int64_t place, int64_t before, int64_t size, int64_t offset) {
  const int64_t at = place - before;
  if (at < 0) return -at - 1 + offset;
  if (at >= size) return 2 * size - at - 1 - offset;
  return at;
}

template <typename T>
Status MirrorRows(const KernelCall& call, const Paddings& paddings, const Shape& shape, int64_t offset) {
  const Tensor& input = *call.in[0];
  const int last = shape.rank - 1;
  const int64_t width = shape.dims[last];
  const int64_t size = input.dims[last];
  const int64_t before = paddings.before[last];
  int64_t strides[kMaxRank];
  DenseStrides(Shape(input), strides);
  const T* from = Data<T>(input);
  T* to = MutableData<T>(*call.out[0]);
  const int64_t rows_per_chunk = std::max<int64_t>(kElementsPerChunk / std::max<int64_t>(width, 1), 1);
  return ForEachChunk(call, shape.Count(0, last), rows_per_chunk, [&](Range rows) {
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const T* source = from;
      int64_t rest = row;
      for (int i = last - 1; i >= 0; --i) {
        source += Mirrored(rest % shape.dims[i], paddings.before[i], input.dims[i], offset) * strides[i];
        rest /= shape.dims[i];
      }
      T* target = to + row * width;
      for (int64_t i = 0; i < before; ++i) target[i] = source[before - i - 1 + offset];
      std::memcpy(target + before, source, size * sizeof(T));
      for (int64_t i = before + size; i < width; ++i) target[i] = source[2 * size - (i - before) - 1 - offset];
    }
  });
}

Status MirrorPad(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const int64_t offset = MirrorOffset(call.attrs[0]);
  Paddings paddings;
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ReadPaddings(input, *call.in[1], &paddings, &shape));
  STILLFLOW_RETURN_IF_ERROR(CheckMirror(Shape(input), paddings, offset));
  if (shape == Shape(input)) {
    Alias(call, 0, 0, shape);
    return Status();
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  STILLFLOW_RETURN_IF_ERROR(ForWidth("MirrorPad", input.dtype, [&](auto tag) {
    return MirrorRows<typename decltype(tag)::type>(call, paddings, shape, offset);
  }));
  RetainStrings(*call.out[0]);
  return Status();
}

// Adds what was mirrored from dimension `axis` to where it came from.
void Fold(RowFunction add, int64_t bytes, char* data, const Shape& shape, int axis, const Paddings& paddings,
          int64_t offset) {
  const int64_t outer = shape.Count(0, axis);
  const int64_t inner = shape.Count(axis + 1, shape.rank);
  const int64_t before = paddings.before[axis];
  const int64_t size = shape.dims[axis] - before - paddings.after[axis];
  const auto add_row = [&](char* block, int64_t place) {
    const int64_t target = before + Mirrored(place, before, size, offset);
    add(block, &target, block, &place, 1, inner, inner, nullptr);
  };
  for (int64_t k = 0; k < outer; ++k) {
    char* block = data + k * shape.dims[axis] * inner * bytes;
    for (int64_t place = 0; place < before; ++place) add_row(block, place);
    for (int64_t place = before + size; place < shape.dims[axis]; ++place) add_row(block, place);
  }
}

Status MirrorPadGrad(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const int64_t offset = MirrorOffset(call.attrs[0]);
  STILLFLOW_RETURN_IF_ERROR(CheckPaddings(input, *call.in[1]));
  Paddings paddings;
  Shape shape;
  int64_t strides[kMaxRank];
  DenseStrides(Shape(input), strides);
  int64_t begin = 0;
  for (int i = 0; i < input.rank; ++i) {
    paddings.before[i] = IntAt(*call.in[1], 2 * i);
    paddings.after[i] = IntAt(*call.in[1], 2 * i + 1);
    if (paddings.before[i] < 0 || paddings.after[i] < 0) {
      return STILLFLOW_INVALID_ARGUMENT("Paddings must be non-negative: %lld, %lld",
                                        static_cast<long long>(paddings.before[i]),
                                        static_cast<long long>(paddings.after[i]));
    }
    if (paddings.before[i] > input.dims[i] || paddings.after[i] > input.dims[i] - paddings.before[i]) {
      return STILLFLOW_INVALID_ARGUMENT("Total paddings must be less than the input dimension size: %lld, %lld, %lld",
                                        static_cast<long long>(paddings.before[i]),
                                        static_cast<long long>(paddings.after[i]),
                                        static_cast<long long>(input.dims[i]));
    }
    shape.Add(input.dims[i] - paddings.before[i] - paddings.after[i]);
    begin += paddings.before[i] * strides[i];
  }
  STILLFLOW_RETURN_IF_ERROR(CheckMirror(shape, paddings, offset));
  const RowFunction add = RowFunctionOf(RowOperation::kAdd, input.dtype);
  if (add == nullptr || input.dtype == DType::kBool) return UnsupportedType("MirrorPadGrad", input.dtype);
  const int64_t element_bytes = ElementBytes(input.dtype);
  const Scratch scratch(call, input.count * element_bytes);
  if (!scratch.ok()) return OutOfScratch();
  std::memcpy(scratch.data<char>(), input.data, input.count * element_bytes);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  int64_t to_strides[kMaxRank];
  DenseStrides(shape, to_strides);
  StridedCopy copy;
  for (int i = 0; i < shape.rank; ++i) copy.Add(shape.dims[i], strides[i], to_strides[i]);
  char* const data = scratch.data<char>();
  for (int i = 0; i < shape.rank; ++i) Fold(add, element_bytes, data, Shape(input), i, paddings, offset);
  return CopyStrided(call, copy, element_bytes, data + begin * element_bytes, call.out[0]->data);
}

}  // namespace

STILLFLOW_KERNELS(array, pad){{"pad", "input, paddings", Pad},
                              {"pad_v2", "input, paddings, value", Pad},
                              {"mirror_pad", "input, paddings | mode", MirrorPad},
                              {"mirror_pad_grad", "input, paddings | mode", MirrorPadGrad},
                              {}};

}  // namespace stillflow
