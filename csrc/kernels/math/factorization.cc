// masked_matmul, wals_compute_partial_lhs_and_rhs: what weighted alternating least squares is made of.
//
//   masked_matmul  in[0] a, in[1] b: float32 matrices; in[2] int64[n, 2]: rows and columns of a b; in[3] transpose_a,
//                  in[4] transpose_b: bool[]; out[0] float32[n]: the elements of the product there
//   wals_compute_partial_lhs_and_rhs  in[0] factors float32[m, k]; in[1] factor_weights float32[m] or [0];
//                  in[2] unobserved_weights w0 float32[]; in[3] input_weights float32[r] or [0]; in[4] input_indices
//                  int64[n, 2]; in[5] input_values v float32[n]; in[6] entry_weights float32[n] or [0]; in[7]
//                  input_block_size int64[]; in[8] input_is_transpose bool[]
//                  out[0] float32[block, k, k]: for each input row the sum of w f f' over its entries, where f are an
//                  entry's factors and w its weight; out[1] float32[block, k]: the sum of v (w0 + w) f
//
// Entries are added in the order in which they come.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "arithmetic/math/scalar.h"
#include "kernel_api/kernel.h"

namespace stillflow {
namespace {

Status CheckRank(const Tensor& tensor, int rank, const char* name) {
  constexpr const char* kKinds[] = {"scalar", "vector", "matrix"};
  if (tensor.rank == rank) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Input %s should be a %s.", name, kKinds[rank]);
}

Status CheckIndex(int64_t index, int64_t bound, int64_t entry, const char* what) {
  if (index >= 0 && index < bound) return Status();
  return STILLFLOW_INVALID_ARGUMENT("In entry %lld, the %s index %lld is out of bounds [0, %lld).",
                                    static_cast<long long>(entry), what, static_cast<long long>(index),
                                    static_cast<long long>(bound));
}

Status MaskedMatmul(const KernelCall& call) {
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  const Tensor& mask = *call.in[2];
  STILLFLOW_RETURN_IF_ERROR(CheckRank(a, 2, "a"));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(b, 2, "b"));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(mask, 2, "mask_indices"));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[3], 0, "transpose_a"));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(*call.in[4], 0, "transpose_b"));
  const bool transpose_a = *Data<bool>(*call.in[3]), transpose_b = *Data<bool>(*call.in[4]);
  const int64_t inner = a.dims[transpose_a ? 0 : 1];
  if (inner != b.dims[transpose_b ? 1 : 0]) {
    return STILLFLOW_INVALID_ARGUMENT("Matrix shapes are incompatible: a has shape %s, while b has shape %s.",
                                      ShapeText(a).c_str(), ShapeText(b).c_str());
  }
  if (mask.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT(
        "mask_indices should be a matrix of shape [nnz 2], where nnz is the number of non-zero elements.");
  }
  Shape shape;
  shape.Add(mask.dims[0]);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, DType::kFloat, shape));
  const int64_t row_stride = transpose_a ? 1 : a.dims[1], a_step = transpose_a ? a.dims[1] : 1;
  const int64_t column_stride = transpose_b ? b.dims[1] : 1, b_step = transpose_b ? 1 : b.dims[1];
  const int64_t rows = a.dims[transpose_a ? 1 : 0], columns = b.dims[transpose_b ? 0 : 1];
  return ForEachChunk(call, mask.dims[0], std::max<int64_t>(16384 / (inner + 1), 1), [&](Range range) -> Status {
    for (int64_t i = range.begin; i < range.end; ++i) {
      const int64_t row = Data<int64_t>(mask)[2 * i], column = Data<int64_t>(mask)[2 * i + 1];
      STILLFLOW_RETURN_IF_ERROR(CheckIndex(row, rows, i, "row"));
      STILLFLOW_RETURN_IF_ERROR(CheckIndex(column, columns, i, "column"));
      const float* x = Data<float>(a) + row * row_stride;
      const float* y = Data<float>(b) + column * column_stride;
      float sum = 0;
      for (int64_t l = 0; l < inner; ++l) sum = Fma(x[l * a_step], y[l * b_step], sum);
      MutableData<float>(*call.out[0])[i] = sum;
    }
    return Status();
  });
}

// The inputs of wals_compute_partial_lhs_and_rhs, checked.
class NormalEquations {
 public:
  explicit NormalEquations(const KernelCall& call)
      : call_(call), is_transposed_(false), block_(0), size_(0), rows_(0), has_entry_weights_(false) {}

  Status Check() {
    constexpr const char* kNames[] = {"factors",       "factor_weights",   "unobserved_weights",
                                      "input_weights", "input_indices",    "input_values",
                                      "entry_weights", "input_block_size", "input_is_transpose"};
    constexpr int kRanks[] = {2, 1, 0, 1, 2, 1, 1, 0, 0};
    for (int i = 0; i < 9; ++i) STILLFLOW_RETURN_IF_ERROR(CheckRank(*call_.in[i], kRanks[i], kNames[i]));
    const Tensor& indices = *call_.in[4];
    if (indices.dims[1] != 2) return STILLFLOW_INVALID_ARGUMENT("Input input_indices should have shape (?, 2).");
    if (indices.dims[0] != call_.in[5]->count) {
      return STILLFLOW_INVALID_ARGUMENT(
          "Input input_values' length should match the first dimension of Input input_indices ");
    }
    const int64_t factor_weights = call_.in[1]->count, input_weights = call_.in[3]->count;
    const int64_t entry_weights = call_.in[6]->count;
    rows_ = call_.in[0]->dims[0];
    size_ = call_.in[0]->dims[1];
    const bool has_two = input_weights > 0 && factor_weights == rows_ && entry_weights == 0;
    const bool has_one = input_weights == 0 && factor_weights == 0 && entry_weights == indices.dims[0];
    if (!has_two && !has_one) {
      return STILLFLOW_INVALID_ARGUMENT(
          "To specify the weights for observed entries, either (1) entry_weights must be set or (2) input_weights "
          "and "
          "factor_weights must be set, but not both.");
    }
    has_entry_weights_ = entry_weights > 0;
    is_transposed_ = *Data<bool>(*call_.in[8]);
    block_ = *Data<int64_t>(*call_.in[7]);
    return CheckEntries();
  }

