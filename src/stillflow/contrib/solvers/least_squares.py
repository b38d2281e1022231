"""cgls: least squares by conjugate gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.contrib.solvers.matrices import l2norm_squared
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.array.fill import zeros
from stillflow.ops.array.reshape import expand_dims, squeeze
from stillflow.ops.control_flow.while_loop import while_loop


class CGLSState(NamedTuple):
    """The number of steps, the solution x, the rest r = rhs - A x, the direction p, and gamma = ||A^H r||^2."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


@public("contrib.solvers.cgls", "contrib.solvers.python.ops.least_squares.cgls")
def cgls(operator, rhs, tol=1e-6, max_iter=20, name="cgls"):
    """The x of least ||A x - rhs||, by conjugate gradients on the normal equations (Bjorck, section 7.4).

    Args:
      operator: a LinearOperator of shape [m, n]: see contrib.solvers.python.ops.util.
      rhs: [m], of its dtype.
      tol: where to stop: at ||A^H r|| <= tol ||A^H rhs||.
      max_iter: the most steps.
      name: of the scope.

    Returns:
      A CGLSState, with x of shape [n] and r of shape [m].
    """

    def goes_on(i, state):
        return ops.logical_and(i < max_iter, state.gamma > tol)

    def step(i, state):
        q = operator.apply(state.p)
        alpha = state.gamma / l2norm_squared(q)
        x = state.x + alpha * state.p
        r = state.r - alpha * q
        s = operator.apply_adjoint(r)
        gamma = l2norm_squared(s)
        beta = gamma / state.gamma
        p = s + beta * state.p
        return i + 1, CGLSState(i + 1, x, r, p, gamma)

    with name_scope(name):
        n = operator.shape[1:]
        rhs = expand_dims(rhs, -1)
        s0 = operator.apply_adjoint(rhs)
        gamma0 = l2norm_squared(s0)
        tol = tol * tol * gamma0
        x = expand_dims(zeros(n, dtype=rhs.dtype.base_dtype), -1)
        i = constant(0, dtype=dtypes.int32)
        _, state = while_loop(goes_on, step, [i, CGLSState(i, x, rhs, s0, gamma0)])
        return CGLSState(state.i, squeeze(state.x), squeeze(state.r), squeeze(state.p), state.gamma)
