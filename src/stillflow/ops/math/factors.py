"""Cholesky, Lu, MatrixInverse, MatrixSolve and determinants, and SelfAdjointEigV2, Svd and MatrixSolveLs."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import dimension_at_index
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

_TYPES = "{float64, float32, float16, complex64, complex128}"
_DETERMINANT_TYPES = "{float16, float32, float64, complex64, complex128}"

cholesky = define_op(
    "Cholesky(input: T) -> (output: T)",
    f"T: {_TYPES}",
    kernel="cholesky(input)",
    public="cholesky linalg.cholesky",
    doc="""A lower triangular matrix whose product with its adjoint is `input`, of which the lower half is read.

    Args:
      input: [..., n, n], symmetric or Hermitian, and positive definite.

    Raises InvalidArgumentError if a matrix is not positive definite.
    """,
)
lu = define_op(
    "Lu(input: T) -> (lu: T, p: output_idx_type)",
    f"T: {_TYPES}; output_idx_type: {{int32, int64}} = int32",
    kernel="lu(input | output_idx_type)",
    differentiable=None,
    public="linalg.lu",
    doc="""(lu, p): both triangular factors in one matrix, of the rows `p` of `input`; l has ones on its diagonal.

    Raises InvalidArgumentError if a matrix is not invertible.
    """,
)
matrix_inverse = define_op(
    "MatrixInverse(input: T) -> (output: T)",
    f"adjoint: bool = false; T: {_TYPES}",
    kernel="matrix_inverse(input | adjoint)",
    public="matrix_inverse linalg.inv",
    doc="""The inverse of each matrix [..., n, n], or its adjoint if `adjoint`.

    Raises InvalidArgumentError if a matrix is not invertible.
    """,
)
matrix_solve = define_op(
    "MatrixSolve(matrix: T, rhs: T) -> (output: T)",
    f"adjoint: bool = false; T: {_TYPES}",
    kernel="matrix_solve(matrix, rhs | adjoint)",
    public="matrix_solve linalg.solve",
    doc="""x of matrix * x = rhs, for a matrix [..., n, n], transposed if `adjoint`, and rhs [..., n, k].

    Raises InvalidArgumentError if a matrix is not invertible.
    """,
)
matrix_determinant = define_op(
    "MatrixDeterminant(input: T) -> (output: T)",
    f"T: {_DETERMINANT_TYPES}",
    kernel="matrix_determinant(input)",
    public="matrix_determinant linalg.det",
    doc="The determinant of each matrix [..., n, n].",
)
log_matrix_determinant = define_op(
    "LogMatrixDeterminant(input: T) -> (sign: T, log_abs_determinant: T)",
    f"T: {_DETERMINANT_TYPES}",
    kernel="log_matrix_determinant(input)",
    public="linalg.slogdet",
    doc="""(sign, log_abs_determinant): the sign of each determinant and the logarithm of its magnitude.""",
)
self_adjoint_eig_v2 = define_op(
    "SelfAdjointEigV2(input: T) -> (e: T, v: T)",
    f"compute_v: bool = true; T: {_TYPES}",
    kernel="self_adjoint_eig(input | compute_v)",
)
svd_op = define_op(
    "Svd(input: T) -> (s: T, u: T, v: T)",
    f"compute_uv: bool = true; full_matrices: bool = false; T: {_TYPES}",
    kernel="svd(input | compute_uv, full_matrices)",
)
matrix_solve_ls_op = define_op(
    "MatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64) -> (output: T)",
    f"T: {_TYPES}; fast: bool = true",
    kernel="matrix_solve_ls(matrix, rhs, l2_regularizer | fast)",
)


# ---- Shapes -----------------------------------------------------------------------------------------------------


def _square(dims, is_reversed=False):
    """`dims` with both sizes of its matrices known if one is."""
    if plain.with_rank_at_least(dims, 2) is None:
        return None
    size = plain.merged_size(dims[-1], dims[-2]) if is_reversed else plain.merged_size(dims[-2], dims[-1])
    return (*dims[:-2], size, size)


@cholesky.shape_rule
@matrix_inverse.shape_rule
def square_shape(context):
    return _square(context.shapes[0])


@lu.shape_rule
def _(context):
    dims = _square(context.shapes[0])
    return [dims, None if dims is None else dims[:-1]]


@matrix_determinant.shape_rule
@log_matrix_determinant.shape_rule
def _(context):
    dims = _square(context.shapes[0], is_reversed=True)
    return [None if dims is None else dims[:-2]] * context.output_count()


@self_adjoint_eig_v2.shape_rule
def _(context):
    dims = _square(context.shapes[0])
    if dims is None:
        return [None, None if context.attrs["compute_v"] else (0,)]
    return [dims[:-1], dims if context.attrs["compute_v"] else (0,)]


@svd_op.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 2)
    has_vectors = context.attrs["compute_uv"]
    if dims is None:
        return [None, *[None if has_vectors else (0,)] * 2]
    *batch, m, n = dims
    p = 0 if 0 in (m, n) else None if m is None or n is None else min(m, n)
    if not has_vectors:
        return [(*batch, p), (0,), (0,)]
    if context.attrs["full_matrices"]:
        return [(*batch, p), (*batch, m, m), (*batch, n, n)]
    return [(*batch, p), (*batch, m, p), (*batch, n, p)]


def solution(context, is_square):
    """The dimensions of x in matrix * x = rhs, as far as one of both is known."""
    matrix = plain.with_rank_at_least(context.shapes[0], 2)
    rhs = plain.with_rank_at_least(context.shapes[1], 2)
    if matrix is None and rhs is None:
        return None
    if matrix is None:
        return rhs if is_square else (*rhs[:-2], None, rhs[-1])
    if is_square:
        matrix = _square(matrix)
    if rhs is None:
        return (*matrix[:-2], matrix[-1], None)
    size = plain.merged_size(matrix[-2], rhs[-2])
    batch = plain.merged(matrix[:-2], rhs[:-2])
    return (*batch, plain.merged_size(matrix[-1], size) if is_square else matrix[-1], rhs[-1])


@matrix_solve.shape_rule
def _(context):
    return solution(context, is_square=True)


@matrix_solve_ls_op.shape_rule
def _(context):
    plain.with_rank(context.shapes[2], 0)
    return solution(context, is_square=False)


# Named as TensorFlow's functions name them.
def _diag(diagonal):
    return ops.matrix_diag(diagonal, name="diag")


def _diag_part(matrix):
    return ops.matrix_diag_part(matrix, name="diag_part")


def _set_diag(matrix, diagonal):
    return ops.matrix_set_diag(matrix, diagonal, name="set_diag")


@public("self_adjoint_eig", "linalg.eigh")
def self_adjoint_eig(tensor, name=None):
    """(e, v): the eigenvalues of symmetric matrices in ascending order, and the eigenvectors as columns.

    Args:
      tensor: float32, float64 or float16 [..., n, n], of which the lower half is read.

    Raises InvalidArgumentError if a matrix has elements that are not finite.
    """
    e, v = self_adjoint_eig_v2(tensor, name=name)
    return e, v


# ---- Gradients of factors and solutions -------------------------------------------------------------------------


@public("linalg.adjoint")
@dispatched
def adjoint(matrix, name=None):
    """Each matrix in the last two dimensions transposed, its elements conjugated."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return ops.matrix_transpose(matrix, conjugate=True)


