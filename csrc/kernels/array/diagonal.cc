// diag, diag_part, matrix_diag, matrix_diag_part, matrix_set_diag, matrix_band_part: diagonals.
//
//   diag              in[0] array; out[0] zeros of its shape twice over, with it on the diagonal
//   diag_part         in[0] array whose shape is one shape twice over; out[0] its diagonal
//   matrix_diag       in[0] vectors in the last dimension; out[0] a matrix for each, with it on the diagonal
//   matrix_diag_part  in[0] matrices in the last two dimensions; out[0] their diagonals
//   matrix_set_diag   in[0] matrices; in[1] diagonals; out[0] the matrices with these diagonals
//   matrix_band_part  in[0] matrices; in[1], in[2] int32 | int64 scalars: how many diagonals below and above the
//                     main one are kept, negative for all; out[0] the matrices with zeros elsewhere
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

constexpr int64_t kBytesPerChunk = 64 << 10;

// Copies diagonals between batches of matrices and batches of vectors: `stride` lies between the elements of one,
// and `batch_stride` between the batches.
struct Lines {
  int64_t stride;
  int64_t batch_stride;
};

Status CopyLines(const KernelCall& call, int64_t batches, int64_t length, const Tensor& from, Lines from_lines,
                 Tensor* to, Lines to_lines) {
  if (batches == 0 || length == 0) return Status();
  StridedCopy copy;
  copy.Add(batches, from_lines.batch_stride, to_lines.batch_stride);
  copy.Add(length, from_lines.stride, to_lines.stride);
  return CopyStrided(call, copy, ElementBytes(from.dtype), from.data, to->data);
}

// ---- Whole arrays -------------------------------------------------------------------------------------------------

Status Diag(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank < 1) return STILLFLOW_INVALID_ARGUMENT("Input must be at least rank 1, got 0");
  if (2 * input.rank > kMaxRank) {
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank / 2);
  }
  Shape shape(input);
  for (int i = 0; i < input.rank; ++i) shape.Add(input.dims[i]);
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, input.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(CopyLines(call, 1, input.count, input, {1, 0}, call.out[0], {input.count + 1, 0}));
  RetainStrings(*call.out[0]);
  return Status();
}

Status DiagPart(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank < 2 || input.rank % 2 != 0) {
    return STILLFLOW_INVALID_ARGUMENT("The rank of the tensor should be even and positive, got shape %s",
                                      ShapeText(input).c_str());
  }
  const int half = input.rank / 2;
  Shape shape;
  for (int i = 0; i < half; ++i) {
    if (input.dims[i] != input.dims[i + half]) {
      return STILLFLOW_INVALID_ARGUMENT("Invalid shape %s: dimensions %d and %d do not match.",
                                        ShapeText(input).c_str(), i, i + half);
    }
    shape.Add(input.dims[i]);
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  const int64_t length = call.out[0]->count;
  STILLFLOW_RETURN_IF_ERROR(CopyLines(call, 1, length, input, {length + 1, 0}, call.out[0], {1, 0}));
  RetainStrings(*call.out[0]);
  return Status();
}

// ---- Matrices -----------------------------------------------------------------------------------------------------

Status MatrixDiag(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank < 1) {
    return STILLFLOW_INVALID_ARGUMENT("diagonal must be at least 1-dim, received shape: %s",
                                      ShapeText(input).c_str());
  }
  if (input.rank == kMaxRank) return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank - 1);
  Shape shape(input);
  const int64_t length = input.dims[input.rank - 1];
  shape.Add(length);
  STILLFLOW_RETURN_IF_ERROR(AllocateZeros(call, 0, input.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(CopyLines(call, shape.Count(0, input.rank - 1), length, input, {1, length}, call.out[0],
                                      {length + 1, length * length}));
  RetainStrings(*call.out[0]);
  return Status();
}

struct Matrices {
  int64_t count;
  int64_t rows;
  int64_t columns;

  explicit Matrices(const Tensor& tensor)
      : count(Shape(tensor).Count(0, tensor.rank - 2)),
        rows(tensor.dims[tensor.rank - 2]),
        columns(tensor.dims[tensor.rank - 1]) {}
  int64_t Diagonal() const { return std::min(rows, columns); }
};

Status CheckMatrices(const Tensor& tensor) {
  if (tensor.rank >= 2) return Status();
  return STILLFLOW_INVALID_ARGUMENT("input must be at least 2-dim, received shape: %s", ShapeText(tensor).c_str());
}

Status MatrixDiagPart(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input));
  const Matrices matrices(input);
  Shape shape(input);
  shape.rank -= 1;
  shape.dims[shape.rank - 1] = matrices.Diagonal();
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(CopyLines(call, matrices.count, matrices.Diagonal(), input,
                                      {matrices.columns + 1, matrices.rows * matrices.columns}, call.out[0],
                                      {1, matrices.Diagonal()}));
  RetainStrings(*call.out[0]);
  return Status();
}