  Status Compute() {
    Shape lhs, rhs;
    lhs.Add(block_);
    lhs.Add(size_);
    lhs.Add(size_);
    rhs.Add(block_);
    rhs.Add(size_);
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call_, 0, DType::kFloat, lhs));
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call_, 1, DType::kFloat, rhs));
    for (int i = 0; i < 2; ++i) std::fill_n(MutableData<float>(*call_.out[i]), call_.out[i]->count, 0.0f);
    const int64_t entries = call_.in[5]->count;
    const Scratch memory(call_, (2 * entries + 1) * static_cast<int64_t>(sizeof(int64_t)));
    if (!memory.ok()) return OutOfScratch();
    auto* const order = memory.data<int64_t>();
    int64_t* const starts = order + entries;
    std::iota(order, order + entries, 0);
    std::sort(order, order + entries,
              [&](int64_t i, int64_t j) { return InputOf(i) != InputOf(j) ? InputOf(i) < InputOf(j) : i < j; });
    int64_t groups = 0;
    for (int64_t i = 0; i < entries; ++i) {
      if (i == 0 || InputOf(order[i]) != InputOf(order[i - 1])) starts[groups++] = i;
    }
    starts[groups] = entries;
    return ForEachChunk(call_, groups, 4, [&](Range range) -> Status {
      const Scratch scaled(call_, size_ * static_cast<int64_t>(sizeof(float)));
      if (!scaled.ok()) return OutOfScratch();
      for (int64_t group = range.begin; group < range.end; ++group) {
        AddGroup(order + starts[group], order + starts[group + 1], scaled.data<float>());
      }
      return Status();
    });
  }

 private:
  int64_t InputOf(int64_t entry) const { return Data<int64_t>(*call_.in[4])[2 * entry + (is_transposed_ ? 1 : 0)]; }
  int64_t FactorOf(int64_t entry) const { return Data<int64_t>(*call_.in[4])[2 * entry + (is_transposed_ ? 0 : 1)]; }
  float WeightOf(int64_t entry) const {
    if (has_entry_weights_) return Data<float>(*call_.in[6])[entry];
    return Data<float>(*call_.in[3])[InputOf(entry)] * Data<float>(*call_.in[1])[FactorOf(entry)];
  }

  Status CheckEntries() const {
    for (int64_t i = 0; i < call_.in[5]->count; ++i) {
      const int64_t inputs = has_entry_weights_ ? block_ : std::min(block_, call_.in[3]->count);
      STILLFLOW_RETURN_IF_ERROR(CheckIndex(InputOf(i), inputs, i, "input"));
      STILLFLOW_RETURN_IF_ERROR(CheckIndex(FactorOf(i), rows_, i, "factor"));
      if (WeightOf(i) < 0) {
        return STILLFLOW_INVALID_ARGUMENT("The weight of entry %lld is negative.", static_cast<long long>(i));
      }
    }
    return Status();
  }

  // Adds the entries of one input row.
  void AddGroup(const int64_t* begin, const int64_t* end, float* scaled) const {
    const int64_t input = InputOf(*begin);
    float* lhs = MutableData<float>(*call_.out[0]) + input * size_ * size_;
    float* rhs = MutableData<float>(*call_.out[1]) + input * size_;
    const float unobserved = *Data<float>(*call_.in[2]);
    for (const int64_t* entry = begin; entry != end; ++entry) {
      const float* factors = Data<float>(*call_.in[0]) + FactorOf(*entry) * size_;
      const float weight = WeightOf(*entry);
      const float root = std::sqrt(weight), share = Data<float>(*call_.in[5])[*entry] * (unobserved + weight);
      for (int64_t i = 0; i < size_; ++i) scaled[i] = factors[i] * root;
      for (int64_t i = 0; i < size_; ++i) {
        for (int64_t j = 0; j <= i; ++j) lhs[i * size_ + j] = Fma(scaled[i], scaled[j], lhs[i * size_ + j]);
        rhs[i] = Fma(share, factors[i], rhs[i]);
      }
    }
    for (int64_t i = 0; i < size_; ++i) {
      for (int64_t j = 0; j < i; ++j) lhs[j * size_ + i] = lhs[i * size_ + j];
    }
  }

  const KernelCall& call_;
  bool is_transposed_;
  int64_t block_, size_, rows_;
  bool has_entry_weights_;
};

Status WalsComputePartialLhsAndRhs(const KernelCall& call) {
  NormalEquations equations(call);
  STILLFLOW_RETURN_IF_ERROR(equations.Check());
  return equations.Compute();
}

}  // namespace

STILLFLOW_KERNELS(math, factorization){
    {"masked_matmul", "a, b, mask_indices, transpose_a, transpose_b", MaskedMatmul},
    {"wals_compute_partial_lhs_and_rhs",
     "factors, factor_weights, unobserved_weights, input_weights, input_indices, input_values, entry_weights, "
     "input_block_size, input_is_transpose",
     WalsComputePartialLhsAndRhs},
    {}};

}  // namespace stillflow