def _cholesky_gradient(factor, grad):
    """The inverse of l from both sides of the lower half of l' grad, made symmetric."""
    size = ops.shape(factor)[-1]
    batch = ops.shape(factor)[:-2]
    inverse = ops.matrix_triangular_solve(factor, ops.eye(size, batch_shape=batch, dtype=factor.dtype))
    middle = ops.matmul(factor, grad, adjoint_a=True)
    middle = _set_diag(middle, 0.5 * _diag_part(middle))
    middle = ops.matrix_band_part(middle, -1, 0)
    result = ops.matmul(ops.matmul(inverse, middle, adjoint_a=True), inverse)
    result = result + adjoint(result)
    return result * 0.5


@cholesky.gradient
def _(op, grad):
    return _cholesky_gradient(op._outputs[0], grad)


cholesky_grad = define_op(
    "CholeskyGrad(l: T, grad: T) -> (output: T)",
    "T: {float16, float32, float64}",
    written=lambda op: [_cholesky_gradient(*op.inputs)],
    differentiable=None,
)


@cholesky_grad.shape_rule
def _(context):
    return _square(context.shapes[0])


@matrix_inverse.gradient
def _(op, grad):
    inverse = op._outputs[0]
    return -ops.matmul(inverse, ops.matmul(grad, inverse, adjoint_b=True), adjoint_a=True)


