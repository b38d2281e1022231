// extract_image_patches: the patches under a sliding window (im2col).
//
//   in[0]   images [batch, rows, columns, depth]
//   out[0]  [batch, out_rows, out_columns, window rows * window columns * depth]
//   attrs   ksizes, strides, rates: four numbers each, of which the first and last are 1; padding: "SAME" or "VALID".
//           Outside of an image there are zeros.
#include <algorithm>

#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 65536;

// How a window goes along one axis.
struct Axis {
  int64_t size;
  int64_t window;
  int64_t stride;
  int64_t rate;
  int64_t count;   // of places
  int64_t before;  // how far the first place begins outside

  Status Resolve(bool is_same) {
    const int64_t effective = window + (window - 1) * (rate - 1);
    count = is_same ? (size + stride - 1) / stride : (size - effective + stride) / stride;
    if (count < 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: "
          "%lld]",
          static_cast<long long>(count), static_cast<long long>(size), static_cast<long long>(effective),
          static_cast<long long>(stride));
    }
    before = is_same ? std::max<int64_t>((count - 1) * stride + effective - size, 0) / 2 : 0;
    return Status();
  }
};

// The numbers of an attribute for rows and columns.
Status ReadPair(const Attr& attr, const char* name, int64_t* rows, int64_t* columns) {
  const auto* values = static_cast<const int64_t*>(attr.data);
  if (attr.size != 4) {
    return STILLFLOW_INVALID_ARGUMENT("%s must have 4 elements, got %lld", name, static_cast<long long>(attr.size));
  }
  if (values[0] != 1 || values[3] != 1) return Error(Code::kUnimplemented, "Only support %s across space.", name);
  if (values[1] < 1 || values[2] < 1 || values[1] > INT32_MAX || values[2] > INT32_MAX) {
    return Error(Code::kOutOfRange, "%s is out of range.", name);
  }
  *rows = values[1];
  *columns = values[2];
  return Status();
}

// What a line of places is copied from: where its windows begin, and how they go on.
struct Copy {
  const Axis& rows;
  const Axis& columns;
  int64_t pixel_bytes;

  // The windows of one line, one after the other.
  void Line(const char* image, int64_t top, char* to) const {
    for (int64_t place = 0; place < columns.count; ++place) {
      const int64_t left = place * columns.stride - columns.before;
      for (int64_t i = 0; i < rows.window; ++i) {
        for (int64_t j = 0; j < columns.window; ++j, to += pixel_bytes) {
          Pixel(image, top + i * rows.rate, left + j * columns.rate, to);
        }
      }
    }
  }
  void Pixel(const char* image, int64_t row, int64_t column, char* to) const {
    if (row >= 0 && row < rows.size && column >= 0 && column < columns.size) {
      std::memcpy(to, image + (row * columns.size + column) * pixel_bytes, pixel_bytes);
    } else {
      std::memset(to, 0, pixel_bytes);
    }
  }
};

Status ExtractImagePatches(const KernelCall& call) {
  const Tensor& images = *call.in[0];
  if (images.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(images).c_str());
  }
  Axis rows{images.dims[1], 0, 0, 0, 0, 0};
  Axis columns{images.dims[2], 0, 0, 0, 0, 0};
  STILLFLOW_RETURN_IF_ERROR(ReadPair(call.attrs[0], "ksizes", &rows.window, &columns.window));
  STILLFLOW_RETURN_IF_ERROR(ReadPair(call.attrs[1], "strides", &rows.stride, &columns.stride));
  STILLFLOW_RETURN_IF_ERROR(ReadPair(call.attrs[2], "rates", &rows.rate, &columns.rate));
  const bool is_same = static_cast<const char*>(call.attrs[3].data)[0] == 'S';
  STILLFLOW_RETURN_IF_ERROR(rows.Resolve(is_same));
  STILLFLOW_RETURN_IF_ERROR(columns.Resolve(is_same));
  const int64_t depth = images.dims[3];
  int64_t width = 0;
  if (__builtin_mul_overflow(rows.window * columns.window, depth, &width)) return OutOfScratch();
  Shape shape;
  for (const int64_t size : {images.dims[0], rows.count, columns.count, width}) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, images.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  const int64_t pixel_bytes = depth * ElementBytes(images.dtype);
  const int64_t line_bytes = columns.count * rows.window * columns.window * pixel_bytes;
  const auto* from = Data<char>(images);
  auto* to = MutableData<char>(*call.out[0]);
  const Copy copy{rows, columns, pixel_bytes};
  const int64_t lines_per_chunk = std::max<int64_t>(kBytesPerChunk / line_bytes, 1);
  return ForEachChunk(call, images.dims[0] * rows.count, lines_per_chunk, [&](Range range) {
    for (int64_t line = range.begin; line < range.end; ++line) {
      const char* const image = from + line / rows.count * rows.size * columns.size * pixel_bytes;
      copy.Line(image, line % rows.count * rows.stride - rows.before, to + line * line_bytes);
    }
  });
}

}  // namespace

STILLFLOW_KERNELS(image, patches){
    {"extract_image_patches", "images | ksizes, strides, rates, padding", ExtractImagePatches}, {}};

}  // namespace stillflow
