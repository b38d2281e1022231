"""tf.contrib.constrained_optimization.AdditiveExternalRegretOptimizer: Lagrange multipliers."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import tensordot
from stillflow.contrib.constrained_optimization.optimizer import GameOptimizer
from stillflow.contrib.constrained_optimization.projections import nearest_multipliers
from stillflow.graph import dtypes
from stillflow.names import public


@public("contrib.constrained_optimization.AdditiveExternalRegretOptimizer")
class AdditiveExternalRegretOptimizer(GameOptimizer):
    """Minimizes the Lagrangian: the objective plus constraints times multipliers, which gradient steps maximize.

    It suits problems without proxies. Algorithm 3 of Cotter, Jiang and Sridharan, "Two-player games for efficient
    non-convex constrained optimization".

    Args:
      optimizer: the optimizer of the model, and of the multipliers if there is no other.
      constraint_optimizer: the optimizer of the multipliers.
      maximum_multiplier_radius: how great the sum of the multipliers may be, or None for any.

    Raises:
      ValueError: for a negative radius.
    """

    state_name = "external_regret_optimizer_state"

    def __init__(self, optimizer, constraint_optimizer=None, maximum_multiplier_radius=None):
        super().__init__(optimizer, constraint_optimizer)
        if maximum_multiplier_radius and maximum_multiplier_radius <= 0.0:
            raise ValueError("maximum_multiplier_radius must be strictly positive")
        self._maximum_multiplier_radius = maximum_multiplier_radius

    def _initial_state(self, num_constraints):
        return ops.zeros((num_constraints,), dtype=dtypes.float32)

    def _lagrange_multipliers(self, state):
        return state

    def _loss_and_gain(self, state, objective, constraints, proxies):
        multipliers = self._lagrange_multipliers(state)
        loss = objective + tensordot(ops.cast(multipliers, proxies.dtype), proxies, 1)
        return loss, ops.cast(constraints, multipliers.dtype)

    def _projected(self, state):
        if self._maximum_multiplier_radius:
            return nearest_multipliers(state, self._maximum_multiplier_radius)
        return ops.maximum(state, 0.0)
