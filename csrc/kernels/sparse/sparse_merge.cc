// sparse_add, sparse_add_grad, sparse_extremum: two sparse tensors of one shape, entry by entry.
//
//   sparse_add       in[0..3) indices int64[n, rank], values [n], shape int64[rank] of a, in[3..6) of b, in[6] a
//                    scalar: sums of two entries of a lesser magnitude, or NaN, are left out; out[0..3) the sum
//   sparse_add_grad  in[0] the gradient of the sum's values, in[1], in[2] a's and b's indices, in[3] the sum's;
//                    out[0], out[1] the gradients of a's and b's values
//   sparse_extremum  in[0..6) as above; attr whether the maximum; out[0] the indices of both, out[1] the greater or
//                    lesser value, where 0 stands for what is not there
//
// Both are gone through side by side, so that both must be in row-major order.
#include "arithmetic/math/element.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

// ---- Walking through two sparse tensors ---------------------------------------------------------------------------

constexpr int64_t kNone = -1;

// Calls take(entry of a or kNone, entry of b or kNone) for each row that a or b has.
template <typename Take>
void WalkBoth(const Entries& a, const Entries& b, const Take& take) {
  int64_t i = 0;
  int64_t j = 0;
  while (i < a.count || j < b.count) {
    const int comparison = j == b.count ? -1 : i == a.count ? 1 : CompareRows(a[i], b[j], a.rank);
    take(comparison <= 0 ? i : kNone, comparison >= 0 ? j : kNone);
    i += comparison <= 0 ? 1 : 0;
    j += comparison >= 0 ? 1 : 0;
  }
}

// The entries of a sum that are kept, as pairs of entries of a and b.
struct Pairs {
  int64_t* pairs;
  int64_t count = 0;
  void Add(int64_t a, int64_t b) {
    pairs[2 * count] = a;
    pairs[2 * count + 1] = b;
    ++count;
  }
};

Status WriteRows(const KernelCall& call, const Entries& a, const Entries& b, const Pairs& pairs) {
  STILLFLOW_RETURN_IF_ERROR(AllocateMatrix(call, 0, DType::kInt64, pairs.count, a.rank));
  auto* to = MutableData<int64_t>(*call.out[0]);
  for (int64_t i = 0; i < pairs.count; ++i) {
    const int64_t from = pairs.pairs[2 * i];
    to = std::copy_n(from != kNone ? a[from] : b[pairs.pairs[2 * i + 1]], a.rank, to);
  }
  return Status();
}

Status CheckShapes(const Tensor& a_shape, const Tensor& b_shape) {
  if (a_shape.count != b_shape.count) {
    Shape a;
    Shape b;
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(a_shape, &a));
    STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(b_shape, &b));
    const ShapeText a_text(a.rank, a.dims, " ");
    const ShapeText b_text(b.rank, b.dims, " ");
    return STILLFLOW_INVALID_ARGUMENT("Operands do not have the same ranks; got shapes: %.*s and %.*s",
                                      static_cast<int>(std::strlen(a_text.c_str())) - 2, a_text.c_str() + 1,
                                      static_cast<int>(std::strlen(b_text.c_str())) - 2, b_text.c_str() + 1);
  }
  for (int64_t i = 0; i < a_shape.count; ++i) {
    if (IntAt(a_shape, i) == IntAt(b_shape, i)) continue;
    return STILLFLOW_INVALID_ARGUMENT("Operands' shapes do not match: got %lld and %lld for dimension %lld",
                                      static_cast<long long>(IntAt(a_shape, i)),
                                      static_cast<long long>(IntAt(b_shape, i)), static_cast<long long>(i));
  }
  return Status();
}

// ---- sparse_add ---------------------------------------------------------------------------------------------------

