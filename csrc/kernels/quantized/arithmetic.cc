// quantized_matmul, quantized_bias_add, quantized_add, quantized_mul: arithmetic on integers of 8 bits, in 32 bits.
//
//   in[0], in[1]  quint8 (bias_add: or qint8); in[2..3], in[4..5] what their least and largest integers stand for
//   out[0] qint32; out[1], out[2] what its least and largest integers stand for
//   attrs  of matmul transpose_a, transpose_b
//
// Sums that do not fit go around.
#include "kernel_api/broadcast.h"
#include "kernels/quantized/quantization.h"

namespace stillflow {
namespace {

using Byte = uint8_t;

struct Operands {
  NumberRange a, b;
};

Status ReadOperands(const KernelCall& call, const char* kernel, Operands* operands) {
  for (const int in : {0, 1}) {
    if (call.in[in]->dtype != DType::kQUInt8) return UnsupportedType(kernel, call.in[in]->dtype);
  }
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 2, &operands->a));
  return ReadRange(call, 4, &operands->b);
}

Status CheckWidths(const Operands& operands, const char* a, const char* b) {
  if (!(operands.a.high > operands.a.low)) {
    return STILLFLOW_INVALID_ARGUMENT("max_%s must be larger than min_%s.", a, a);
  }
  if (!(operands.b.high > operands.b.low)) {
    return STILLFLOW_INVALID_ARGUMENT("max_%s must be larger than min_%s.", b, b);
  }
  return Status();
}

int32_t ZeroCode(NumberRange range) { return static_cast<int32_t>(UnboundedCode<Byte>(0.0f, range)); }

// ---- Products -----------------------------------------------------------------------------------------------------

struct Matrix {
  const Byte* data;
  int64_t row_stride;
  int64_t column_stride;
  int32_t zero;
};

void MultiplyRow(const Matrix& a, const Matrix& b, int64_t row, int64_t depth, int64_t columns, int32_t* sums) {
  std::fill_n(sums, columns, 0);
  for (int64_t k = 0; k < depth; ++k) {
    const int32_t factor = int32_t{a.data[row * a.row_stride + k * a.column_stride]} - a.zero;
    const Byte* const others = b.data + k * b.row_stride;
    for (int64_t j = 0; j < columns; ++j) {
      sums[j] = AddAround(sums[j], MultiplyAround(factor, int32_t{others[j * b.column_stride]} - b.zero));
    }
  }
}

Status MatMul(const KernelCall& call) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  Operands operands;
  STILLFLOW_RETURN_IF_ERROR(ReadOperands(call, "QuantizedMatMul", &operands));
  STILLFLOW_RETURN_IF_ERROR(CheckWidths(operands, "a", "b"));
  if (a.rank != 2) return STILLFLOW_INVALID_ARGUMENT("In[0] is not a matrix");
  if (b.rank != 2) return STILLFLOW_INVALID_ARGUMENT("In[1] is not a matrix");
  const bool turns_a = call.attrs[0].i != 0, turns_b = call.attrs[1].i != 0;
  const int64_t depth = a.dims[turns_a ? 0 : 1];
  if (depth != b.dims[turns_b ? 1 : 0]) {
    return STILLFLOW_INVALID_ARGUMENT("Matrix size-incompatible: In[0]: %s, In[1]: %s", ShapeText(a).c_str(),
                                      ShapeText(b).c_str());
  }
  const Matrix left{Data<Byte>(a), turns_a ? 1 : a.dims[1], turns_a ? a.dims[1] : 1, ZeroCode(operands.a)};
  const Matrix right{Data<Byte>(b), turns_b ? 1 : b.dims[1], turns_b ? b.dims[1] : 1, ZeroCode(operands.b)};
  Shape shape;
  shape.Add(a.dims[turns_a ? 1 : 0]);
  shape.Add(b.dims[turns_b ? 0 : 1]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQInt32, shape));
  auto* sums = MutableData<int32_t>(*call.out[0]);
  const int64_t cost = std::max<int64_t>(shape.dims[1] * std::max<int64_t>(depth, 1), 1);
  STILLFLOW_RETURN_IF_ERROR(
      ForEachChunk(call, shape.dims[0], std::max<int64_t>(kQuantizedPerChunk / cost, 1), [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          MultiplyRow(left, right, i, depth, shape.dims[1], sums + i * shape.dims[1]);
        }
      }));
  return OutputRange(call, 1, RangeOfProducts<Byte, Byte>(operands.a, operands.b));
}

// ---- Element by element -------------------------------------------------------------------------------------------

template <typename Combine>
Status CombineAll(const KernelCall& call, const Combine& combine) {
  const Shape a(*call.in[0]), b(*call.in[1]);
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(BroadcastTwo(a, b, &shape));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQInt32, shape));
  const auto *x = Data<Byte>(*call.in[0]), *y = Data<Byte>(*call.in[1]);
  auto* to = MutableData<int32_t>(*call.out[0]);
  return ForEachChunk(call, call.out[0]->count, kQuantizedPerChunk, [&](Range range) {
    BroadcastWalk of_a(a, shape, range.begin), of_b(b, shape, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, of_a.Next(), of_b.Next()) {
      to[i] = combine(x[of_a.index()], y[of_b.index()]);
    }
  });
}

