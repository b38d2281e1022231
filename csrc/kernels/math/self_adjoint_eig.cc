// self_adjoint_eig: eigenvalues and eigenvectors of symmetric or Hermitian matrices.
//
//   in[0]   a [..., n, n], of which the lower triangle is read; attr compute_v
//   out[0]  the eigenvalues [..., n] in ascending order
//   out[1]  the eigenvectors as columns, or nothing
#include "arithmetic/linear/matrices.h"
#include "arithmetic/linear/spectrum.h"

namespace stillflow {
namespace {

Status SelfAdjointEig(const KernelCall& call) {
  const Tensor& input = *call.in[0];
  STILLFLOW_RETURN_IF_ERROR(CheckSquare(input));
  const int64_t n = input.dims[input.rank - 1];
  const bool wants_vectors = call.attrs[0].i != 0;
  Shape shape(input);
  if (wants_vectors) {
    STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 1, input.dtype, shape));
  } else {
    STILLFLOW_RETURN_IF_ERROR(AllocateNothing(call, 1, input.dtype));
  }
  --shape.rank;
  STILLFLOW_RETURN_IF_ERROR(AllocateOutput(call, 0, input.dtype, shape));
  if (input.count == 0) return Status();
  return ForNumber("SelfAdjointEigV2", input.dtype, true, [&](auto tag) {
    using S = typename decltype(tag)::type;
    return ForEachMatrix<S>(
        call, MatrixCount(input), CubicCost(n), 2 * n * n + n, [&](int64_t i, S* scratch) -> Status {
          S* const a = Take(&scratch, n * n);
          S* const vectors = Take(&scratch, n * n);
          auto* const values = reinterpret_cast<double*>(scratch);
          LoadElements(input, i * n * n, n * n, a);
          bool has_converged = false;
          STILLFLOW_RETURN_IF_ERROR(
              SymmetricEigen(call, a, n, values, wants_vectors ? vectors : nullptr, &has_converged));
          if (!has_converged) {
            return STILLFLOW_INVALID_ARGUMENT(
                "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
          }
          StoreReals(values, n, call.out[0], i * n);
          if (!wants_vectors) return Status();
          Transpose(vectors, n, n, a);
          StoreElements(a, n * n, call.out[1], i * n * n);
          return Status();
        });
  });
}

}  // namespace

STILLFLOW_KERNELS(math, self_adjoint_eig){{"self_adjoint_eig", "input | compute_v", SelfAdjointEig}, {}};

}  // namespace stillflow
