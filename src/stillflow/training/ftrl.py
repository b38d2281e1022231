"""FtrlOptimizer: follow the regularized leader."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("train.FtrlOptimizer")
class FtrlOptimizer(Optimizer):
    """The algorithm of McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013:

        new_accum = accum + gradient ** 2
        linear += gradient + 2 * l2_shrinkage * variable
                  - (new_accum ** -power - accum ** -power) / learning_rate * variable
        variable = soft(-linear, l1) / (new_accum ** -power / learning_rate + 2 * l2)

    where soft(x, bound) is x taken towards 0 by the bound.

    Args:
      learning_rate: a number or a tensor.
      learning_rate_power: 0 or less; how fast rates fall.
      initial_accumulator_value: where `accum` begins, 0 or more.
      l1_regularization_strength, l2_regularization_strength: numbers, 0 or more.
      use_locking: accepted for compatibility; updates are always atomic.
      accum_name, linear_name: names of the slots, by default that of the optimizer.
      l2_shrinkage_regularization_strength: a penalty of large variables alone, 0 or more.

    Raises:
      ValueError: for a number out of range.
    """

    def __init__(
        self, learning_rate, learning_rate_power=-0.5, initial_accumulator_value=0.1, l1_regularization_strength=0.0,
        l2_regularization_strength=0.0, use_locking=False, name="Ftrl", accum_name=None, linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
    ):  # fmt: skip
        super().__init__(use_locking, name)
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        for key, value in (
            ("initial_accumulator_value", initial_accumulator_value),
            ("l1_regularization_strength", l1_regularization_strength),
            ("l2_regularization_strength", l2_regularization_strength),
            ("l2_shrinkage_regularization_strength", l2_shrinkage_regularization_strength),
        ):
            if value < 0.0:
                raise ValueError(f"{key} {value:f} needs to be positive or zero")
        self._initial_accumulator_value = initial_accumulator_value
        self._accum_name = accum_name
        self._linear_name = linear_name
        self._shrinks = l2_shrinkage_regularization_strength > 0.0
        # In the order in which the tensors are made, which is not that of the op's inputs.
        self._numbers = {
            "learning_rate": learning_rate,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
            "learning_rate_power": learning_rate_power,
        }

    def _create_slots(self, var_list):
        for v in var_list:
            with get_default_graph().colocate_with(v):
                value = ops.constant(self._initial_accumulator_value, dtype=v.dtype.base_dtype, shape=v.shape)
                self._get_or_make_slot(v, value, "accum", self._accum_name or self._name)
                self._zeros_slot(v, "linear", self._linear_name or self._name)

    def _prepare(self):
        self._tensors = {key: self._hyperparameter(value, key) for key, value in self._numbers.items()}

    def _slots_of(self, var):
        return self.get_slot(var, "accum"), self.get_slot(var, "linear")

    def _scalars(self, var):
        return [
            ops.cast(tensor, var.dtype.base_dtype)
            for key, tensor in self._tensors.items()
            if self._shrinks or key != "l2_shrinkage_regularization_strength"
        ]

    def _update_dense(self, grad, var):
        apply = ops.apply_ftrl_v2 if self._shrinks else ops.apply_ftrl
        return apply(var, *self._slots_of(var), grad, *self._scalars(var), use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        apply = ops.sparse_apply_ftrl_v2 if self._shrinks else ops.sparse_apply_ftrl
        return apply(
            var, *self._slots_of(var), grad.values, grad.indices, *self._scalars(var), use_locking=self._use_locking
        )
