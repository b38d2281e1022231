// quantized_conv2d, quantized_max_pool, quantized_avg_pool: windows over images of integers of 8 bits.
//
//   conv2d  in[0] input quint8 [batch, rows, columns, depth], in[1] filter quint8 [rows, columns, depth, out_depth];
//           in[2..3], in[4..5] what their least and largest integers stand for; out[0] qint32; attrs strides,
//           padding, dilations, all 1
//   pools   in[0] quint8 [batch, rows, columns, depth], in[1], in[2] its range; out[0] quint8; attrs ksize, strides,
//           padding
//   out[1], out[2]  the range of out[0]
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

using Byte = uint8_t;

struct Axis {
  int64_t size;
  int64_t window;
  int64_t stride;
  int64_t count = 0;   // of places
  int64_t before = 0;  // how far the first place begins outside

  Status Resolve(bool is_same) {
    count = is_same ? (size + stride - 1) / stride : (size - window + stride) / stride;
    if (count < 0) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Computed output size would be negative: %lld [input_size: %lld, effective_filter_size: %lld, stride: "
          "%lld]",
          static_cast<long long>(count), static_cast<long long>(size), static_cast<long long>(window),
          static_cast<long long>(stride));
    }
    return Status();
  }
  int64_t Begin(int64_t place) const { return place * stride - before; }
};

const int64_t* Numbers(const Attr& attr) { return static_cast<const int64_t*>(attr.data); }
bool IsSame(const Attr& attr) { return static_cast<const char*>(attr.data)[0] == 'S'; }

// ---- Convolution --------------------------------------------------------------------------------------------------

Status CheckStrides(const Attr& strides, const Attr& dilations) {
  const int64_t* const s = Numbers(strides);
  if (strides.size != 4) {
    return STILLFLOW_INVALID_ARGUMENT("Sliding window strides field must specify 4 dimensions");
  }
  if (s[1] != s[2] || s[1] < 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation only supports equal length strides in the row and column dimensions.");
  }
  if (s[0] != 1 || s[3] != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation does not yet support strides in the batch and depth dimensions.");
  }
  const int64_t* const d = Numbers(dilations);
  if (dilations.size != 4) return STILLFLOW_INVALID_ARGUMENT("Dilations field must specify 4 dimensions");
  if (d[1] != 1 || d[2] != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation only supports dilated rate as 1 in the row and column dimensions.");
  }
  if (d[0] != 1 || d[3] != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Current implementation does not yet support dilations in the batch and depth dimensions.");
  }
  return Status();
}

struct Convolution {
  Axis rows, columns;
  int64_t depth, out_depth;
  const Byte* filter;
  int32_t input_zero, filter_zero;

  // The sums of one place; what is outside stands for zero.
  void Place(const Byte* image, int64_t row, int64_t column, int32_t* sums) const {
    std::fill_n(sums, out_depth, 0);
    for (int64_t i = 0; i < rows.window; ++i) {
      for (int64_t j = 0; j < columns.window; ++j) {
        const int64_t y = row + i, x = column + j;
        if (y < 0 || y >= rows.size || x < 0 || x >= columns.size) continue;
        const Byte* const pixel = image + (y * columns.size + x) * depth;
        const Byte* const weights = filter + (i * columns.window + j) * depth * out_depth;
        for (int64_t k = 0; k < depth; ++k) {
          const int32_t factor = int32_t{pixel[k]} - input_zero;
          const Byte* const line = weights + k * out_depth;
          for (int64_t c = 0; c < out_depth; ++c) {
            sums[c] = AddAround(sums[c], MultiplyAround(factor, int32_t{line[c]} - filter_zero));
          }
        }
      }
    }
  }
};

Status CheckImages(const Tensor& input, const Tensor& filter) {
  if (input.rank != 4) return STILLFLOW_INVALID_ARGUMENT("input must be 4-dimensional%s", ShapeText(input).c_str());
  if (filter.rank != 4) {
    return STILLFLOW_INVALID_ARGUMENT("filter must be 4-dimensional: %s", ShapeText(filter).c_str());
  }
  if (input.dims[3] != filter.dims[2]) {
    return STILLFLOW_INVALID_ARGUMENT("input and filter must have the same depth: %lld vs %lld",
                                      static_cast<long long>(input.dims[3]), static_cast<long long>(filter.dims[2]));
  }
  for (const Tensor* tensor : {&input, &filter}) {
    if (tensor->dtype != DType::kQUInt8) return UnsupportedType("QuantizedConv2D", tensor->dtype);
  }
  return Status();
}

