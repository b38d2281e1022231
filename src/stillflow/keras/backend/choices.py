"""Choices between tensors: by a condition, by whether a model is trained."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import learning_phase
from stillflow.keras.backend.values import ndim
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.variables.variable import Variable


def _function(value):
    return value if callable(value) and not isinstance(value, (Tensor, Variable)) else lambda: value


@public("keras.backend.switch")
def switch(condition, then_expression, else_expression):
    """One of two tensors: element by element, if the condition is no scalar.

    Args:
      condition: a tensor; numbers count as whether they are not 0.
      then_expression, else_expression: tensors, or functions that make them.

    Raises:
      ValueError: for a condition of higher rank than the tensors.
    """
    if condition.dtype != dtypes.bool_:
        condition = ops.cast(condition, "bool")
    rank = ndim(condition)
    if not rank:
        return cond(condition, _function(then_expression), _function(else_expression))
    then_expression, else_expression = _function(then_expression)(), _function(else_expression)()
    rank_of_choice = ndim(then_expression)
    if rank > rank_of_choice:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. "
            f"ndim(condition)={rank}, ndim(then_expression)={rank_of_choice}"
        )
    if rank > 1:
        sizes = ops.concat([ops.shape(condition), [1] * (rank_of_choice - rank)], axis=0)
        condition = ops.reshape(condition, sizes)
        wanted = ops.shape(then_expression)
        condition = ops.tile(condition, ops.where(wanted - sizes > 0, wanted, ops.ones_like(wanted)))
    return ops.where(condition, then_expression, else_expression)


@public("keras.backend.in_train_phase")
def in_train_phase(x, alt, training=None):
    """x in training, else `alt`.

    Args:
      x, alt: tensors, or functions that make them.
      training: a bool, a number or a tensor; by default the learning phase.
    """
    if training is None:
        training = learning_phase()
    if not isinstance(training, (Tensor, Variable)):
        if training in (1, True):
            return _function(x)()
        if training in (0, False):
            return _function(alt)()
    return switch(training, x, alt)


@public("keras.backend.in_test_phase")
def in_test_phase(x, alt, training=None):
    """`alt` in training, else x; see `in_train_phase`."""
    return in_train_phase(alt, x, training=training)
