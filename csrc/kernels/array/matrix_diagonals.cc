// matrix_diags, matrix_diag_parts, matrix_set_diags: several diagonals of matrices at once.
//
//   matrix_diags        in[0] diagonals; in[1] int32: which (see Band); in[2], in[3] int32 scalars: how many rows and
//                       columns, -1 for as few as there can be; in[4] what is elsewhere; out[0] matrices
//   matrix_diag_parts   in[0] matrices; in[1] int32: which; in[2] what follows a diagonal that is shorter than the
//                       longest; out[0] diagonals
//   matrix_set_diags    in[0] matrices; in[1] diagonals; in[2] int32: which; out[0] the matrices with these diagonals
//
// Diagonals lie in rows, the uppermost first, each from its row's beginning; one alone takes no dimension. Diagonal d
// has the elements (i, i + d) of a matrix.
#include <algorithm>

#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// The diagonals from `lower` to `upper`.
struct Band {
  int64_t lower;
  int64_t upper;
  int64_t Count() const { return upper - lower + 1; }
};

Status ReadBand(const Tensor& k, Band* band) {
  if (k.rank > 1) {
    return STILLFLOW_INVALID_ARGUMENT("diag_index must be a scalar or vector, received shape: %s",
                                      ShapeText(k).c_str());
  }
  if (k.count < 1 || k.count > 2) {
    return STILLFLOW_INVALID_ARGUMENT("diag_index must have only one or two elements, received %lld elements.",
                                      static_cast<long long>(k.count));
  }
  *band = {Data<int32_t>(k)[0], Data<int32_t>(k)[k.count - 1]};
  if (band->lower <= band->upper) return Status();
  return STILLFLOW_INVALID_ARGUMENT("lower_diag_index must not be larger than upper_diag_index: %lld > %lld",
                                    static_cast<long long>(band->lower), static_cast<long long>(band->upper));
}

struct Matrices {
  int64_t rows;
  int64_t columns;

  int64_t Count() const { return rows * columns; }
  int64_t Longest(const Band& band) const {
    return std::min(rows + std::min<int64_t>(band.upper, 0), columns - std::max<int64_t>(band.lower, 0));
  }
  int64_t Length(int64_t d) const {
    return std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0));
  }
  // Where diagonal d begins. Its elements are columns + 1 apart.
  int64_t First(int64_t d) const { return d < 0 ? -d * columns : d; }
};

Matrices MatricesOf(const Tensor& tensor) { return {tensor.dims[tensor.rank - 2], tensor.dims[tensor.rank - 1]}; }

Status CheckMatrices(const Tensor& tensor) {
  if (tensor.rank >= 2) return Status();
  return STILLFLOW_INVALID_ARGUMENT("input must be at least 2-dim, received shape: %s", ShapeText(tensor).c_str());
}

Status CheckDiagonals(const Tensor& tensor) {
  if (tensor.rank >= 1) return Status();
  return STILLFLOW_INVALID_ARGUMENT("diagonal must be at least 1-dim, received shape: []");
}

Status CheckScalar(const Tensor& tensor, const char* name) {
  if (tensor.rank == 0) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s must be a scalar, received shape: %s", name, ShapeText(tensor).c_str());
}

Status CheckWithin(const char* name, int64_t d, const Matrices& matrices) {
  if (d == 0 || (-matrices.rows < d && d < matrices.columns)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("%s is out of bound: %lld It must be between %lld and %lld", name,
                                    static_cast<long long>(d), static_cast<long long>(-matrices.rows),
                                    static_cast<long long>(matrices.columns));
}

Status ReadBandOf(const Tensor& k, const Matrices& matrices, Band* band) {
  STILLFLOW_RETURN_IF_ERROR(ReadBand(k, band));
  STILLFLOW_RETURN_IF_ERROR(CheckWithin("lower_diag_index", band->lower, matrices));
  return CheckWithin("upper_diag_index", band->upper, matrices);
}

// The shape of the diagonals of matrices of `dims` but for the last two.
Shape DiagonalsShape(const Tensor& input, const Matrices& matrices, const Band& band) {
  Shape shape(input);
  shape.rank -= 2;
  if (band.Count() > 1) shape.Add(band.Count());
  shape.Add(matrices.Longest(band));
  return shape;
}

Status Fill(const KernelCall& call, const Tensor& value) {
  StridedCopy copy;
  copy.Add(call.out[0]->count, 0, 1);
  return CopyStrided(call, copy, ElementBytes(value.dtype), value.data, call.out[0]->data);
}

// Calls copy(diagonal's place in its matrix, its place among the diagonals, length) for each of the band.
template <typename Copy>
Status ForEachDiagonal(const Matrices& matrices, const Band& band, int64_t width, const Copy& copy) {
  for (int64_t d = band.lower; d <= band.upper; ++d) {
    if (matrices.Length(d) <= 0) continue;
    STILLFLOW_RETURN_IF_ERROR(copy(matrices.First(d), (band.upper - d) * width, matrices.Length(d)));
  }
  return Status();
}

// Puts the diagonals into the matrices of out[0].
Status PutDiagonals(const KernelCall& call, const Tensor& diagonals, const Matrices& matrices, const Band& band) {
  const int64_t width = diagonals.dims[diagonals.rank - 1];
  const int64_t bytes = ElementBytes(diagonals.dtype);
  const int64_t batches = matrices.Count() == 0 ? 0 : call.out[0]->count / matrices.Count();
  if (batches == 0) return Status();
  return ForEachDiagonal(matrices, band, width, [&](int64_t in_matrix, int64_t in_diagonals, int64_t length) {
    StridedCopy copy;
    copy.Add(batches, band.Count() * width, matrices.Count());
    copy.Add(length, 1, matrices.columns + 1);
    return CopyStrided(call, copy, bytes, Data<char>(diagonals) + in_diagonals * bytes,
                       MutableData<char>(*call.out[0]) + in_matrix * bytes);
  });
}

// ---- Kernels ------------------------------------------------------------------------------------------------------

// The sizes of the matrices: those that are given, or as few as hold the diagonals.
Status ReadSizes(const KernelCall& call, int64_t longest, const Band& band, Matrices* matrices) {
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "num_rows"));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[3], "num_cols"));
  int64_t rows = Data<int32_t>(*call.in[2])[0];
  int64_t columns = Data<int32_t>(*call.in[3])[0];
  const int64_t least_rows = longest - std::min<int64_t>(band.upper, 0);
  const int64_t least_columns = longest + std::max<int64_t>(band.lower, 0);
  if (rows != -1 && rows < least_rows) return STILLFLOW_INVALID_ARGUMENT("The number of rows is too small.");
  if (columns != -1 && columns < least_columns) {
    return STILLFLOW_INVALID_ARGUMENT("The number of columns is too small.");
  }
  if (rows == -1 && columns == -1) {
    rows = columns = std::max(least_rows, least_columns);
  }
  *matrices = {rows == -1 ? least_rows : rows, columns == -1 ? least_columns : columns};
  if (matrices->rows == least_rows || matrices->columns == least_columns) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
}