@matrix_solve.gradient
def _(op, grad):
    is_adjoint, solution = op._attrs["adjoint"], op._outputs[0]
    by_rhs = matrix_solve(op._inputs[0], grad, adjoint=not is_adjoint)
    if is_adjoint:
        return -ops.matmul(solution, by_rhs, adjoint_b=True), by_rhs
    return -ops.matmul(by_rhs, solution, adjoint_b=True), by_rhs


def _for_each_matrix(factor, like):
    return ops.reshape(factor, ops.concat([ops.shape(like), [1, 1]], 0))


@matrix_determinant.gradient
def _(op, grad):
    inverse = matrix_inverse(op._inputs[0], adjoint=True)
    determinant = op._outputs[0]
    return _for_each_matrix(grad * determinant, determinant) * inverse


@log_matrix_determinant.gradient
def _(op, _, grad):
    inverse = matrix_inverse(op._inputs[0], adjoint=True)
    return _for_each_matrix(grad, op._outputs[1]) * inverse


# ---- Gradients of eigenvalues and singular values ---------------------------------------------------------------


@self_adjoint_eig_v2.gradient
def _(op, grad_values, grad_vectors):
    values = op._outputs[0]
    with get_default_graph().control_dependencies([grad_values, grad_vectors]):
        if op._attrs["compute_v"]:
            vectors = op._outputs[1]
            differences = ops.expand_dims(values, -2) - ops.expand_dims(values, -1)
            f = _set_diag(ops.reciprocal(differences), ops.zeros_like(values))
            inner = _diag(grad_values) + f * ops.matmul(vectors, grad_vectors, adjoint_a=True)
            result = ops.matmul(vectors, ops.matmul(inner, vectors, adjoint_b=True))
        else:
            _, vectors = self_adjoint_eig_v2(op._inputs[0])
            result = ops.matmul(vectors, ops.matmul(_diag(grad_values), vectors, adjoint_b=True))
        # The op reads the lower triangle.
        result = ops.matrix_band_part(result + adjoint(result), -1, 0)
        return _set_diag(result, 0.5 * _diag_part(result))


@svd_op.gradient
def _(op, grad_s, grad_u, grad_v):
    a = op._inputs[0]
    dims = a.shape.with_rank_at_least(2)
    grad_s_matrix = _diag(grad_s)
    if not op._attrs["compute_uv"]:
        _, u, v = svd(a, compute_uv=True)
        result = ops.matmul(u, ops.matmul(grad_s_matrix, v, adjoint_b=True))
        result.set_shape(dims)
        return result
    if a.dtype.is_complex:
        raise NotImplementedError("SVD gradient is not implemented for complex types and compute_uv=True.")
    u_dims, v_dims = grad_u.shape.with_rank_at_least(2), grad_v.shape.with_rank_at_least(2)
    m = dimension_at_index(dims, -2).merge_with(dimension_at_index(u_dims, -2))
    n = dimension_at_index(dims, -1).merge_with(dimension_at_index(v_dims, -2))
    dims = dims[:-2].merge_with(u_dims[:-2]).merge_with(v_dims[:-2]).concatenate([m, n])
    if m.value is None or n.value is None:
        raise NotImplementedError("SVD gradient has not been implemented for input with unknown inner matrix shape.")
    result = _svd_gradient(op, m.value, n.value, grad_s, grad_s_matrix, grad_u, grad_v)
    result.set_shape(dims)
    return result


