"""lanczos_bidiag: a matrix as a product with a bidiagonal one."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.contrib.solvers.matrices import l2norm, l2normalize
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.array.concat import concat
from stillflow.ops.array.constant import constant
from stillflow.ops.array.fill import zeros
from stillflow.ops.array.reshape import expand_dims, squeeze
from stillflow.ops.array.transpose import matrix_transpose
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.math.matmul import matmul
from stillflow.random.sampling import random_uniform


class LanczosBidiagState(NamedTuple):
    """The orthogonal columns u and v, and the diagonal alpha and the one below, beta, of the bidiagonal matrix."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _columns(size, dtype, name):
    return TensorArray(dtype=dtype, size=size, tensor_array_name=name, clear_after_read=False)


def _column(columns, i):
    return expand_dims(columns.read(i), -1)


def _written(columns, column, i):
    return columns.write(i, squeeze(column))


def _orthogonalized_once(i, basis, v):
    """(v without its part in the first i columns of the basis and of norm 1, its norm before)."""

    def step(j, basis, v):
        shape = v.get_shape()
        column = _column(basis, j)
        v -= matmul(column, v, adjoint_a=True) * column
        v.set_shape(shape)
        return j + 1, basis, v

    j = constant(0, dtype=dtypes.int32)
    _, _, v = while_loop(lambda j, basis, v: j < i, step, [j, basis, v])
    return l2normalize(v)


def _orthogonalized(i, basis, v):
    """The same, twice where once has left too little: "twice is enough" (Parlett)."""
    norm = l2norm(v)
    new, new_norm = _orthogonalized_once(i, basis, v)
    return cond(new_norm < 0.7071 * norm, lambda: _orthogonalized_once(i, basis, v), lambda: (new, new_norm))


@public("contrib.solvers.lanczos_bidiag", "contrib.solvers.python.ops.lanczos.lanczos_bidiag")
def lanczos_bidiag(operator, k, orthogonalize=True, starting_vector=None, name="lanczos_bidiag"):
    """A V = U B, with B bidiagonal, by Lanczos' method; the singular values of B come near to those of A.

    Args:
      operator: a LinearOperator of shape [m, n]: see contrib.solvers.python.ops.util.
      k: the number of steps, a number or a tensor.
      orthogonalize: whether columns are made orthogonal to those before; rounding ruins that otherwise.
      starting_vector: the first column of U, [m]; random by default.
      name: of the scope.

    Returns:
      A LanczosBidiagState: u [m, k + 1], v [n, k], alpha [k], beta [k].
    """

    def step(i, state):
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.get_shape()
        r = cond(i > 0, lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1), lambda: r)
        r.set_shape(shape)
        v, alpha = _orthogonalized(i - 1, state.v, r) if orthogonalize else l2normalize(r)
        p = operator.apply(v) - alpha * u
        u, beta = _orthogonalized(i, state.u, p) if orthogonalize else l2normalize(p)
        state = LanczosBidiagState(
            _written(state.u, u, i + 1),
            _written(state.v, v, i),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )
        return i + 1, state

    with name_scope(name):
        dtype = operator.dtype
        if starting_vector is None:
            starting_vector = random_uniform(operator.shape[:1], -1, 1, dtype=dtype)
        u0, _ = l2normalize(starting_vector)
        first = LanczosBidiagState(
            _written(_columns(k + 1, dtype, "u"), u0, 0), _columns(k, dtype, "v"), _columns(k, dtype, "alpha"),
            _columns(k, dtype, "beta"),
        )  # fmt: skip
        _, state = while_loop(lambda i, _: i < k, step, [constant(0, dtype=dtypes.int32), first])
        return LanczosBidiagState(
            matrix_transpose(state.u.stack()), matrix_transpose(state.v.stack()), state.alpha.stack(),
            state.beta.stack(),
        )  # fmt: skip


@public("contrib.solvers.bidiag_matmul", "contrib.solvers.python.ops.lanczos.bidiag_matmul")
def bidiag_matmul(matrix, alpha, beta, adjoint_b=False, name="bidiag_matmul"):
    """The product of a matrix and the bidiagonal one of `lanczos_bidiag`.

    Args:
      matrix: [m, k + 1], or [m, k] with `adjoint_b`.
      alpha: [k], the diagonal.
      beta: [k], what is below it.
      adjoint_b: whether the bidiagonal matrix is transposed; it then has no last row.
      name: of the scope.

    Returns:
      [m, k].
    """
    with name_scope(name):
        alpha = expand_dims(alpha, 0)
        if not adjoint_b:
            beta = expand_dims(beta, 0)
            return matrix[:, :-1] * alpha + matrix[:, 1:] * beta
        beta = expand_dims(beta[:-1], 0)
        zero_column = expand_dims(zeros(ops.shape(matrix)[:1], dtype=matrix.dtype), 1)
        return matrix * alpha + concat([zero_column, matrix[:, :-1] * beta], 1)
