"""tf.contrib.constrained_optimization's optimizers that minimize swap regret: weights from a stochastic matrix.

Of Cotter, Jiang and Sridharan, "Two-player games for efficient non-convex constrained optimization", algorithm 2.
"""

from __future__ import annotations

import abc
import math

from stillflow import ops
from stillflow.composites.linear_algebra import tensordot
from stillflow.contrib.constrained_optimization.optimizer import GameOptimizer
from stillflow.contrib.constrained_optimization.projections import (
    maximal_eigenvector,
    nearest_log_stochastic_matrix,
    nearest_stochastic_matrix,
)
from stillflow.graph import dtypes
from stillflow.names import public


class SwapRegretOptimizer(GameOptimizer):
    """Weights of objective and constraints are the stationary distribution of a matrix, which steps change."""

    state_name = "swap_regret_optimizer_state"

    @abc.abstractmethod
    def _stochastic_matrix(self, state):
        """The matrix, [1 + constraints, 1 + constraints] with columns of sum 1, from the variable."""

    def _distribution(self, state):
        weights = ops.abs(maximal_eigenvector(self._stochastic_matrix(state)))
        weights /= ops.reduce_sum(weights)
        return weights

    def _loss_and_gain(self, state, objective, constraints, proxies):
        gains = ops.concat((ops.zeros((1,), dtype=constraints.dtype), constraints), axis=0)
        losses = ops.concat((ops.expand_dims(objective, 0), proxies), axis=0)
        distribution = self._distribution(state)
        loss = tensordot(ops.cast(distribution, losses.dtype), losses, 1)
        columns = ops.expand_dims(ops.cast(gains, distribution.dtype), 1)
        return loss, ops.matmul(columns, ops.expand_dims(distribution, 0))


@public("contrib.constrained_optimization.AdditiveSwapRegretOptimizer")
class AdditiveSwapRegretOptimizer(SwapRegretOptimizer):
    """Minimizes swap regret by additive steps of the matrix. It suits problems with proxies.

    Args:
      optimizer: the optimizer of the model, and of the matrix if there is no other.
      constraint_optimizer: the optimizer of the matrix.
    """

    def _initial_state(self, num_constraints):
        size = num_constraints + 1
        return ops.concat((ops.ones((1, size)), ops.zeros((size - 1, size))), axis=0)

    def _stochastic_matrix(self, state):
        return state

    def _projected(self, state):
        return nearest_stochastic_matrix(state)


@public("contrib.constrained_optimization.MultiplicativeSwapRegretOptimizer")
class MultiplicativeSwapRegretOptimizer(SwapRegretOptimizer):
    """Minimizes swap regret by multiplicative steps of the matrix: the variable is its logarithm.

    Args:
      optimizer: the optimizer of the model, and of the matrix if there is no other.
      constraint_optimizer: the optimizer of the matrix.
      minimum_multiplier_radius: the least element of the matrix, times its size.
      initial_multiplier_radius: the first element of the matrix for each constraint, times its size; by default
        the least.

    Raises:
      ValueError: unless 0 < minimum < 1 and minimum <= initial.
    """

    def __init__(
        self, optimizer, constraint_optimizer=None, minimum_multiplier_radius=1e-3, initial_multiplier_radius=None
    ):
        super().__init__(optimizer, constraint_optimizer)
        if not 0.0 < minimum_multiplier_radius < 1.0:
            raise ValueError("minimum_multiplier_radius must be in the range (0,1)")
        if initial_multiplier_radius is None:
            initial_multiplier_radius = minimum_multiplier_radius
        elif initial_multiplier_radius < minimum_multiplier_radius:
            raise ValueError("initial_multiplier_radius must be in the range [minimum_multiplier_radius,1]")
        self._minimum_multiplier_radius = minimum_multiplier_radius
        self._initial_multiplier_radius = initial_multiplier_radius

    def _initial_state(self, num_constraints):
        size = num_constraints + 1
        of_objective = math.log(1.0 - self._initial_multiplier_radius * (size - 1) / size)
        of_constraints = math.log(self._initial_multiplier_radius / size)
        first = ops.constant(of_objective, dtype=dtypes.float32, shape=(1, size))
        rest = ops.constant(of_constraints, dtype=dtypes.float32, shape=(size - 1, size))
        return ops.concat((first, rest), axis=0)

    def _stochastic_matrix(self, state):
        return ops.exp(state)

    def _projected(self, state):
        least = ops.log(self._minimum_multiplier_radius / ops.to_float(state.shape.as_list()[0]))
        return ops.maximum(nearest_log_stochastic_matrix(state), least)
