"""Ragged tensors tiled, with a dimension more or less, and what is asked of their shapes."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ragged.segments import as_int_tensor, lengths_to_splits, positive_axis, repeat_ranges
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


@public("python.ops.ragged.ragged_array_ops.tile")
def tile(input, multiples, name=None):
    """The ragged tensor repeated along each dimension as often as the integers `multiples`, [rank], say."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not isinstance(input, RaggedTensor):
            return ops.tile(input, multiples, name)
        multiples = as_int_tensor(multiples, "multiples", input.row_splits.dtype)
        multiples.shape.assert_has_rank(1)
        known = constant_value(multiples)
        values = _tiled_values(input, multiples, known)
        return RaggedTensor.from_nested_row_splits(values, _tiled_splits(input, multiples, known), validate=False)


def _may_repeat(known, axis):
    return known is None or known[axis] != 1


def _tiled_values(ragged, multiples, known):
    """The flat values: ranges of their places are repeated, from the innermost ragged dimension outwards."""
    rank, nested_splits = ragged.ragged_rank, ragged.nested_row_splits
    places = ops.range(nested_splits[-1][-1])
    inner = None
    for axis in range(rank, 0, -1):
        splits = nested_splits[axis - 1]
        if inner is not None:
            splits = ops.gather(inner * multiples[axis + 1], splits)
        if _may_repeat(known, axis):
            places = repeat_ranges(places, splits, multiples[axis])
        inner = splits
    values = ops.gather(ragged.flat_values, places)
    return ops.tile(values, ops.concat([multiples[:1], multiples[rank + 1 :]], axis=0))


def _tiled_splits(ragged, multiples, known):
    rank, nested_splits = ragged.ragged_rank, ragged.nested_row_splits
    # borders[i][j]: where the rows of dimension i begin in the rows of dimension j below it
    borders = [{i: nested_splits[i]} for i in range(rank)]
    for outer in range(rank):
        for axis in range(outer + 1, rank - 1):
            borders[outer][axis] = ops.gather(nested_splits[axis], borders[outer][axis - 1])
    result = []
    for axis in range(rank):
        lengths = (nested_splits[axis][1:] - nested_splits[axis][:-1]) * multiples[axis + 1]
        repeats = 1
        for outer in range(axis - 1, -1, -1):
            if _may_repeat(known, outer + 1):
                lengths = repeat_ranges(lengths, borders[outer][axis - 1] * repeats, multiples[outer + 1])
            repeats *= multiples[outer + 1]
        result.append(lengths_to_splits(ops.tile(lengths, multiples[:1])))
    return result


@public("python.ops.ragged.ragged_array_ops.expand_dims")
def expand_dims(input, axis, name=None):
    """The ragged tensor with a dimension of size 1 at `axis`. Raises ValueError for an axis out of range."""
    with name_scope(name, "RaggedExpandDims", [input]):
        input = convert_to_tensor_or_ragged_tensor(input, name="input")
        if not isinstance(input, RaggedTensor):
            return ops.expand_dims(input, axis)
        rank = input.shape.rank
        axis = positive_axis(axis, None if rank is None else rank + 1)
        if axis == 0:
            values, splits = input, ops.stack([0, input.nrows()])
        elif axis == 1:
            values, splits = input, ops.range(input.nrows() + 1)
        else:
            values, splits = expand_dims(input.values, axis - 1), input.row_splits
        return RaggedTensor.from_row_splits(values, splits, validate=False)


@public("python.ops.ragged.ragged_array_ops.size")
def size(input, out_type=dtypes.int32, name=None):
    """How many values there are."""
    return ops.size(input.flat_values if is_ragged(input) else input, out_type=out_type, name=name)


@public("python.ops.ragged.ragged_array_ops.rank")
def rank(input, name=None):
    """How many dimensions there are."""
    with name_scope(name, "RaggedRank", [input]) as scope:
        if not is_ragged(input):
            return ops.rank(input, scope)
        return input.ragged_rank + ops.rank(input.flat_values)


@public("python.ops.ragged.ragged_array_ops.ragged_one_hot")
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """tf.one_hot of each value. Raises ValueError for an axis that is ragged."""
    with name_scope(name, "RaggedOneHot", [indices]):
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None:
            axis = positive_axis(axis, indices.shape.rank)
            if axis < indices.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
        values = ops.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name)
        return indices.with_flat_values(values)


@public("python.ops.ragged.ragged_squeeze_op.squeeze")
def squeeze(input, axis=None, name=None):
    """The ragged tensor without dimensions of size 1: those of `axis`, an integer or several.

    Raises:
      TypeError: for an axis that is no integer.
      ValueError: without an axis.
      InvalidArgumentError: if a dimension is not of size 1, when it runs.
    """
    with name_scope(name, "RaggedSqueeze", [input]):
        input = convert_to_tensor_or_ragged_tensor(input)
        if isinstance(input, Tensor):
            return ops.squeeze(input, axis, name)
        axes = _checked_axes(axis, input.shape.rank)
        dense = [dim - input.ragged_rank for dim in axes if dim > input.ragged_rank]
        ragged = {dim for dim in axes if dim <= input.ragged_rank}
        values = ops.with_dependencies(_assert_squeezable(input, ragged), input.flat_values)
        if dense:
            values = ops.squeeze(values, dense)
        splits = [each for i, each in enumerate(input.nested_row_splits) if i + 1 not in ragged]
        if splits and 0 in ragged:
            splits.pop(0)
        result = RaggedTensor.from_nested_row_splits(values, splits)
        if ragged.issuperset(range(input.ragged_rank + 1)):
            result = ops.squeeze(result, [0], name)
        return result


def _checked_axes(axis, rank):
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    if isinstance(axis, int):
        axis = [axis]
    elif not isinstance(axis, (list, tuple)) or not all(isinstance(dim, int) for dim in axis):
        raise TypeError("Axis must be a list or tuple of integers.")
    return [positive_axis(dim, rank) for dim in axis]


def _assert_squeezable(ragged, axes):
    one = ops.constant(1, dtype=ragged.row_splits.dtype)
    made = []
    for i, lengths in enumerate(ragged.nested_row_lengths(), 1):
        if i in axes:
            is_one = ops.reduce_all(ops.equal(lengths, one))
            made.append(checks.assert_that(is_one, [f"the given axis (axis = {i}) is not squeezable!"]))
    if 0 in axes:
        is_one = ops.equal(ops.size(ragged.row_splits), ops.constant(2))
        made.append(checks.assert_that(is_one, ["the given axis (axis = 0) is not squeezable!"]))
    return made
