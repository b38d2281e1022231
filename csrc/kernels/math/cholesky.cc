// cholesky: a lower triangular l with a = l l', for matrices that are symmetric or Hermitian, and positive definite.
//
//   in[0]  a [..., n, n], of which the lower triangle is read
//   out[0] l [..., n, n]
#include "arithmetic/linear/factors.h"
#include "arithmetic/linear/matrices.h"

namespace stillflow {
namespace {

Status Cholesky(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, Shape(input)));
  if (input.count == 0) return Status();
  const int64_t n = input.dims[input.rank - 1];
  return ForNumber("Cholesky", input.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(call, MatrixCount(input), CubicCost(n), n * n, [&](int64_t i, S* a) -> Status {
      LoadElements(input, i * n * n, n * n, a);
      bool is_positive = false;
      STILLFLOW_RETURN_IF_ERROR(FactorCholesky(call, a, n, &is_positive));
      if (!is_positive) {
        return STILLFLOW_INVALID_ARGUMENT("Cholesky decomposition was not successful. The input might not be valid.");
      }
      StoreElements(a, n * n, call.out[0], i * n * n);
      return Status();
    });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, cholesky){{"cholesky", "input", Cholesky}, {}};

}  // namespace stillflow