Status CheckTerms(const KernelCall& call) {
  const Tensor* const* in = call.in;
  if (in[0]->rank != 2 || in[3]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be matrices but received shapes: %s and %s",
                                      ShapeText(*in[0]).c_str(), ShapeText(*in[3]).c_str());
  }
  if (in[1]->rank != 1 || in[4]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input values should be vectors but received shapes: %s and %s",
                                      ShapeText(*in[1]).c_str(), ShapeText(*in[4]).c_str());
  }
  if (in[1]->count != in[0]->dims[0] || in[4]->count != in[3]->dims[0]) {
    return STILLFLOW_INVALID_ARGUMENT("Expected %lld and %lld non-empty input values, got %lld and %lld",
                                      static_cast<long long>(in[0]->dims[0]), static_cast<long long>(in[3]->dims[0]),
                                      static_cast<long long>(in[1]->count), static_cast<long long>(in[4]->count));
  }
  if (in[2]->rank != 1 || in[5]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shapes should be a vector but received shapes %s and %s",
                                      ShapeText(*in[2]).c_str(), ShapeText(*in[5]).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(*in[2], *in[5]));
  STILLFLOW_RETURN_IF_ERROR(CheckRank(Entries(*in[0]), *in[2]));
  return CheckRank(Entries(*in[3]), *in[5]);
}

// What a threshold is compared with.
template <typename T>
auto SizeOf(T sum) {
  if constexpr (kIsComplex<T>) {
    return static_cast<typename T::Part>(Magnitude(Widen(sum)));
  } else {
    const auto wide = Load(sum);
    return wide < 0 ? ElementArithmetic<T>::Negative(wide) : wide;
  }
}

template <typename T>
Status Sum(const KernelCall& call) {
  using A = ElementArithmetic<T>;
  const Entries a(*call.in[0]);
  const Entries b(*call.in[3]);
  const auto* a_values = Data<T>(*call.in[1]);
  const auto* b_values = Data<T>(*call.in[4]);
  const auto threshold = Load(*Data<PartOf<T>>(*call.in[6]));
  const Scratch kept(call, (a.count + b.count) * 16);
  const Scratch sums(call, (a.count + b.count) * static_cast<int64_t>(sizeof(T)));
  if (!kept.ok() || !sums.ok()) return OutOfScratch();
  Pairs pairs{kept.data<int64_t>()};
  WalkBoth(a, b, [&](int64_t i, int64_t j) {
    T sum = i != kNone ? a_values[i] : b_values[j];
    if (i != kNone && j != kNone) {
      sum = A::Store(A::Add(A::Load(a_values[i]), A::Load(b_values[j])));
      if (!(threshold <= SizeOf(sum))) return;
    }
    sums.data<T>()[pairs.count] = sum;
    pairs.Add(i, j);
  });
  STILLFLOW_RETURN_IF_ERROR(WriteRows(call, a, b, pairs));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, call.in[1]->dtype, pairs.count));
  std::copy_n(sums.data<T>(), pairs.count, MutableData<T>(*call.out[1]));
  Alias(call, 2, 2, Shape(*call.in[2]));
  return Status();
}

Status SparseAdd(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckTerms(call));
  if (call.in[6]->rank != 0) {
    return STILLFLOW_INVALID_ARGUMENT("The magnitude threshold must be a scalar: got shape %s",
                                      ShapeText(*call.in[6]).c_str());
  }
  if (call.in[6]->dtype != PartType(call.in[1]->dtype)) return UnsupportedType("SparseAdd", call.in[6]->dtype);
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint16_t, uint8_t, Half, BFloat16, Complex64,
                 Complex128>("SparseAdd", call.in[1]->dtype,
                             [&](auto tag) { return Sum<typename decltype(tag)::type>(call); });
}

// ---- sparse_add_grad ----------------------------------------------------------------------------------------------

Status CheckGradient(const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& sum) {
  if (a.rank != 2 || b.rank != 2 || sum.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input indices should be matrices but received shapes: %s and %s and %s",
                                      ShapeText(a).c_str(), ShapeText(b).c_str(), ShapeText(sum).c_str());
  }
  if (grad.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input backprop_val_grad should be a vector but received shape: %s",
                                      ShapeText(grad).c_str());
  }
  if (a.dims[1] != b.dims[1] || b.dims[1] != sum.dims[1]) {
    return STILLFLOW_INVALID_ARGUMENT(
        "The densified operands should have the same ndims; for A, B, sum got: "
        "%lld%lld%lld",
        static_cast<long long>(a.dims[1]), static_cast<long long>(b.dims[1]), static_cast<long long>(sum.dims[1]));
  }
  if (grad.count == sum.dims[0]) return Status();
  return STILLFLOW_INVALID_ARGUMENT(
      "# elements of backprop_val_grad and # rows of sum_indices should match (#nnz of sum): got %lld and %lld",
      static_cast<long long>(grad.count), static_cast<long long>(sum.dims[0]));
}