Status MatrixDiags(const KernelCall& call) {
  const Tensor& diagonals = *call.in[0];
  Band band{};
  STILLFLOW_RETURN_IF_ERROR(ReadBand(*call.in[1], &band));
  STILLFLOW_RETURN_IF_ERROR(CheckDiagonals(diagonals));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[4], "padding_value"));
  const bool is_single = band.Count() == 1;
  if (!is_single && (diagonals.rank < 2 || diagonals.dims[diagonals.rank - 2] != band.Count())) {
    return STILLFLOW_INVALID_ARGUMENT(
        "The number of diagonals provided in the input does not match the lower_diag_index and upper_diag_index "
        "range.");
  }
  Matrices matrices{};
  STILLFLOW_RETURN_IF_ERROR(ReadSizes(call, diagonals.dims[diagonals.rank - 1], band, &matrices));
  Shape shape(diagonals);
  shape.rank -= is_single ? 1 : 2;
  if (shape.rank + 2 > kMaxRank)
    return STILLFLOW_INVALID_ARGUMENT("too many dimensions: must be <= %d", kMaxRank - 1);
  shape.Add(matrices.rows);
  shape.Add(matrices.columns);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, diagonals.dtype, shape));
  STILLFLOW_RETURN_IF_ERROR(Fill(call, *call.in[4]));
  STILLFLOW_RETURN_IF_ERROR(PutDiagonals(call, diagonals, matrices, band));
  RetainStrings(*call.out[0]);
  return Status();
}

Status MatrixDiagParts(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input));
  STILLFLOW_RETURN_IF_ERROR(CheckScalar(*call.in[2], "padding_value"));
  const Matrices matrices = MatricesOf(input);
  Band band{};
  STILLFLOW_RETURN_IF_ERROR(ReadBandOf(*call.in[1], matrices, &band));
  const int64_t width = matrices.Longest(band);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, DiagonalsShape(input, matrices, band)));
  STILLFLOW_RETURN_IF_ERROR(Fill(call, *call.in[2]));
  const int64_t bytes = ElementBytes(input.dtype);
  const int64_t batches = matrices.Count() == 0 ? 0 : input.count / matrices.Count();
  if (batches != 0) {
    STILLFLOW_RETURN_IF_ERROR(
        ForEachDiagonal(matrices, band, width, [&](int64_t in_matrix, int64_t in_diagonals, int64_t length) {
          StridedCopy copy;
          copy.Add(batches, matrices.Count(), band.Count() * width);
          copy.Add(length, matrices.columns + 1, 1);
          return CopyStrided(call, copy, bytes, Data<char>(input) + in_matrix * bytes,
                             MutableData<char>(*call.out[0]) + in_diagonals * bytes);
        }));
  }
  RetainStrings(*call.out[0]);
  return Status();
}

Status MatrixSetDiags(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  const Tensor& diagonals = *call.in[1];
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(input));
  STILLFLOW_RETURN_IF_ERROR(CheckDiagonals(diagonals));
  const Matrices matrices = MatricesOf(input);
  Band band{};
  STILLFLOW_RETURN_IF_ERROR(ReadBandOf(*call.in[2], matrices, &band));
  const Shape expected = DiagonalsShape(input, matrices, band);
  if (!(Shape(diagonals) == expected)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
        "the "
        "longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: %s\nDiagonal shape: "
        "%s\nExpected diagonal shape: %s",
        ShapeText(input).c_str(), ShapeText(diagonals).c_str(), ShapeText(expected).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(ForwardOrAllocate(call, 0, 0, input.dtype, Shape(input)));
  if (call.out[0]->data != input.data) {
    STILLFLOW_RETURN_IF_ERROR(CopyRun(call, input.count * ElementBytes(input.dtype), input.data, call.out[0]->data));
  }
  STILLFLOW_RETURN_IF_ERROR(PutDiagonals(call, diagonals, matrices, band));
  RetainStrings(*call.out[0]);
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, matrix_diagonals){
    {"matrix_diags", "diagonal, k, num_rows, num_cols, padding_value", MatrixDiags},
    {"matrix_diag_parts", "input, k, padding_value", MatrixDiagParts},
    {"matrix_set_diags", "input, diagonal, k", MatrixSetDiags},
    {}};

}  // namespace stillflow
