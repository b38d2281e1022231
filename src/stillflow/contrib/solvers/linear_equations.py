"""conjugate_gradient: linear equations with a positive definite matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.linear_algebra import norm
from stillflow.contrib.solvers.matrices import dot
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.array.constant import constant
from stillflow.ops.array.fill import zeros
from stillflow.ops.array.reshape import expand_dims, squeeze
from stillflow.ops.control_flow.while_loop import while_loop


class CGState(NamedTuple):
    """The number of steps, the solution x, the rest r = rhs - A x, the direction p, and gamma = r . M r."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


@public("contrib.solvers.conjugate_gradient", "contrib.solvers.python.ops.linear_equations.conjugate_gradient")
def conjugate_gradient(operator, rhs, preconditioner=None, x=None, tol=1e-4, max_iter=20, name="conjugate_gradient"):
    """The x with A x = rhs, by conjugate gradients.

    Args:
      operator: a LinearOperator of shape [n, n] that is symmetric and positive definite: see
        contrib.solvers.python.ops.util.
      rhs: [n], of its dtype.
      preconditioner: a LinearOperator M that is nearly the inverse; without one it is the identity.
      x: where to begin, [n]; by default at zero.
      tol: where to stop: at ||r|| <= tol ||r0||.
      max_iter: the most steps.
      name: of the scope.

    Returns:
      A CGState, with x, r and p of shape [n].
    """

    def goes_on(i, state):
        return ops.logical_and(i < max_iter, norm(state.r) > tol)

    def step(i, state):
        z = operator.apply(state.p)
        alpha = state.gamma / dot(state.p, z)
        x = state.x + alpha * state.p
        r = state.r - alpha * z
        q = r if preconditioner is None else preconditioner.apply(r)
        gamma = dot(r, q)
        beta = gamma / state.gamma
        p = q + beta * state.p
        return i + 1, CGState(i + 1, x, r, p, gamma)

    with name_scope(name):
        n = operator.shape[1:]
        rhs = expand_dims(rhs, -1)
        if x is None:
            x = expand_dims(zeros(n, dtype=rhs.dtype.base_dtype), -1)
            r0 = rhs
        else:
            x = expand_dims(x, -1)
            r0 = rhs - operator.apply(x)
        p0 = r0 if preconditioner is None else preconditioner.apply(r0)
        gamma0 = dot(r0, p0)
        tol *= norm(r0)
        i = constant(0, dtype=dtypes.int32)
        _, state = while_loop(goes_on, step, [i, CGState(i, x, r0, p0, gamma0)])
        return CGState(state.i, squeeze(state.x), squeeze(state.r), squeeze(state.p), state.gamma)