def _svd_gradient(op, m, n, grad_s, grad_s_matrix, grad_u, grad_v):
    s, u, v = op._outputs
    is_full, is_tall = op._attrs["full_matrices"], m > n
    if is_tall:
        m, n, u, v, grad_u, grad_v = n, m, v, u, grad_v, grad_u
    with get_default_graph().control_dependencies([grad_s, grad_u, grad_v]):
        if is_full and n - m > 1:
            raise NotImplementedError("svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True")
        s_matrix = _diag(s)
        squares = ops.square(s)
        shape = ops.shape(s)
        eye = ops.eye(shape[-1], batch_shape=shape[:-1], dtype=s.dtype)
        differences = ops.expand_dims(squares, -2) - ops.expand_dims(squares, -1)
        f = _set_diag(ops.reciprocal(differences + eye), ops.zeros_like(s))
        s_inverse = _diag(ops.reciprocal(s))
        v1, grad_v1 = v[..., :, :m], grad_v[..., :, :m]
        f_u = ops.matmul(u, grad_u, adjoint_a=True)
        f_v = ops.matmul(v1, grad_v1, adjoint_a=True)
        f_u, f_v = f * f_u, f * f_v
        inner = grad_s_matrix + ops.matmul(f_u + adjoint(f_u), s_matrix) + ops.matmul(s_matrix, f_v + adjoint(f_v))
        result = ops.matmul(u, ops.matmul(inner, v1, adjoint_b=True))
        if m != n:
            transposed = ops.matrix_transpose(grad_v1)
            rest = transposed - ops.matmul(ops.matmul(transposed, v1), v1, adjoint_b=True)
            if is_full:
                v2, grad_v2 = v[..., :, m:n], grad_v[..., :, m:n]
                rest = rest - ops.matmul(ops.matmul(v1, grad_v2, adjoint_a=True), v2, adjoint_b=True)
            scaled = ops.matmul(u, s_inverse)
            result = result + ops.matmul(scaled, rest)
        return ops.matrix_transpose(result) if is_tall else result


# ---- Least squares ----------------------------------------------------------------------------------------------


