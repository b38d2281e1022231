"""Ragged tensors put one after the other, along a dimension that they have or a new one."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ragged.arrays import expand_dims
from stillflow.ragged.elementwise import assert_splits_match
from stillflow.ragged.gathers import gather
from stillflow.ragged.segments import lengths_to_splits, positive_axis
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, match_row_splits_dtypes


@public("python.ops.ragged.ragged_concat_ops.concat")
def concat(values, axis, name=None):
    """Tensors and ragged tensors one after the other along an axis.

    Raises ValueError for none, ranks that differ, and an axis out of range.
    """
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, False)


@public("ragged.stack")
def stack(values, axis=0, name=None):
    """Tensors and ragged tensors of one rank, with a new dimension at `axis`, whose rows may have different lengths.

    Raises ValueError for none, ranks that differ, and an axis out of range.
    """
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name, "RaggedConcat", values):
        return _joined(values, axis, True)


def _joined(inputs, axis, is_stack):
    if not inputs:
        raise ValueError("rt_inputs may not be empty.")
    inputs = [convert_to_tensor_or_ragged_tensor(each, name="rt_input") for each in inputs]
    splits_dtype, inputs = match_row_splits_dtypes(*inputs, return_dtype=True)
    if len(inputs) == 1:
        return expand_dims(inputs[0], axis=axis) if is_stack else inputs[0]
    rank: Any = None
    for each in inputs:
        if rank is None:
            rank = each.shape.rank
        else:
            each.shape.assert_has_rank(rank)
    out_rank = rank if rank is None or not is_stack else rank + 1
    axis = positive_axis(axis, out_rank)
    is_dense = not any(isinstance(each, RaggedTensor) for each in inputs)
    if is_dense and rank is not None and axis in (out_rank - 1, rank - 1):
        return ops.stack(list(inputs), axis) if is_stack else ops.concat(list(inputs), axis)
    inputs = [
        each if isinstance(each, RaggedTensor) else RaggedTensor.from_tensor(each, row_splits_dtype=splits_dtype)
        for each in inputs
    ]
    ragged_rank = max(each.ragged_rank for each in inputs)
    inputs = [_with_ragged_rank(each, ragged_rank, splits_dtype) for each in inputs]
    if axis == 0:
        return _along_0(inputs, is_stack)
    if axis == 1:
        return _along_1(inputs, is_stack)
    splits = [[each.row_splits] for each in inputs]
    with get_default_graph().control_dependencies(assert_splits_match(splits)):
        values = _joined([each.values for each in inputs], axis - 1, is_stack)
        return RaggedTensor.from_row_splits(values, splits[0][0], validate=False)


def _along_0(inputs, is_stack):
    values = ops.concat([each.flat_values for each in inputs], axis=0)
    nested = [each.nested_row_splits for each in inputs]
    splits = [_joined_splits([each[dim] for each in nested]) for dim in range(inputs[0].ragged_rank)]
    if is_stack:
        splits.insert(0, lengths_to_splits(ops.stack([each.nrows() for each in inputs])))
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _along_1(inputs, is_stack):
    """Rows one after the other, all first ones before all second ones."""
    count = len(inputs)
    rows = inputs[0].nrows()
    message = "Input tensors have incompatible shapes."
    made = [checks.assert_equal(each.nrows(), rows, message=message) for each in inputs[1:]]
    with get_default_graph().control_dependencies(made):
        whole = _along_0(inputs, False)
        by_input = ops.reshape(ops.range(rows * count), [count, -1])
        permuted = gather(whole, ops.reshape(ops.transpose(by_input), [-1]))
        if is_stack:
            splits, values = ops.range(0, rows * count + 1, count), permuted
        else:
            splits, values = permuted.row_splits[::count], permuted.values
        for each in inputs:
            known = dimension_value(each.shape[0])
            if known is not None:
                splits.set_shape([known + 1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _with_ragged_rank(ragged, ragged_rank, splits_dtype):
    if ragged_rank <= 0:
        return ragged
    if not isinstance(ragged, RaggedTensor):
        ragged = RaggedTensor.from_tensor(ragged, row_splits_dtype=splits_dtype)
    if ragged.ragged_rank < ragged_rank:
        ragged = ragged.with_values(_with_ragged_rank(ragged.values, ragged_rank - 1, splits_dtype))
    return ragged


def _joined_splits(splits_list):
    first, *others = splits_list
    pieces, offset = [first], first[-1]
    for splits in others:
        pieces.append(splits[1:] + offset)
        offset += splits[-1]
    return ops.concat(pieces, axis=0)
