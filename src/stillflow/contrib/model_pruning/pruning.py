"""Pruning: masks that set the smallest weights to 0, more and more of them (Zhu and Gupta, arXiv 1710.01878)."""

from __future__ import annotations

import re

from stillflow import ops
from stillflow.composites.pool import pool
from stillflow.composites.statistics import zero_fraction
from stillflow.composites.summaries import scalar
from stillflow.contrib.model_pruning.blocks import (
    expand_tensor,
    factorized_pool,
    partitioned_variable_assign,
    variable_assign,
)
from stillflow.contrib.model_pruning.masks import get_masks, get_thresholds, get_weights
from stillflow.contrib.training.hyperparameters import HParams
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.platform import logging
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.scope import variable_scope


@public("contrib.model_pruning.get_pruning_hparams")
def get_pruning_hparams():
    """Hyperparameters of Pruning, a tf.contrib.training.HParams.

    name: the name scope of operations and summaries.
    begin_pruning_step, end_pruning_step: the steps between which masks are updated; -1 for no end.
    weight_sparsity_map: "regular expression of names:sparsity" for weights of a sparsity of their own.
    block_dims_map: "regular expression of names:heightxwidth" for weights with blocks of their own size.
    threshold_decay: the part of thresholds that is kept at each update, below 1.
    pruning_frequency: how many steps there are from one update to the next.
    nbins: not used.
    block_height, block_width: the size of blocks, of which all weights are kept or none is; -1 for all.
    block_pooling_function: "AVG" or "MAX" of a block's absolute weights is what is compared.
    initial_sparsity, target_sparsity: the part of weights that is 0 at first, and in the end.
    sparsity_function_begin_step, sparsity_function_end_step: between which sparsity grows.
    sparsity_function_exponent: sparsity grows with that power of the way that is left; linearly with 1.
    use_tpu: whether blocks are pooled along one dimension at a time.
    """
    return HParams(
        name="model_pruning", begin_pruning_step=0, end_pruning_step=-1, weight_sparsity_map=[""],
        block_dims_map=[""], threshold_decay=0.0, pruning_frequency=10, nbins=256, block_height=1, block_width=1,
        block_pooling_function="AVG", initial_sparsity=0.0, target_sparsity=0.5, sparsity_function_begin_step=0,
        sparsity_function_end_step=100, sparsity_function_exponent=3.0, use_tpu=False,
    )  # fmt: skip


