"""Ragged tensors of nested Python lists, and placeholders for ragged tensors."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ragged.tensor import RaggedTensor, is_ragged
from stillflow.ragged.value import RaggedTensorValue


@public("ragged.constant")
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None, row_splits_dtype=dtypes.int64):
    """A ragged tensor of nested lists, or a tensor where nothing in them is ragged.

    Args:
      pylist: lists, tuples or arrays in each other, whose values all lie equally deep.
      dtype: the type of the values; by default what they are.
      ragged_rank: how many dimensions are ragged; by default all but the first and those of `inner_shape`.
      inner_shape: the shape of the dense values; by default what they have below `ragged_rank`, or scalars.
      row_splits_dtype: int32 or int64.

    Raises:
      TypeError: for a list that is ragged already.
      ValueError: for values that do not lie equally deep, and ranks and shapes that do not fit.
    """

    def make_rows(values, splits):
        splits = ops.constant(splits, dtype=row_splits_dtype)
        return RaggedTensor.from_row_splits(values, splits, validate=False)

    def make_values(values, dtype, shape, name="Const"):
        return ops.constant(values, dtype=dtype, shape=shape, name=name)

    with name_scope(name, "RaggedConstant"):
        return _nested(make_rows, make_values, pylist, dtype, ragged_rank, inner_shape)


@public("ragged.constant_value")
def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """A RaggedTensorValue of nested lists, or an array where nothing in them is ragged: see tf.ragged.constant."""
    if isinstance(dtype, dtypes.DType):
        dtype = dtype.as_numpy_dtype
    splits_type = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype

    def make_rows(values, splits):
        return RaggedTensorValue(values, np.array(splits, dtype=splits_type))

    def make_values(values, dtype, shape, name=None):
        array = np.array(values, dtype=dtype)
        return array if shape is None else np.reshape(array, shape)

    return _nested(make_rows, make_values, pylist, dtype, ragged_rank, inner_shape)


def _is_list(item):
    return isinstance(item, (list, tuple)) or np.ndim(item) != 0


def _nested(make_rows, make_values, pylist, dtype, ragged_rank, inner_shape):
    if is_ragged(pylist):
        raise TypeError("pylist may not be a RaggedTensor or RaggedTensorValue.")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return make_values(pylist, dtype, ())
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank!r}: must be nonnegative")
    depth, deepest = _depths(pylist)
    _check_depths(pylist, depth, deepest, ragged_rank, inner_shape)
    is_dense = ragged_rank == 0
    if ragged_rank is None:
        is_dense = deepest - (len(inner_shape) if inner_shape is not None else 0) < 2
    if is_dense:
        return make_values(pylist, dtype, inner_shape)
    if inner_shape is None:
        inner_shape = () if ragged_rank is None else _common_shape(pylist, ragged_rank)
    if ragged_rank is None:
        ragged_rank = max(1, deepest - 1 if depth is None else depth - 1 - len(inner_shape))
    values, nested_splits = _flattened(pylist, ragged_rank)
    result = make_values(values, dtype, (len(values), *inner_shape), name="values")
    for splits in reversed(nested_splits):
        result = make_rows(result, splits)
    return result


def _flattened(pylist, ragged_rank):
    """The values below so many levels, and the splits of each level."""
    nested_splits = []
    values = pylist
    for _ in range(ragged_rank):
        splits, joined = [0], []
        for row in values:
            splits.append(splits[-1] + len(row))
            joined.extend(row)
        nested_splits.append(splits)
        values = joined
    return values, nested_splits


@public("python.ops.ragged.ragged_factory_ops._find_scalar_and_max_depth")
def _depths(item):
    """How deep scalars lie, None without any, and how deep lists do."""
    if not _is_list(item):
        return 0, 0
    depth, deepest = None, 1
    for child in item:
        child_depth, child_deepest = _depths(child)
        if child_depth is not None:
            if depth is not None and depth != child_depth + 1:
                raise ValueError("all scalar values must have the same nesting depth")
            depth = child_depth + 1
        deepest = max(deepest, child_deepest + 1)
    return depth, deepest


def _check_depths(pylist, depth, deepest, ragged_rank, inner_shape):
    if depth is not None and deepest > depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    if inner_shape is None or ragged_rank is None:
        return
    expected = ragged_rank + len(inner_shape) + 1
    if expected < deepest if depth is None else expected != depth:
        raise ValueError(
            f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and "
            f"dim(inner_shape)={len(inner_shape)}"
        )


@public("python.ops.ragged.ragged_factory_ops._default_inner_shape_for_pylist")
def _common_shape(pylist, ragged_rank):
    """The shape that all values below so many levels have."""
    values = pylist
    for level in range(ragged_rank):
        if not all(_is_list(value) for value in values):
            raise ValueError(
                f"pylist has scalar values depth {level + 1}, but ragged_rank={ragged_rank} requires scalar value "
                f"depth greater than {ragged_rank}"
            )
        values = [item for value in values for item in value]
    shape = _first_shape(values)
    _check_shape(values, shape)
    return shape[1:]


def _first_shape(item):
    if not _is_list(item):
        return ()
    return (len(item), *_first_shape(item[0])) if len(item) else (0,)


def _check_shape(item, shape):
    if _is_list(item) != bool(shape) or (shape and shape[0] != len(item)):
        raise ValueError("inner values have inconsistent shape")
    for child in item if shape else ():
        _check_shape(child, shape[1:])


@public("ragged.placeholder")
def placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A ragged tensor that has to be fed with a RaggedTensorValue.

    Args:
      dtype: the type of the values.
      ragged_rank: how many dimensions are ragged; for 0 it is an ordinary placeholder.
      value_shape: the shape of one value; by default unknown.
    """
    if ragged_rank == 0:
        return ops.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder", []):
        shape = TensorShape([None]).concatenate(value_shape)
        result = ops.placeholder(dtype, shape, "flat_values")
        for level in reversed(range(ragged_rank)):
            splits = ops.placeholder(dtypes.int64, [None], f"row_splits_{level}")
            result = RaggedTensor(result, splits, internal=True)
        return result