@public("cholesky_solve", "linalg.cholesky_solve")
def cholesky_solve(chol, rhs, name=None):
    """x of a * x = rhs, for the triangular factor that `cholesky` gives of a. rhs is [..., n, k]."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        half = ops.matrix_triangular_solve(chol, rhs, adjoint=False, lower=True)
        return ops.matrix_triangular_solve(chol, half, adjoint=True, lower=True)


def _gramian_factor(matrix, l2, is_first_kind):
    """The triangular factor of a' a + l2, or of a a' + l2."""
    gramian = ops.matmul(matrix, matrix, adjoint_a=is_first_kind, adjoint_b=not is_first_kind)
    if isinstance(l2, Tensor) or l2 != 0:
        shape = ops.shape(matrix)
        batch = shape[:-2]
        identity = ops.eye(shape[-1 if is_first_kind else -2], batch_shape=batch, dtype=matrix.dtype)
        size = matrix.shape[-1 if is_first_kind else -2]
        identity.set_shape(matrix.shape[:-2].concatenate([size, size]))
        gramian = gramian + l2 * identity
    return cholesky(gramian)


@public("matrix_solve_ls", "linalg.lstsq")
def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """x with the least |matrix * x - rhs|^2 + l2_regularizer * |x|^2.

    Args:
      matrix: [..., m, n]; with fewer rows than columns, x is the shortest solution.
      rhs: [..., m, k].
      l2_regularizer: zero or more.
      fast: whether to solve the normal equations; otherwise matrices may be of any rank, and `l2_regularizer` does
        not count.

    Returns:
      [..., n, k]. Its gradient needs `fast`.
    """
    matrix = convert_to_tensor(matrix, name="matrix")
    if matrix.dtype is dtypes.complex128 and l2_regularizer != 0:
        raise NotImplementedError(
            "matrix_solve_ls is currently disabled for complex128 and l2_regularizer != 0 due to poor accuracy."
        )
    if not (fast and _suits_normal_equations(matrix)):
        return matrix_solve_ls_op(matrix, rhs, l2_regularizer, fast=fast, name=name)
    with name_scope(name, "matrix_solve_ls", [matrix, rhs, l2_regularizer]):
        return _if_tall(
            matrix,
            lambda: _solve_tall(matrix, rhs, l2_regularizer),
            lambda: _solve_wide(matrix, rhs, l2_regularizer),
        )


def _solve_tall(matrix, rhs, l2):
    factor = _gramian_factor(matrix, l2, is_first_kind=True)
    return cholesky_solve(factor, ops.matmul(matrix, rhs, adjoint_a=True))


def _solve_wide(matrix, rhs, l2):
    factor = _gramian_factor(matrix, l2, is_first_kind=False)
    return ops.matmul(matrix, cholesky_solve(factor, rhs), adjoint_a=True)


def _if_tall(matrix, tall, wide):
    """What one of two functions builds: the first for matrices with as many rows as columns, or more."""
    sizes = matrix.shape[-2:]
    if sizes.is_fully_defined():
        return tall() if sizes.as_list()[0] >= sizes.as_list()[1] else wide()
    sizes = ops.shape(matrix)[-2:]
    return cond(sizes[-2] >= sizes[-1], tall, wide)


def _suits_normal_equations(matrix):
    """Whether TensorFlow writes the normal equations out: not for many small matrices that do not fit a cache."""
    shape = matrix.shape
    if not shape.is_fully_defined():
        return True
    is_large = shape.num_elements() * matrix.dtype.size > 256000
    return not (is_large and shape[:-2].num_elements() > min(shape.as_list()[-2:]))


@matrix_solve_ls_op.gradient
def _(op, grad):
    if op._attrs["fast"] is False:
        raise ValueError("Gradient not defined for fast=False")
    by_a, by_b = _if_tall(op._inputs[0], lambda: _gradients_of_tall(op, grad), lambda: _gradients_of_wide(op, grad))
    return by_a, by_b, None


def _gradients_of_tall(op, grad):
    a, b, l2 = op._inputs
    x = op._outputs[0]
    z = cholesky_solve(_gramian_factor(a, ops.cast(l2, a.dtype.base_dtype), is_first_kind=True), grad)
    product = ops.matmul(x, z, adjoint_b=True)
    symmetric = product + ops.matrix_transpose(product)
    by_a = -ops.matmul(a, symmetric) + ops.matmul(b, z, adjoint_b=True)
    return by_a, ops.matmul(a, z)


def _gradients_of_wide(op, grad):
    a, b, l2 = op._inputs
    factor = _gramian_factor(a, ops.cast(l2, a.dtype.base_dtype), is_first_kind=False)
    by_b = cholesky_solve(factor, ops.matmul(a, grad))
    solution = cholesky_solve(factor, b)
    first = -ops.matmul(by_b, ops.matmul(solution, a, adjoint_a=True))
    rest = grad - ops.matmul(a, by_b, adjoint_a=True)
    return first + ops.matmul(solution, rest, adjoint_b=True), by_b


@public("svd", "linalg.svd")
def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """(s, u, v) with tensor = u * diag(s) * adjoint(v), or s alone.

    Args:
      tensor: [..., m, n].
      full_matrices: whether u is [..., m, m] and v [..., n, n] rather than [..., m, p] and [..., n, p].
      compute_uv: whether to return u and v.

    Returns:
      The singular values [..., p], p = min(m, n), in descending order, and orthonormal columns.
    """
    s, u, v = svd_op(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (ops.real(s), u, v) if compute_uv else ops.real(s)


@public("self_adjoint_eigvals", "linalg.eigvalsh")
def self_adjoint_eigvals(tensor, name=None):
    """The eigenvalues of symmetric matrices [..., n, n] in ascending order."""
    return self_adjoint_eig_v2(tensor, compute_v=False, name=name)[0]


@public("linalg.logdet")
@dispatched
def logdet(matrix, name=None):
    """The logarithm of the determinant of each positive definite matrix [..., n, n]."""
    if hasattr(matrix, "log_abs_determinant"):
        raise TypeError("A LinearOperator is no tensor")  # before the name is used
    with name_scope(name, "logdet", [matrix]):
        diagonal = _diag_part(cholesky(matrix))
        return 2.0 * ops.reduce_sum(ops.log(ops.real(diagonal)), axis=[-1])
