// matmul, sparse_matmul, batch_matmul: products of matrices.
//
//   in[0]  a  matmul, sparse_matmul: [m, k]; batch_matmul: [..., m, k]
//   in[1]  b  [k, n] resp. [..., k, n]
//   out[0]    [m, n] resp. [..., m, n]
//   attrs  whether a's, b's last two dimensions are swapped; batch_matmul: whether batch dimensions broadcast
//
// matmul and batch_matmul take tensors of one type; sparse_matmul takes float and bfloat16 and gives float.
// The order of additions is gemm.h's.
#include <algorithm>

#include "arithmetic/gemm/complex_gemm.h"
#include "arithmetic/gemm/gemm.h"
#include "arithmetic/math/complex.h"
#include "arithmetic/math/scalar.h"
#include "kernel_api/broadcast.h"

namespace stillflow {
namespace {

// Products of matrices with fewer multiplications are computed by one thread each.
constexpr double kSmallProduct = 1 << 18;
constexpr int64_t kElementsPerChunk = 65536;

// The sizes of one product, and how its factors lie in memory.
struct Product {
  int64_t m, n, k;
  int64_t a_row_stride, a_column_stride;
  int64_t b_row_stride, b_column_stride;
  bool conjugates_a, conjugates_b;  // complex elements
};

// Of the last two dimensions; false if they do not fit.
bool Describe(const Tensor& a, const Tensor& b, bool transposes_a, bool transposes_b, Product* product) {
  const int64_t* a_dims = a.dims + a.rank - 2;
  const int64_t* b_dims = b.dims + b.rank - 2;
  product->m = a_dims[transposes_a ? 1 : 0];
  product->k = a_dims[transposes_a ? 0 : 1];
  product->n = b_dims[transposes_b ? 0 : 1];
  product->a_row_stride = transposes_a ? 1 : a_dims[1];
  product->a_column_stride = transposes_a ? a_dims[1] : 1;
  product->b_row_stride = transposes_b ? 1 : b_dims[1];
  product->b_column_stride = transposes_b ? b_dims[1] : 1;
  return product->k == b_dims[transposes_b ? 1 : 0];
}

template <typename T>
Status Multiply(const KernelCall& call, const Product& p, const T* a, const T* b, T* c) {
  if constexpr (kIsComplex<T>) {
    return ComplexGemm<typename T::Part>(call, p.m, p.n, p.k, {a, p.a_row_stride, p.a_column_stride, p.conjugates_a},
                                         {b, p.b_row_stride, p.b_column_stride, p.conjugates_b}, c, p.n);
  } else {
    return Gemm<T>(call, p.m, p.n, p.k, {a, p.a_row_stride, p.a_column_stride},
                   {b, p.b_row_stride, p.b_column_stride}, c, p.n);
  }
}

bool DescribeMatrices(const KernelCall& call, Product* product) {
  return Describe(*call.in[0], *call.in[1], call.attrs[0].i != 0, call.attrs[1].i != 0, product);
}

Status CheckMatrices(const KernelCall& call, Product* product) {
  for (int i = 0; i < 2; ++i) {
    if (call.in[i]->rank != 2) {
      return STILLFLOW_INVALID_ARGUMENT("In[%d] is not a matrix. Instead it has shape %s", i,
                                        ShapeText(*call.in[i]).c_str());
    }
  }
  if (DescribeMatrices(call, product)) return Status();
  return STILLFLOW_INVALID_ARGUMENT("Matrix size-incompatible: In[0]: %s, In[1]: %s", ShapeText(*call.in[0]).c_str(),
                                    ShapeText(*call.in[1]).c_str());
}

Status AllocateProduct(const KernelCall& call, const Product& product, DType type) {
  Shape shape;
  shape.Add(product.m);
  shape.Add(product.n);
  return AllocateOutput(call, 0, type, shape);
}

Status MatMul(const KernelCall& call) {
  Product product{};
  STILLFLOW_RETURN_IF_ERROR(CheckMatrices(call, &product));
  STILLFLOW_RETURN_IF_ERROR(AllocateProduct(call, product, call.in[0]->dtype));
  return ForType<float, double, Half, BFloat16, int32_t, int64_t, Complex64, Complex128>(
      "MatMul", call.in[0]->dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        return Multiply(call, product, Data<T>(*call.in[0]), Data<T>(*call.in[1]), MutableData<T>(*call.out[0]));
      });
}

// The tensor's elements as floats: its own, or widened into `scratch`.
Status AsFloats(const KernelCall& call, const Tensor& tensor, float* scratch, const float** floats) {
  if (tensor.dtype == DType::kFloat) {
    *floats = Data<float>(tensor);
    return Status();
  }
  *floats = scratch;
  const BFloat16* from = Data<BFloat16>(tensor);
  return ForEachChunk(call, tensor.count, kElementsPerChunk, [&](Range range) {
    for (int64_t i = range.begin; i < range.end; ++i) scratch[i] = Widen(from[i]);
  });
}

Status SparseMatMul(const KernelCall& call) {
  const Tensor& a = *call.in[0];
  const Tensor& b = *call.in[1];
  if (a.rank != 2) return STILLFLOW_INVALID_ARGUMENT("a is not a matrix");
  if (b.rank != 2) return STILLFLOW_INVALID_ARGUMENT("b is not a matrix");
  Product product{};
  if (!DescribeMatrices(call, &product)) {
    return STILLFLOW_INVALID_ARGUMENT("Matrix size incompatible: a: %s, b: %s", ShapeText(a).c_str(),
                                      ShapeText(b).c_str());
  }
  STILLFLOW_RETURN_IF_ERROR(AllocateProduct(call, product, DType::kFloat));
  const Scratch scratch(call, (a.count + b.count) * static_cast<int64_t>(sizeof(float)));
  if (!scratch.ok()) return OutOfScratch();
  const float* a_floats = nullptr;
  const float* b_floats = nullptr;
  STILLFLOW_RETURN_IF_ERROR(AsFloats(call, a, scratch.data<float>(), &a_floats));
  STILLFLOW_RETURN_IF_ERROR(AsFloats(call, b, scratch.data<float>() + a.count, &b_floats));
  return Multiply(call, product, a_floats, b_floats, MutableData<float>(*call.out[0]));
}

Shape BatchShape(const Tensor& tensor) {
  Shape shape;
  for (int i = 0; i < tensor.rank - 2; ++i) shape.Add(tensor.dims[i]);
  return shape;
}

Status CheckBatches(const Tensor& x, const Tensor& y, bool broadcasts, Shape* batch) {
  const ShapeText x_shape(x);
  const ShapeText y_shape(y);
  if (!broadcasts && x.rank != y.rank) {
    return STILLFLOW_INVALID_ARGUMENT("In[0] and In[1] has different ndims: %s vs. %s", x_shape.c_str(),
                                      y_shape.c_str());
  }
  if (x.rank < 2) return STILLFLOW_INVALID_ARGUMENT("In[0] ndims must be >= 2: %d", x.rank);
  if (y.rank < 2) return STILLFLOW_INVALID_ARGUMENT("In[1] ndims must be >= 2: %d", y.rank);
  if (broadcasts) {
    if (BroadcastTwo(BatchShape(x), BatchShape(y), batch).ok()) return Status();
    return STILLFLOW_INVALID_ARGUMENT("In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                                      x_shape.c_str(), y_shape.c_str());
  }
  *batch = BatchShape(x);
  for (int i = 0; i < batch->rank; ++i) {
    if (x.dims[i] != y.dims[i]) {
      return STILLFLOW_INVALID_ARGUMENT("In[0].dim(%d) and In[1].dim(%d) must be the same: %s vs %s", i, i,
                                        x_shape.c_str(), y_shape.c_str());
    }
  }
  return Status();
}

template <typename T>
Status MultiplyBatches(const KernelCall& call, const Product& p, const Shape& batch) {
  const T* x = Data<T>(*call.in[0]);
  const T* y = Data<T>(*call.in[1]);
  T* z = MutableData<T>(*call.out[0]);
  const int64_t count = batch.Count();
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k + 1);
  const int64_t chunk = work <= kSmallProduct ? static_cast<int64_t>(kSmallProduct / work) : count;
  return ForEachChunk(call, count, chunk, [&](Range range) {
    BroadcastWalk at_x(BatchShape(*call.in[0]), batch, range.begin);
    BroadcastWalk at_y(BatchShape(*call.in[1]), batch, range.begin);
    for (int64_t i = range.begin; i < range.end; ++i, at_x.Next(), at_y.Next()) {
      STILLFLOW_RETURN_IF_ERROR(
          Multiply(call, p, x + at_x.index() * p.m * p.k, y + at_y.index() * p.k * p.n, z + i * p.m * p.n));
    }
    return Status();
  });
}

Status BatchMatMul(const KernelCall& call) {
  const Tensor& x = *call.in[0];
  const Tensor& y = *call.in[1];
  Shape batch;
  STILLFLOW_RETURN_IF_ERROR(CheckBatches(x, y, call.attrs[2].i != 0, &batch));
  Product product{};
  if (!Describe(x, y, call.attrs[0].i != 0, call.attrs[1].i != 0, &product)) {
    return STILLFLOW_INVALID_ARGUMENT(
        "In[0] mismatch In[1] shape: %lld vs. %lld: %s %s %d %d", static_cast<long long>(product.k),
        static_cast<long long>(y.dims[y.rank - (call.attrs[1].i != 0 ? 1 : 2)]), ShapeText(x).c_str(),
        ShapeText(y).c_str(), static_cast<int>(call.attrs[0].i), static_cast<int>(call.attrs[1].i));
  }
  product.conjugates_a = call.attrs[0].i != 0;
  product.conjugates_b = call.attrs[1].i != 0;
  Shape shape = batch;
  shape.Add(product.m);
  shape.Add(product.n);
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, x.dtype, shape));
  if (call.out[0]->count == 0) return Status();
  return ForType<float, double, Half, BFloat16, int32_t, int64_t, Complex64, Complex128>(
      "BatchMatMul", x.dtype,
      [&](auto tag) { return MultiplyBatches<typename decltype(tag)::type>(call, product, batch); });
}

}  // namespace

STILLFLOW_KERNELS(math, matmul){{"matmul", "a, b | transpose_a, transpose_b", MatMul},
                                {"sparse_matmul", "a, b | transpose_a, transpose_b", SparseMatMul},
                                {"batch_matmul", "x, y | adj_x, adj_y, broadcasts", BatchMatMul},
                                {}};

}  // namespace stillflow
