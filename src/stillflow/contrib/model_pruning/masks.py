"""Masks and thresholds of weights: variables, and the collections that they are found in."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.statistics import zero_fraction
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Ones, Zeros
from stillflow.variables.scope import variable_scope

_MASKS, _THRESHOLDS, _MASKED_WEIGHTS, _WEIGHTS = "masks", "thresholds", "masked_weights", "kernel"


@public("contrib.model_pruning.python.pruning_utils.weight_mask_variable")
def weight_mask_variable(var, scope):
    """The variable "mask" of a scope, for a variable's weights: of its shape and type, 1 at first."""
    with variable_scope(scope):
        return get_variable("mask", var.shape, initializer=Ones(), trainable=False, dtype=var.dtype)


@public("contrib.model_pruning.python.pruning_utils.weight_threshold_variable")
def weight_threshold_variable(var, scope):
    """The variable "threshold" of a scope, for a variable's weights: a scalar of its type, 0 at first."""
    with variable_scope(scope):
        return get_variable("threshold", [], initializer=Zeros(), trainable=False, dtype=var.dtype)


@public("contrib.model_pruning.apply_mask")
def apply_mask(x, scope=""):
    """Weights times their mask, which Pruning updates.

    Args:
      x: a variable, or a partitioned one.
      scope: where the variables "mask" and "threshold" are made, or found.
    """
    mask, threshold = weight_mask_variable(x, scope), weight_threshold_variable(x, scope)
    masked = ops.mul(mask, x, name="weights/masked_weight")
    collect(mask, threshold, masked, x)
    return masked


def collect(mask, threshold, masked, weights):
    """Puts what belongs to a mask into its collections, once: cells apply a mask at each step."""
    graph = get_default_graph()
    if not any(mask is found for found in graph.get_collection(_MASKS)):
        for collection, value in (
            (_THRESHOLDS, threshold),
            (_MASKS, mask),
            (_MASKED_WEIGHTS, masked),
            (_WEIGHTS, weights),
        ):
            graph.add_to_collection(collection, value)


@public("contrib.model_pruning.get_masked_weights")
def get_masked_weights():
    """A list of the products of weights and masks in the default graph."""
    return get_default_graph().get_collection(_MASKED_WEIGHTS)


@public("contrib.model_pruning.get_masks")
def get_masks():
    """A list of the masks in the default graph."""
    return get_default_graph().get_collection(_MASKS)


@public("contrib.model_pruning.get_thresholds")
def get_thresholds():
    """A list of the thresholds in the default graph."""
    return get_default_graph().get_collection(_THRESHOLDS)


@public("contrib.model_pruning.get_weights")
def get_weights():
    """A list of the weights that have masks in the default graph."""
    return get_default_graph().get_collection(_WEIGHTS)


@public("contrib.model_pruning.get_weight_sparsity")
def get_weight_sparsity():
    """A list of the fractions of masks that are 0, float32 scalars."""
    return [zero_fraction(mask) for mask in get_masks()]
