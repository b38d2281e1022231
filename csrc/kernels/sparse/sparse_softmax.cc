// sparse_softmax: softmax along the last axis of a sparse tensor, over the entries that are there.
//
//   in[0]  indices int64[n, rank], rank >= 2; in[1] values [n]; in[2] shape int64[rank]
//   out[0] [n]: the results, for the entries in row-major order
#include "arithmetic/math/exponential.h"
#include "kernel_api/sparse_tensor.h"

namespace stillflow {
namespace {

Status CheckInputs(const KernelCall& call) {
  if (call.in[0]->rank != 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input sp_indices should be a matrix but received shape: %s",
                                      ShapeText(*call.in[0]).c_str());
  }
  if (call.in[1]->rank != 1 || call.in[2]->rank != 1) {
    return STILLFLOW_INVALID_ARGUMENT(
        "Inputs sp_values and sp_shape should be vectors but received shapes: %s and %s",
        ShapeText(*call.in[1]).c_str(), ShapeText(*call.in[2]).c_str());
  }
  Shape shape;
  STILLFLOW_RETURN_IF_ERROR(ShapeFromTensor(*call.in[2], &shape));
  if (shape.rank < 2) {
    return STILLFLOW_INVALID_ARGUMENT("Input should have rank >= 2, but received shape: %lld",
                                      static_cast<long long>(shape.rank == 1 ? shape.dims[0] : 1));
  }
  const Entries entries(*call.in[0]);
  STILLFLOW_RETURN_IF_ERROR(CheckValueCount(entries, *call.in[1]));
  return CheckRank(entries, *call.in[2]);
}

template <typename T>
void Softmax(const Entries& entries, const int64_t* order, const T* values, T* to) {
  for (int64_t begin = 0; begin < entries.count;) {
    int64_t end = begin;
    T largest = values[order[begin]];
    for (; end < entries.count; ++end) {
      if (CompareRows(entries[order[begin]], entries[order[end]], entries.rank - 1) != 0) break;
      largest = std::max(largest, values[order[end]]);
    }
    T sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      to[i] = Exp(values[order[i]] - largest);
      sum += to[i];
    }
    for (; begin < end; ++begin) to[begin] /= sum;
  }
}

Status SparseSoftmax(const KernelCall& call) {
  STILLFLOW_RETURN_IF_ERROR(CheckInputs(call));
  const Entries entries(*call.in[0]);
  const Scratch order(call, entries.count * 8);
  if (!order.ok()) return OutOfScratch();
  OrderRows(entries, order.data<int64_t>());
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, call.in[1]->dtype, Shape(*call.in[1])));
  return ForType<float, double>("SparseSoftmax", call.in[1]->dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Softmax(entries, order.data<int64_t>(), Data<T>(*call.in[1]), MutableData<T>(*call.out[0]));
    return Status();
  });
}

}  // namespace

STILLFLOW_KERNELS(sparse, sparse_softmax){{"sparse_softmax", "sp_indices, sp_values, sp_shape", SparseSoftmax}, {}};

}  // namespace stillflow
