// transpose, invert_permutation: the dimensions of an array in another order.
//
//   transpose           in[0] x; in[1] perm, int32 | int64[rank of x]; out[0] dimension i is dimension perm[i] of x
//   invert_permutation  in[0] x, int32 | int64[n], a permutation; out[0] y with y[x[i]] = i
#include "arithmetic/math/complex.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// Reads the permutation; negative axes count from the end.
Status ReadPermutation(const Tensor& input, const Tensor& perm, int* axes) {
  if (perm.rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT("perm must be a vector, not %s", ShapeText(perm).c_str());
  }
  if (perm.count != input.rank) {
    return STILLFLOW_INVALID_ARGUMENT("transpose expects a vector of size %d. But input(1) is a vector of size %lld",
                                      input.rank, static_cast<long long>(perm.count));
  }
  uint32_t seen = 0;
  for (int i = 0; i < input.rank; ++i) {
    const int64_t axis = IntAt(perm, i);
    const int64_t positive = axis < 0 ? axis + input.rank : axis;
    if (positive < 0 || positive >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("%lld is out of range [0 .. %d)", static_cast<long long>(axis), input.rank);
    }
    seen |= uint32_t{1} << positive;
    axes[i] = static_cast<int>(positive);
  }
  for (int i = 0; i < input.rank; ++i) {
    if ((seen >> i & 1) == 0) {
      int64_t values[kMaxRank];
      for (int k = 0; k < input.rank; ++k) values[k] = IntAt(perm, k);
      return STILLFLOW_INVALID_ARGUMENT("%d is missing from %s.", i, ShapeText(input.rank, values).c_str());
    }
  }
  return Status();
}

Status Transpose(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  int axes[kMaxRank];
  STILLFLOW_RETURN_IF_ERROR(ReadPermutation(input, *call.in[1], axes));
  int64_t strides[kMaxRank];
  DenseStrides(Shape(input), strides);
  Shape shape;
  int64_t moved_strides[kMaxRank];
  for (int i = 0; i < input.rank; ++i) {
    shape.Add(input.dims[axes[i]]);
    moved_strides[i] = strides[axes[i]];
  }
  return TakeStrided(call, 0, 0, shape, 0, moved_strides);
}

template <typename R>
void ConjugateAll(const Complex<R>* from, int64_t count, Complex<R>* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Conj(from[i]);
}

Status ConjugateTranspose(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(Transpose(call));
  const DType dtype = call.in[0]->dtype;
  if (!IsComplex(dtype)) return Status();
  const Tensor transposed = *call.out[0];
  const bool is_view = transposed.buffer == call.in[0]->buffer;
  if (is_view) STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, dtype, Shape(transposed)));
  if (dtype == DType::kComplex64) {
    ConjugateAll(Data<Complex64>(transposed), transposed.count, MutableData<Complex64>(*call.out[0]));
  } else {
    ConjugateAll(Data<Complex128>(transposed), transposed.count, MutableData<Complex128>(*call.out[0]));
  }
  if (is_view) Release(transposed.buffer);
  return Status();
}

template <typename T>
Status Invert(const Tensor& input, Tensor* output) {
  const T* x = Data<T>(input);
  T* y = MutableData<T>(*output);
  for (int64_t i = 0; i < input.count; ++i) y[i] = -1;
  for (int64_t i = 0; i < input.count; ++i) {
    const T target = x[i];
    if (target < 0 || target >= input.count) {
      return STILLFLOW_INVALID_ARGUMENT("%lld is not between 0 and %lld", static_cast<long long>(target),
                                        static_cast<long long>(input.count));
    }
    if (y[target] != -1) {
      return STILLFLOW_INVALID_ARGUMENT("%lld is duplicated in the input.", static_cast<long long>(target));
    }
    y[target] = static_cast<T>(i);
  }
  return Status();
}

Status InvertPermutation(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  if (input.rank != 1) return STILLFLOW_INVALID_ARGUMENT("invert_permutation expects a 1D vector.");
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  return input.dtype == DType::kInt64 ? Invert<int64_t>(input, call.out[0]) : Invert<int32_t>(input, call.out[0]);
}

}  // namespace

STILLFLOW_KERNELS(array, transpose){{"transpose", "x, perm", Transpose},
                                    {"conjugate_transpose", "x, perm", ConjugateTranspose},
                                    {"invert_permutation", "x", InvertPermutation},
                                    {}};

}  // namespace stillflow