Status MatrixSetDiag(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& diagonal = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input));
  if (diagonal.rank == 0) return STILLFLOW_INVALID_ARGUMENT("diagonal must be at least 1-dim, received shape: []");
  const Matrices matrices(input);
  Shape expected(input);
  expected.rank -= 1;
  expected.dims[expected.rank - 1] = matrices.Diagonal();
  if (!(Shape(diagonal) == expected)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "must have diagonal.shape == input.shape[:-2] + min(input.shape[-2:]), but received input shape: %s and "
        "diagonal shape: %s",
        ShapeText(input).c_str(), ShapeText(diagonal).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, input.dtype, Shape(input)));
  if (call.out[0]->data != input.data) {
    STILLFLOW_RETURN_IF_ERROR(CopyRun(call, input.count * ElementBytes(input.dtype), input.data, call.out[0]->data));
  }
  STILLFLOW_RETURN_IF_ERROR(CopyLines(call, matrices.count, matrices.Diagonal(), diagonal, {1, matrices.Diagonal()},
                                      call.out[0], {matrices.columns + 1, matrices.rows * matrices.columns}));
  RetainStrings(*call.out[0]);
  return Status();
}

Status ReadWidth(const Tensor& tensor, const char* name, int64_t size, int64_t* width) {
  if (tensor.rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be scalar, got shape %s", name, ShapeText(tensor).c_str());
  }
  *width = IntAt(tensor, 0);
  if (*width > size) {
    return STILLFLOW_INVALID_ARGUMENT("%s must be negative or less or equal to number of %s (%lld) got: %lld", name,
                                      name[4] == 'l' ? "rows" : "columns", static_cast<long long>(size),
                                      static_cast<long long>(*width));
  }
  if (*width < 0) *width = INT64_MAX / 4;
  return Status();
}

Status MatrixBandPart(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input));
  const Matrices matrices(input);
  int64_t lower = 0;
  int64_t upper = 0;
  STILLFLOW_RETURN_IF_ERROR(ReadWidth(*call.in[1], "num_lower", matrices.rows, &lower));
  STILLFLOW_RETURN_IF_ERROR(ReadWidth(*call.in[2], "num_upper", matrices.columns, &upper));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  const int64_t bytes = ElementBytes(input.dtype);
  const int64_t row_bytes = matrices.columns * bytes;
  STILLFLOW_RETURN_IF_ERROR(ForEachChunk(
      call, matrices.count * matrices.rows, std::max<int64_t>(kBytesPerChunk / row_bytes, 1), [&](Range range) {
        for (int64_t i = range.begin; i < range.end; ++i) {
          const int64_t row = i % matrices.rows;
          const int64_t begin = std::clamp<int64_t>(row - lower, 0, matrices.columns);
          const int64_t end = std::clamp<int64_t>(row + upper + 1, begin, matrices.columns);
          char* const to = MutableData<char>(*call.out[0]) + i * row_bytes;
          const char* const from = Data<char>(input) + i * row_bytes;
          std::memset(to, 0, begin * bytes);
          std::memcpy(to + begin * bytes, from + begin * bytes, (end - begin) * bytes);
          std::memset(to + end * bytes, 0, (matrices.columns - end) * bytes);
        }
      }));
  RetainStrings(*call.out[0]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, diagonal){{"diag", "diagonal", Diag},
                                   {"diag_part", "input", DiagPart},
                                   {"matrix_diag", "diagonal", MatrixDiag},
                                   {"matrix_diag_part", "input", MatrixDiagPart},
                                   {"matrix_set_diag", "input, diagonal", MatrixSetDiag},
                                   {"matrix_band_part", "input, num_lower, num_upper", MatrixBandPart},
                                   {}};

}  // namespace stillflow