@public("contrib.model_pruning.Pruning")
class Pruning:
    """Operations that update the masks of all weights that `apply_mask` was called for.

    Args:
      spec: hyperparameters, see `get_pruning_hparams`, which gives the default.
      global_step: an integer scalar; the graph's global step by default.
      sparsity: the part of weights that is to be 0, a float32 scalar; by default a function of the step.

    Raises ValueError for hyperparameters that are out of range.
    """

    def __init__(self, spec=None, global_step=None, sparsity=None):
        self._spec = spec or get_pruning_hparams()
        _check(self._spec)
        global_step = get_global_step() if global_step is None else global_step
        self._global_step = ops.cast(global_step, dtypes.int32)
        self._sparsity = self._sparsity_of_step() if sparsity is None else sparsity
        self._assign_ops: list = []
        self._last_update_step = self._last_update_variable()
        self._block_dims = [self._spec.block_height, self._spec.block_width]
        self._block_dims_map = {
            re.compile(name): _block_dims(name, text) for name, text in _pairs(self._spec.block_dims_map)
        }
        self._weight_sparsity_map = {
            re.compile(name): _sparsity(text) for name, text in _pairs(self._spec.weight_sparsity_map)
        }

    def _sparsity_of_step(self):
        spec = self._spec
        begin, end = spec.sparsity_function_begin_step, spec.sparsity_function_end_step
        with name_scope(spec.name):
            way = ops.div(ops.cast(self._global_step - begin, dtypes.float32), end - begin)
            way = ops.minimum(1.0, ops.maximum(0.0, way))
            left = ops.pow(1 - way, spec.sparsity_function_exponent)
            grown = ops.mul(spec.initial_sparsity - spec.target_sparsity, left)
            return ops.add(grown, spec.target_sparsity, name="sparsity")

    def _last_update_variable(self):
        with variable_scope(self._spec.name, use_resource=self._spec.use_tpu) as scope:
            try:
                return get_variable(
                    "last_mask_update_step", [], initializer=Zeros(), trainable=False, dtype=dtypes.int32
                )
            except ValueError:  # another Pruning of this name has made it
                scope.reuse_variables()
                return get_variable("last_mask_update_step", dtype=dtypes.int32)

    def _get_block_dims(self, weight_name):
        return list(_of_weight(self._block_dims_map, weight_name, self._block_dims, "block_dims_map"))

    def _get_sparsity(self, weight_name):
        target = _of_weight(self._weight_sparsity_map, weight_name, None, "weight_sparsity_map")
        if target is None:
            return self._sparsity
        return ops.mul(self._sparsity, ops.div(target, self._spec.target_sparsity))

    def _update_mask(self, weights, threshold):
        """(a new threshold, a new float32 mask) of a tensor of weights."""
        sparsity, kept = self._get_sparsity(weights.op.name), self._spec.threshold_decay
        with name_scope(weights.op.name + "_pruning_ops"):
            size = ops.abs(weights)
            count = ops.round(ops.cast(ops.size(size), dtypes.float32) * (1 - sparsity))
            count = ops.cast(count, dtypes.int32)
            ordered, _ = ops.top_k(ops.reshape(size, [-1]), k=ops.size(size))
            smallest = ops.gather(ordered, count - 1)
            threshold = ops.add_n([ops.mul(smallest, 1 - kept), ops.mul(threshold, kept)])
            return threshold, ops.cast(ops.greater_equal(size, threshold), dtypes.float32)

    def _maybe_update_block_mask(self, weights, threshold):
        """The same, of blocks where weights are a matrix and blocks are not 1x1."""
        dims = self._get_block_dims(weights.op.name)
        matrix = ops.squeeze(weights)
        if matrix.shape.ndims != 2 or dims == [1, 1]:
            return self._update_mask(weights, threshold)
        rows, columns = matrix.shape.as_list()
        dims = [whole if size == -1 else size for size, whole in zip(dims, (rows, columns), strict=True)]
        kind = self._spec.block_pooling_function
        if kind not in ("AVG", "MAX"):
            raise ValueError(f"Unknown pooling function for block sparsity: {kind}")
        with name_scope(weights.op.name + "_pruning_ops"):
            size, pooled_by = ops.abs(matrix), factorized_pool
            if not self._spec.use_tpu:
                size, pooled_by = ops.reshape(size, [1, rows, columns, 1]), pool
            pooled = pooled_by(
                size, window_shape=dims, pooling_type=kind, strides=dims, padding="SAME",
                name=weights.op.name + "_pooled",
            )  # fmt: skip
            if not self._spec.use_tpu:
                pooled = ops.squeeze(pooled, axis=[0, 3])
            threshold, mask = self._update_mask(pooled, threshold)
            mask = ops.slice(expand_tensor(mask, dims), [0, 0], [rows, columns])
        return threshold, ops.reshape(mask, ops.shape(weights))

    def _get_mask_assign_ops(self):
        if self._assign_ops:
            raise ValueError("Assign op list not empty. _get_mask_assign_ops() called twice?")
        masks, thresholds = get_masks(), get_thresholds()
        if len(masks) != len(thresholds):
            raise ValueError(f"Number of masks {len(masks)} and number of thresholds {len(thresholds)} mismatch")
        for mask, threshold, weight in zip(masks, thresholds, get_weights(), strict=False):
            is_partitioned = isinstance(weight, PartitionedVariable)
            weight = weight.as_tensor() if is_partitioned else weight
            new_threshold, new_mask = self._maybe_update_block_mask(weight, threshold)
            assign_mask = partitioned_variable_assign if is_partitioned else variable_assign
            self._assign_ops += [variable_assign(threshold, new_threshold), assign_mask(mask, new_mask)]

    def mask_update_op(self):
        """The operation that updates all masks and thresholds."""
        with name_scope(self._spec.name):
            if not self._assign_ops:
                self._get_mask_assign_ops()
            step = assign(self._last_update_step, self._global_step, name="last_mask_update_step_assign")
            with control_dependencies([step]), control_dependencies(self._assign_ops):
                logging.info("Updating masks.")
                return ops.no_op("mask_update")

    def conditional_mask_update_op(self):
        """The same, where the step is one of those at which masks are updated; else it does nothing."""
        return cond(self._is_pruning_step(), self.mask_update_op, ops.no_op)

    def _is_pruning_step(self):
        spec, step = self._spec, self._global_step
        with name_scope(spec.name):
            has_begun = ops.greater_equal(step, spec.begin_pruning_step)
            is_before_end = ops.less_equal(step, spec.end_pruning_step)
            has_no_end = ops.less(spec.end_pruning_step, 0)
            is_within = ops.logical_and(has_begun, ops.logical_or(is_before_end, has_no_end))
            is_due = ops.less_equal(ops.add(self._last_update_step, spec.pruning_frequency), step)
            return ops.logical_and(is_within, is_due)

    def add_pruning_summaries(self):
        """Adds summaries of sparsity, the last update, and of all masks and thresholds."""
        with name_scope(self._spec.name + "_summaries"):
            scalar("sparsity", self._sparsity)
            scalar("last_mask_update_step", self._last_update_step)
            for mask, threshold in zip(get_masks(), get_thresholds(), strict=False):
                scalar(mask.op.name + "/sparsity", zero_fraction(mask))
                scalar(threshold.op.name + "/threshold", threshold)

    def print_hparams(self):
        """Logs the hyperparameters as JSON."""
        logging.info(self._spec.to_json())


def _check(spec):
    if spec.begin_pruning_step < 0:
        raise ValueError("Illegal value for begin_pruning_step")
    if spec.begin_pruning_step >= spec.end_pruning_step != -1:
        raise ValueError(
            f"Pruning must begin before it can end. begin_step={spec.begin_pruning_step}, "
            f"end_step={spec.end_pruning_step}."
            "Set end_pruning_step to -1 if pruning is required till trainingstops"
        )
    if spec.sparsity_function_begin_step < 0:
        raise ValueError("Illegal value for sparsity_function_begin_step")
    if spec.sparsity_function_begin_step >= spec.sparsity_function_end_step:
        raise ValueError("Sparsity function requires begin_step < end_step")
    for name in ("threshold_decay", "initial_sparsity", "target_sparsity"):
        if not 0.0 <= getattr(spec, name) < 1.0:
            raise ValueError(f"{name} must be in range [0,1)")


def _pairs(texts):
    return [text.split(":") for text in texts if text]


def _block_dims(name, text):
    parts = text.split("x")
    if len(parts) != 2:
        raise ValueError(f"Expected 2 values for block dim for {name}, got {parts}")
    return [int(part) for part in parts]


def _sparsity(text):
    if float(text) >= 1.0:
        raise ValueError("Weight sparsity can not exceed 1.0")
    return float(text)


def _of_weight(values, name, default, what):
    """What a table of regular expressions has for the name of a weight, or the default."""
    found = [value for pattern, value in values.items() if pattern.search(name)]
    if len(found) > 1:
        raise ValueError(f"Multiple matches in {what} for weight {name}")
    return found[0] if found else default
