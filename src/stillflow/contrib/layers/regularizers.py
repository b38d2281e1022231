"""Regularizers: functions from a variable to a loss."""

from __future__ import annotations

import logging
import numbers

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


def _is_off(scale, ending):
    """Whether the scale is 0. Raises ValueError for integers and negative numbers."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if not isinstance(scale, numbers.Real):
        return False
    if scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}{ending}")
    if scale == 0.0:
        logging.getLogger("tensorflow").info("Scale of 0 disables regularizer.")
    return scale == 0.0


@public("contrib.layers.l1_regularizer")
def l1_regularizer(scale, scope=None):
    """A function from weights to `scale` times the sum of their absolute values.

    Args:
      scale: a float, or a scalar tensor. 0 turns it off.
      scope: the name scope.

    Raises:
      ValueError: for integers and negative numbers.
    """
    if _is_off(scale, ""):
        return lambda _: None

    def l1(weights, name=None):
        with name_scope(scope, "l1_regularizer", [weights]) as name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return ops.mul(factor, ops.reduce_sum(ops.abs(weights)), name=name)

    return l1


@public("contrib.layers.l2_regularizer")
def l2_regularizer(scale, scope=None):
    """A function from weights to `scale` times half the sum of their squares; see `l1_regularizer`."""
    if _is_off(scale, "."):
        return lambda _: None

    def l2(weights):
        with name_scope(scope, "l2_regularizer", [weights]) as name:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return ops.mul(factor, ops.l2_loss(weights), name=name)

    return l2


@public("contrib.layers.l1_l2_regularizer")
def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """The sum of `l1_regularizer` and `l2_regularizer`, those whose scale is 0 left out."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


@public("contrib.layers.sum_regularizer")
def sum_regularizer(regularizer_list, scope=None):
    """A function from weights to the sum of what some regularizers return; None if there are none."""
    regularizers = [each for each in regularizer_list if each is not None]
    if not regularizers:
        return None

    def sum_reg(weights):
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            losses = [regularizer(weights) for regularizer in regularizers]
            losses = [loss for loss in losses if loss is not None]
            return ops.add_n(losses, name=name) if losses else None

    return sum_reg


@public("contrib.layers.apply_regularization")
def apply_regularization(regularizer, weights_list=None):
    """The sum of what a regularizer returns for each of some variables. It is added to REGULARIZATION_LOSSES.

    Args:
      regularizer: a function from a variable to a loss, or None.
      weights_list: the variables; by default those in GraphKeys.WEIGHTS.

    Raises:
      ValueError: if there are none, or the regularizer returns more than a scalar.
    """
    graph = get_default_graph()
    weights_list = weights_list or graph.get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [ops.constant(0.0) if penalty is None else penalty for penalty in penalties]
        for penalty in penalties:
            if penalty.shape.rank != 0:
                raise ValueError(
                    f"regularizer must return a scalar Tensor instead of a Tensor with rank {penalty.shape.rank}."
                )
        total = ops.add_n(penalties, name=scope)
        graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
