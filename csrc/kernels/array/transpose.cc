// transpose, invert_permutation, data_format_*: the dimensions of an array in another order.
//
//   transpose           in[0] x; in[1] perm, int32 | int64[rank of x]; out[0] dimension i is dimension perm[i] of x
//   invert_permutation  in[0] x, int32 | int64[n], a permutation; out[0] y with y[x[i]] = i
//   data_format_dim_map      in[0] x, dimensions of src_format; out[0] which they are of dst_format
//   data_format_vec_permute  in[0] x, int32 | int64[4] or [4, 2], a row for each dimension; out[0] the rows moved
#include <algorithm>
#include <string>
#include <utility>

#include "arithmetic/math/complex.h"
#include "memory/strided_copy.h"

namespace stillflow {
namespace {

// Reads the permutation.
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
    if (axis < 0 || axis >= input.rank) {
      return STILLFLOW_INVALID_ARGUMENT("%lld is out of range [0 .. %d)", static_cast<long long>(axis), input.rank);
    }
    seen |= uint32_t{1} << axis;
    axes[i] = static_cast<int>(axis);
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

// Where the dimensions of one format are in another.
struct Formats {
  int to[5];  // for each letter of the first, its place in the second
  int count = 0;
};

Status ReadFormats(const KernelCall& call, Formats* formats) {
  const Attr& from = call.attrs[0];
  const Attr& to = call.attrs[1];
  const std::string source(static_cast<const char*>(from.data), from.size);
  const std::string target(static_cast<const char*>(to.data), to.size);
  for (const auto& [kind, text] : {std::pair("Source", source), std::pair("Destination", target)}) {
    if (text.size() == 4 || text.size() == 5) continue;
    return STILLFLOW_INVALID_ARGUMENT("%s format must be of length 4 or 5, received %s_format = %s", kind,
                                      kind[0] == 'S' ? "src" : "dst", text.c_str());
  }
  const auto has_all = [](const std::string& x, const std::string& y) {  // each letter of x once in x, and in y
    for (const char c : x) {
      if (std::count(x.begin(), x.end(), c) != 1 || std::count(y.begin(), y.end(), c) != 1) return false;
    }
    return true;
  };
  if (source.size() != target.size() || !has_all(source, target)) {
    return STILLFLOW_INVALID_ARGUMENT("Destination and source format must determine a permutation, got %s and %s",
                                      source.c_str(), target.c_str());
  }
  formats->count = static_cast<int>(source.size());
  for (int i = 0; i < formats->count; ++i) formats->to[i] = static_cast<int>(target.find(source[i]));
  return Status();
}

// Whatever the format, numbers go around by four, as in TensorFlow.
template <typename T>
void MapDimensions(const Tensor& x, const Formats& formats, Tensor* out) {
  for (int64_t i = 0; i < x.count; ++i) MutableData<T>(*out)[i] = formats.to[(Data<T>(x)[i] % 4 + 4) % 4];
}

Status DataFormatDimMap(const KernelCall& call) {
  Formats formats;
  STILLFLOW_RETURN_IF_ERROR(ReadFormats(call, &formats));
  const Tensor& x = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, x.dtype, Shape(x)));
  if (x.dtype == DType::kInt64) {
    MapDimensions<int64_t>(x, formats, call.out[0]);
  } else {
    MapDimensions<int32_t>(x, formats, call.out[0]);
  }
  return Status();
}

// Moves the rows of `width` elements of a vector or of pairs.
template <typename T>
void PermuteRows(const Tensor& x, const int* to, int64_t rows, Tensor* out) {
  const int64_t width = x.count / rows;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      MutableData<T>(*out)[to[i] * width + j] = Data<T>(x)[i * width + j];
    }
  }
}

Status DataFormatVecPermute(const KernelCall& call) {
  Formats formats;
  STILLFLOW_RETURN_IF_ERROR(ReadFormats(call, &formats));
  const Tensor& x = *call.in[0];
  if (x.rank != 1 && x.rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("input must be a vector or 2D tensor, but got shape %s", ShapeText(x).c_str());
  }
  const int64_t rows = x.dims[0];
  if (rows != 4) {
    return STILLFLOW_INVALID_ARGUMENT("%s input must be of size 4, but got shape %s",
                                      x.rank == 1 ? "1D" : "First dimension of 2D", ShapeText(x).c_str());
  }
  if (rows != formats.count) {
    return STILLFLOW_INVALID_ARGUMENT("input of shape %s does not fit formats of %d dimensions", ShapeText(x).c_str(),
                                      formats.count);
  }
  if (x.rank == 2 && x.dims[1] != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Second dimension of 2D input must be of size 2, but got shape %s",
                                      ShapeText(x).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, x.dtype, Shape(x)));
  if (x.dtype == DType::kInt64) {
    PermuteRows<int64_t>(x, formats.to, rows, call.out[0]);
  } else {
    PermuteRows<int32_t>(x, formats.to, rows, call.out[0]);
  }
  return Status();
}

}  // namespace

STILLFLOW_KERNELS(array, transpose){{"transpose", "x, perm", Transpose},
                                    {"conjugate_transpose", "x, perm", ConjugateTranspose},
                                    {"invert_permutation", "x", InvertPermutation},
                                    {"data_format_dim_map", "x | src_format, dst_format", DataFormatDimMap},
                                    {"data_format_vec_permute", "x | src_format, dst_format", DataFormatVecPermute},
                                    {}};

}  // namespace stillflow
