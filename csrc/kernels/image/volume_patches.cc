// extract_volume_patches: the patches under a window that slides through volumes.
//
//   in[0]   input [batch, planes, rows, columns, depth]
//   out[0]  [batch, out_planes, out_rows, out_columns, elements of the window * depth]
//   attrs   ksizes, strides: five numbers each, of which the first and last are 1; padding: "SAME" or "VALID".
//   Outside
//           of a volume there are zeros.
#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int kAxes = 3;
constexpr int64_t kBytesPerChunk = 65536;

struct Axis {
  int64_t size;
  int64_t window;
  int64_t stride;
  int64_t count;   // of places
  int64_t before;  // how far the first place begins outside
};

Status ReadAttr(const Attr& attr, const char* name, int64_t* three) {
  const auto* values = static_cast<const int64_t*>(attr.data);
  if (attr.size != kAxes + 2) {
    return STILLFLOW_INVALID_ARGUMENT("%s must have 5 elements, got %lld", name, static_cast<long long>(attr.size));
  }
  if (values[0] != 1 || values[4] != 1) return Error(Code::kUnimplemented, "Only support %s across space.", name);
  for (int i = 0; i < kAxes; ++i) {
    three[i] = values[i + 1];
    if (three[i] < 1 || three[i] > INT32_MAX) return Error(Code::kOutOfRange, "%s is out of range.", name);
  }
  return Status();
}

Status ReadAxes(const KernelCall& call, const Tensor& input, Axis* axes) {
  int64_t windows[kAxes], strides[kAxes];
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(call.attrs[0], "ksizes", windows));
  STILLFLOW_RETURN_IF_ERROR(ReadAttr(call.attrs[1], "strides", strides));
  const bool is_same = static_cast<const char*>(call.attrs[2].data)[0] == 'S';
  for (int i = 0; i < kAxes; ++i) {
    const int64_t size = input.dims[i + 1];
    const int64_t count =
        is_same ? (size + strides[i] - 1) / strides[i] : (size - windows[i] + strides[i]) / strides[i];
    if (count < 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: "
          "%lld]",
          static_cast<long long>(count), static_cast<long long>(size), static_cast<long long>(windows[i]),
          static_cast<long long>(strides[i]));
    }
    const int64_t outside = is_same ? std::max<int64_t>((count - 1) * strides[i] + windows[i] - size, 0) : 0;
    axes[i] = {size, windows[i], strides[i], count, outside / 2};
  }
  return Status();
}

// The window at a place of the volume, its rows of pixels one after the other.
void CopyWindow(const char* volume, const Axis* axes, const int64_t* corner, int64_t pixel_bytes, char* to) {
  for (int64_t i = 0; i < axes[0].window; ++i) {
    for (int64_t j = 0; j < axes[1].window; ++j) {
      const int64_t plane = corner[0] + i, row = corner[1] + j;
      const bool is_inside = plane >= 0 && plane < axes[0].size && row >= 0 && row < axes[1].size;
      for (int64_t k = 0; k < axes[2].window; ++k, to += pixel_bytes) {
        const int64_t column = corner[2] + k;
        if (is_inside && column >= 0 && column < axes[2].size) {
          const int64_t pixel = (plane * axes[1].size + row) * axes[2].size + column;
          std::memcpy(to, volume + pixel * pixel_bytes, pixel_bytes);
        } else {
          std::memset(to, 0, pixel_bytes);
        }
      }
    }
  }
}

Status ExtractVolumePatches(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank != kAxes + 2) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 5-dimensional%s", ShapeText(input).c_str());
  }
  Axis axes[kAxes];
  STILLFLOW_RETURN_IF_ERROR(ReadAxes(call, input, axes));
  int64_t width = input.dims[4];
  for (const Axis& axis : axes) {
    if (__builtin_mul_overflow(width, axis.window, &width)) return OutOfScratch();
  }
  Shape shape;
  for (const int64_t size : {input.dims[0], axes[0].count, axes[1].count, axes[2].count, width}) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  const int64_t pixel_bytes = input.dims[4] * ElementBytes(input.dtype);
  const int64_t volume_bytes = axes[0].size * axes[1].size * axes[2].size * pixel_bytes;
  const int64_t window_bytes = width * ElementBytes(input.dtype);
  const int64_t windows = shape.Count(0, kAxes + 1);
  return ForEachChunk(call, windows, std::max<int64_t>(kBytesPerChunk / window_bytes, 1), [&](Range range) {
    for (int64_t window = range.begin; window < range.end; ++window) {
      int64_t corner[kAxes];
      int64_t place = window;
      for (int i = kAxes - 1; i >= 0; --i) {
        corner[i] = place % axes[i].count * axes[i].stride - axes[i].before;
        place /= axes[i].count;
      }
      CopyWindow(Data<char>(input) + place * volume_bytes, axes, corner, pixel_bytes,
                 MutableData<char>(*call.out[0]) + window * window_bytes);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(image, volume_patches){
    {"extract_volume_patches", "input | ksizes, strides, padding", ExtractVolumePatches}, {}};

}  // namespace stillflow