Status Conv2D(const KernelCall& call) {
  const Tensor &input = *call.in[0], &filter = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckStrides(call.attrs[0], call.attrs[2]));
  STILLFLOW_RETURN_IF_ERROR(CheckImages(input, filter));
  NumberRange of_input, of_filter;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 2, &of_input));
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 4, &of_filter));
  const bool is_same = IsSame(call.attrs[1]);
  const int64_t stride = Numbers(call.attrs[0])[1];
  Convolution convolution{{input.dims[1], filter.dims[0], stride},
                          {input.dims[2], filter.dims[1], stride},
                          input.dims[3],
                          filter.dims[3],
                          Data<Byte>(filter),
                          static_cast<int32_t>(UnboundedCode<Byte>(0.0f, of_input)),
                          static_cast<int32_t>(UnboundedCode<Byte>(0.0f, of_filter))};
  for (Axis* const axis : {&convolution.rows, &convolution.columns}) {
    STILLFLOW_RETURN_IF_ERROR(axis->Resolve(is_same));
    // Windows lie around the middle, where they do not reach all of the image, too.
    const int64_t outside = (axis->count - 1) * stride + axis->window - axis->size;
    axis->before = (is_same ? outside : outside + 1) / 2;
  }
  const Axis &rows = convolution.rows, &columns = convolution.columns;
  Shape shape;
  for (const int64_t size : {input.dims[0], rows.count, columns.count, filter.dims[3]}) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQInt32, shape));
  const int64_t image_size = rows.size * columns.size * input.dims[3];
  auto* sums = MutableData<int32_t>(*call.out[0]);
  const int64_t places = call.out[0]->count == 0 ? 0 : shape.Count(0, 3);
  const int64_t cost = std::max<int64_t>(filter.count, 1);
  STILLFLOW_RETURN_IF_ERROR(
      ForEachChunk(call, places, std::max<int64_t>(kQuantizedPerChunk / cost, 1), [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const int64_t line = i / columns.count;
          const Byte* const image = Data<Byte>(input) + line / rows.count * image_size;
          convolution.Place(image, rows.Begin(line % rows.count), columns.Begin(i % columns.count),
                            sums + i * filter.dims[3]);
        }
      }));
  return OutputRange(call, 1, RangeOfProducts<Byte, Byte>(of_input, of_filter));
}

// ---- Pools --------------------------------------------------------------------------------------------------------

Status CheckWindow(const KernelCall& call, const char* kernel) {
  if (call.in[0]->dtype != DType::kQUInt8) return UnsupportedType(kernel, call.in[0]->dtype);
  for (const int attr : {0, 1}) {
    if (call.attrs[attr].size != 4) {
      return STILLFLOW_INVALID_ARGUMENT("Sliding window %s field must specify 4 dimensions",
                                        attr == 0 ? "ksize" : "strides");
    }
    const int64_t* const numbers = Numbers(call.attrs[attr]);
    if (numbers[0] != 1) {
      return Error(Code::kUnimplemented, "Pooling is not yet supported on the batch dimension.");
    }
    if (numbers[3] != 1) {
      return Error(Code::kUnimplemented, "Non-spatial pooling is not yet supported. Volunteers? :)");
    }
    if (numbers[1] < 1 || numbers[2] < 1 || numbers[1] > INT32_MAX || numbers[2] > INT32_MAX) {
      return STILLFLOW_INVALID_ARGUMENT("Sliding window %s must be positive", attr == 0 ? "ksize" : "stride");
    }
  }
  if (call.in[0]->rank != 4) return STILLFLOW_INVALID_ARGUMENT("tensor_in must be 4-dimensional");
  return Status();
}

template <bool kIsMax>
void PoolPlace(const Byte* image, const Axis& rows, const Axis& columns, int64_t row, int64_t column, int64_t depth,
               Byte* to) {
  const int64_t top = std::max<int64_t>(row, 0), bottom = std::min(row + rows.window, rows.size);
  const int64_t left = std::max<int64_t>(column, 0), right = std::min(column + columns.window, columns.size);
  const int64_t count = std::max<int64_t>((bottom - top) * (right - left), 1);
  for (int64_t c = 0; c < depth; ++c) {
    int64_t result = 0;
    for (int64_t y = top; y < bottom; ++y) {
      for (int64_t x = left; x < right; ++x) {
        const int64_t value = image[(y * columns.size + x) * depth + c];
        result = kIsMax ? std::max(result, value) : result + value;
      }
    }
    to[c] = static_cast<Byte>(kIsMax ? result : result / count);
  }
}

template <bool kIsMax>
Status Pool(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckWindow(call, kIsMax ? "QuantizedMaxPool" : "QuantizedAvgPool"));
  NumberRange number_range;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 1, &number_range));
  const int64_t *const sizes = Numbers(call.attrs[0]), *const strides = Numbers(call.attrs[1]);
  const bool is_same = IsSame(call.attrs[2]);
  Axis rows{input.dims[1], sizes[1], strides[1]}, columns{input.dims[2], sizes[2], strides[2]};
  for (Axis* const axis : {&rows, &columns}) {
    STILLFLOW_RETURN_IF_ERROR(axis->Resolve(is_same));
    const int64_t outside = (axis->count - 1) * axis->stride + axis->window - axis->size;
    axis->before = is_same ? std::max<int64_t>(outside, 0) / 2 : 0;
  }
  const int64_t depth = input.dims[3];
  Shape shape;
  for (const int64_t size : {input.dims[0], rows.count, columns.count, depth}) shape.Add(size);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQUInt8, shape));
  const int64_t image_size = rows.size * columns.size * depth;
  const int64_t places = call.out[0]->count == 0 ? 0 : shape.Count(0, 3);
  const int64_t cost = std::max<int64_t>(std::min(sizes[1], rows.size) * std::min(sizes[2], columns.size) * depth, 1);
  STILLFLOW_RETURN_IF_ERROR(
      ForEachChunk(call, places, std::max<int64_t>(kQuantizedPerChunk / cost, 1), [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const int64_t line = i / columns.count;
          PoolPlace<kIsMax>(Data<Byte>(input) + line / rows.count * image_size, rows, columns,
                            rows.Begin(line % rows.count), columns.Begin(i % columns.count), depth,
                            MutableData<Byte>(*call.out[0]) + i * depth);
        }
      }));
  return OutputRange(call, 1, number_range);
}

}  // namespace

STILLFLOW_KERNELS(quantized, window){
    {"quantized_conv2d", "input, filter, min_input, max_input, min_filter, max_filter | strides, padding, dilations",
     Conv2D},
    {"quantized_max_pool", "input, min_input, max_input | ksize, strides, padding", Pool<true>},
    {"quantized_avg_pool", "input, min_input, max_input | ksize, strides, padding", Pool<false>},
    {}};

}  // namespace stillflow
