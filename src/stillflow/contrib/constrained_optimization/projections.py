"""The nearest multipliers and stochastic matrices, and the stationary distribution of one."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import norm
from stillflow.names import public
from stillflow.ops.control_flow.while_loop import while_loop


@public("contrib.constrained_optimization.python.external_regret_optimizer._project_multipliers_wrt_euclidean_norm")
def nearest_multipliers(multipliers, radius):
    """The nearest vector whose elements are at least 0, and their sum at most `radius`.

    Raises ValueError for what is no vector of floats of known size.
    """
    if not multipliers.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    shape = multipliers.shape
    if shape.ndims is None:
        raise ValueError("multipliers must have known shape")
    if shape.ndims != 1:
        raise ValueError(f"multipliers must be one dimensional (instead is {shape.ndims}-dimensional)")
    if not shape.is_fully_defined():
        raise ValueError("multipliers must have fully-known shape")

    def excess(values, active):
        return ops.minimum(0.0, (radius - ops.reduce_sum(values)) / ops.maximum(1.0, ops.reduce_sum(active)))

    return _nearest(multipliers, excess, shape.as_list()[0])


@public("contrib.constrained_optimization.python.swap_regret_optimizer._project_stochastic_matrix_wrt_euclidean_norm")
def nearest_stochastic_matrix(matrix):
    """The nearest matrix whose elements are at least 0 and whose columns sum to 1.

    Raises ValueError for what is no square matrix of floats of known size.
    """
    if not matrix.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    shape = matrix.shape
    if shape.ndims is None:
        raise ValueError("matrix must have known shape")
    if shape.ndims != 2:
        raise ValueError(f"matrix must be two dimensional (instead is {shape.ndims}-dimensional)")
    rows, columns = shape.as_list()
    if rows != columns:
        raise ValueError(f"matrix must be square (instead has shape ({rows},{columns}))")
    if rows is None:
        raise ValueError("matrix must have fully-known shape")

    def excess(values, active):
        missing = 1.0 - ops.reduce_sum(values, axis=0, keepdims=True)
        return missing / ops.maximum(1.0, ops.reduce_sum(active, axis=0, keepdims=True))

    return _nearest(matrix, excess, rows)


def _nearest(values, excess, dimension):
    """Spreads what sums lack over the elements that are greater than 0, until no more of them become 0."""

    def step(iteration, values, active, _):
        iteration += 1
        scale = excess(values, active)
        values = values + (scale * active)
        still_active = ops.cast(values > 0, values.dtype)
        values = values * still_active
        return iteration, values, still_active, active

    def goes_on(iteration, _, active, old_active):
        not_done = iteration < dimension
        return ops.logical_and(not_done, ops.reduce_any(ops.not_equal(active, old_active)))

    iteration, active = ops.constant(0), ops.ones_like(values, dtype=values.dtype)
    first = step(iteration, values, active, active)
    return while_loop(goes_on, step, first, name="euclidean_projection")[1]


@public(
    "contrib.constrained_optimization.python.swap_regret_optimizer._project_log_stochastic_matrix_wrt_kl_divergence"
)
def nearest_log_stochastic_matrix(log_matrix):
    """The logarithm of the matrix with columns of sum 1 that is nearest by the divergence of Kullback and Leibler."""
    log_matrix = log_matrix - ops.reduce_max(log_matrix, axis=0, keepdims=True)  # so that exp does not overflow
    return log_matrix - ops.log(ops.reduce_sum(ops.exp(log_matrix), axis=0, keepdims=True))


@public("contrib.constrained_optimization.python.swap_regret_optimizer._maximal_eigenvector_power_method")
def maximal_eigenvector(matrix, epsilon=1e-6, maximum_iterations=100):
    """The eigenvector of the greatest eigenvalue, of length 1: vectors are multiplied until they differ little.

    Args:
      matrix: a square matrix of floats.
      epsilon: how long the difference of two vectors may be.
      maximum_iterations: how often to multiply at most.

    Raises:
      ValueError: for another type, or limits that are not greater than 0.
    """
    if not matrix.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")

    def step(iteration, vector, _):
        iteration += 1
        product = ops.matmul(matrix, ops.expand_dims(vector, 1))[:, 0]
        product /= norm(product)
        return iteration, product, vector

    def goes_on(iteration, vector, old_vector):
        not_done = iteration < maximum_iterations
        return ops.logical_and(not_done, norm(vector - old_vector) > epsilon)

    iteration = ops.constant(0)
    vector = ops.ones_like(matrix[:, 0])
    vector /= norm(vector)
    return while_loop(goes_on, step, step(iteration, vector, vector), name="power_method")[1]