Status Multiply(const KernelCall& call) {
  Operands operands;
  STILLFLOW_RETURN_IF_ERROR(ReadOperands(call, "QuantizedMul", &operands));
  STILLFLOW_RETURN_IF_ERROR(CheckWidths(operands, "x", "y"));
  const int32_t x_zero = ZeroCode(operands.a), y_zero = ZeroCode(operands.b);
  STILLFLOW_RETURN_IF_ERROR(
      CombineAll(call, [=](Byte x, Byte y) { return MultiplyAround(int32_t{x} - x_zero, int32_t{y} - y_zero); }));
  return OutputRange(call, 1, RangeOfProducts<Byte, Byte>(operands.a, operands.b));
}

// The code of each of 256 integers in another range: of one alone it is exact, in arrays all are as far apart as the
// first two, as TensorFlow has them.
void FillCodes(NumberRange from, NumberRange to, bool is_one, int32_t* codes) {
  const int64_t first = UnboundedCode<int32_t>(NumberOfCode(Byte{0}, from), to);
  const int64_t second = UnboundedCode<int32_t>(NumberOfCode(Byte{1}, from), to);
  const auto step = static_cast<int32_t>(second - first);
  for (int64_t i = 0; i < 256; ++i) {
    const int64_t code = std::clamp(first + i * step, kLowestCode<int32_t>, kHighestCode<int32_t>);
    codes[i] = is_one ? CodeOf<int32_t>(NumberOfCode(static_cast<Byte>(i), from), to) : static_cast<int32_t>(code);
  }
}

Status Add(const KernelCall& call) {
  Operands operands;
  STILLFLOW_RETURN_IF_ERROR(ReadOperands(call, "QuantizedAdd", &operands));
  STILLFLOW_RETURN_IF_ERROR(CheckWidths(operands, "x", "y"));
  const float least = std::min(operands.a.low, operands.b.low);
  const float largest = std::max(operands.a.high, operands.b.high);
  const float reach = std::max(std::fabs(least), std::fabs(largest)) * static_cast<float>(1 << 14);
  const NumberRange total{-reach, reach};
  int32_t x_codes[256], y_codes[256];
  FillCodes(operands.a, total, call.in[0]->count == 1, x_codes);
  FillCodes(operands.b, total, call.in[1]->count == 1, y_codes);
  STILLFLOW_RETURN_IF_ERROR(CombineAll(call, [&](Byte x, Byte y) { return AddAround(x_codes[x], y_codes[y]); }));
  return OutputRange(call, 1, total);
}

// ---- Biases -------------------------------------------------------------------------------------------------------

template <typename T>
Status AddBias(const KernelCall& call) {
  const Tensor &input = *call.in[0], &bias = *call.in[1];
  Operands operands;
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 2, &operands.a));
  STILLFLOW_RETURN_IF_ERROR(ReadRange(call, 4, &operands.b));
  const float reach =
      std::max(std::max(operands.a.high, -operands.a.low), std::max(operands.b.high, -operands.b.low)) *
      static_cast<float>(1 << 17);
  const NumberRange total{-reach, reach};
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kQInt32, Shape(input)));
  const Dequantizer<T> number(operands.a), bias_number(operands.b);
  const Quantizer<int32_t> code(total);
  const auto zero = CodeOf<int32_t>(0.0f, total);
  const T *x = Data<T>(input), *b = Data<T>(bias);
  auto* to = MutableData<int32_t>(*call.out[0]);
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(call, input.count, kQuantizedPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) {
      to[i] = AddAround(code(number(x[i])), AddAround(code(bias_number(b[i % bias.count])), zero));
    }
  }));
  return OutputRange(call, 1, total);
}

Status BiasAdd(const KernelCall& call) {
  const Tensor &input = *call.in[0], &bias = *call.in[1];
  if (input.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input tensor must be at least 2D: %s", ShapeText(input).c_str());
  }
  if (bias.rank != 1) return STILLFLOW_INVALID_ARGUMENT("Biases must be 1D: %s", ShapeText(bias).c_str());
  if (bias.dims[0] != input.dims[input.rank - 1]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Must provide as many biases as the last dimension of the input tensor: %s vs. %s", ShapeText(bias).c_str(),
        ShapeText(input).c_str());
  }
  if (bias.dtype != input.dtype) return UnsupportedType("QuantizedBiasAdd", bias.dtype);
  return ForQuantizedType<int8_t, uint8_t>("QuantizedBiasAdd", input.dtype,
                                           [&](auto tag) { return AddBias<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(quantized, arithmetic){
    {"quantized_matmul", "a, b, min_a, max_a, min_b, max_b | transpose_a, transpose_b", MatMul},
    {"quantized_mul", "x, y, min_x, max_x, min_y, max_y", Multiply},
    {"quantized_add", "x, y, min_x, max_x, min_y, max_y", Add},
    {"quantized_bias_add", "input, bias, min_input, max_input, min_bias, max_bias", BiasAdd},
    {}};

}  // namespace stillflow