// The gradients of the entries that are in the sum; of those that are not it is zero.
template <typename T>
void TakeGradients(const Entries& entries, const Entries& sum, const T* grad, T* to) {
  int64_t at = 0;
  for (int64_t i = 0; i < entries.count; ++i) {
    while (at < sum.count && CompareRows(sum[at], entries[i], sum.rank) < 0) ++at;
    const bool is_there = at < sum.count && CompareRows(sum[at], entries[i], sum.rank) == 0;
    to[i] = is_there ? grad[at] : T{0};
  }
}

Status SparseAddGrad(const KernelCall& call) {
  const Tensor& grad = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckGradient(grad, *call.in[1], *call.in[2], *call.in[3]));
  for (int i = 0; i < 2; ++i) {
    const Entries entries(*call.in[1 + i]);
    STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, i, grad.dtype, entries.count));
    STILLFLOW_RETURN_IF_ERROR(ForWidth("SparseAddGrad", grad.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      TakeGradients(entries, Entries(*call.in[3]), Data<T>(grad), MutableData<T>(*call.out[i]));
      return Status();
    }));
  }
  return Status();
}

// ---- sparse_extremum ----------------------------------------------------------------------------------------------

Status CheckOperands(const KernelCall& call) {
  const Tensor* const* in = call.in;
  if (in[0]->rank != 2 || in[3]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Inputs a_indices and b_indices should be matrices but received shapes: %s, %s",
                                      ShapeText(*in[0]).c_str(), ShapeText(*in[3]).c_str());
  }
  if (in[1]->rank != 1 || in[4]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Inputs a_values and b_values should be vectors but received shapes: %s and %s",
                                      ShapeText(*in[1]).c_str(), ShapeText(*in[4]).c_str());
  }
  if (in[2]->rank != 1 || in[5]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("Input shapes should be a vector but received shapes %s and %s",
                                      ShapeText(*in[2]).c_str(), ShapeText(*in[5]).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(CheckShapes(*in[2], *in[5]));
  for (int i = 0; i < 6; i += 3) {
    STILLFLOW_RETURN_IF_ERROR(CheckValueCount(Entries(*in[i]), *in[i + 1]));
    STILLFLOW_RETURN_IF_ERROR(CheckRank(Entries(*in[i]), *in[i + 2]));
  }
  return Status();
}

template <typename T>
Status Extremum(const KernelCall& call) {
  using A = ElementArithmetic<T>;
  const Entries a(*call.in[0]);
  const Entries b(*call.in[3]);
  const Scratch kept(call, (a.count + b.count) * 16);
  if (!kept.ok()) return OutOfScratch();
  Pairs pairs{kept.data<int64_t>()};
  WalkBoth(a, b, [&](int64_t i, int64_t j) { pairs.Add(i, j); });
  STILLFLOW_RETURN_IF_ERROR(WriteRows(call, a, b, pairs));
  STILLFLOW_RETURN_IF_ERROR(AllocateVector(call, 1, call.in[1]->dtype, pairs.count));
  const bool is_maximum = call.attrs[0].i == 1;
  for (int64_t i = 0; i < pairs.count; ++i) {
    const T x = pairs.pairs[2 * i] != kNone ? Data<T>(*call.in[1])[pairs.pairs[2 * i]] : T{};
    const T y = pairs.pairs[2 * i + 1] != kNone ? Data<T>(*call.in[4])[pairs.pairs[2 * i + 1]] : T{};
    const bool takes_y = is_maximum ? A::Load(x) < A::Load(y) : A::Load(y) < A::Load(x);
    MutableData<T>(*call.out[1])[i] = takes_y ? y : x;
  }
  return Status();
}

Status SparseExtremum(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckOperands(call));
  return ForType<float, double, int64_t, int32_t, int16_t, int8_t, uint16_t, uint8_t, Half, BFloat16>(
      "SparseSparseExtremum", call.in[1]->dtype,
      [&](auto tag) { return Extremum<typename decltype(tag)::type>(call); });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_merge){
    {"sparse_add", "a_indices, a_values, a_shape, b_indices, b_values, b_shape, thresh", SparseAdd},
    {"sparse_add_grad", "backprop_val_grad, a_indices, b_indices, sum_indices", SparseAddGrad},
    {"sparse_extremum", "a_indices, a_values, a_shape, b_indices, b_values, b_shape | kept: min max", SparseExtremum},
    {}};

}  // namespace stillflow
