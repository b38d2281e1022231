"""Sparse and ragged tensors, and what sessions return for them, one after the other."""

from __future__ import annotations

import numpy as np

from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.names import public
from stillflow.ops.sparse.order import sparse_concat
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue
from stillflow.ragged.concatenation import concat
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor
from stillflow.ragged.value import RaggedTensorValue


@public("python.framework.composite_tensor_utils.is_composite_or_composite_value")
def is_composite(value):
    """Whether it stands for several tensors, or is what a session returns for such a one."""
    return isinstance(value, (CompositeTensor, SparseTensorValue, RaggedTensorValue))


@public("python.framework.composite_tensor_utils.get_shape")
def get_shape(tensor):
    """The shape of a composite tensor, or of a value of one."""
    return tensor.dense_shape if isinstance(tensor, SparseTensorValue) else tensor.shape


def _joined_sparse(first, second):
    before, behind = list(first.dense_shape), list(second.dense_shape)
    opening = f"Unable to concatenate {first} and {second}. The inner dense shapes do not"
    if len(before) != len(behind):
        raise RuntimeError(f"{opening} have the same number of dimensions ({before} vs {behind})")
    if before[1:] != behind[1:]:
        raise RuntimeError(f"{opening} match inner dimensions ({before[1:]} vs {behind[1:]})")
    moved = np.array(second.indices).reshape((-1, len(behind)))
    moved[:, 0] += before[0]
    indices = np.concatenate([np.reshape(first.indices, (-1, len(before))), moved])
    values = np.concatenate([first.values, second.values])
    return SparseTensorValue(indices, values, np.array([before[0] + behind[0], *before[1:]], np.int64))


def _joined_ragged(first, second):
    if len(first.shape) != len(second.shape) or first.shape[1:] != second.shape[1:]:
        raise RuntimeError(f"Unable to concatenate {first} and {second}")
    splits = np.append(first.row_splits, second.row_splits[1:] + first.row_splits[-1])
    join = _joined_ragged if isinstance(first.values, RaggedTensorValue) else lambda *both: np.concatenate(both)
    return RaggedTensorValue(join(first.values, second.values), splits)


def as_tensor(value):
    """A tensor, sparse or ragged for what is."""
    if isinstance(value, (SparseTensor, SparseTensorValue)):
        return SparseTensor.from_value(value)
    return convert_to_tensor_or_ragged_tensor(value)


def take_rows(value, rows):
    """Some rows of a SparseTensorValue or RaggedTensorValue, in the order of `rows`, which are different numbers."""
    rows = np.asarray(rows)
    if isinstance(value, SparseTensorValue):
        places = np.full(value.dense_shape[0], -1)
        places[rows] = np.arange(len(rows))
        places = places[value.indices[:, 0]]
        kept = np.flatnonzero(places >= 0)
        kept = kept[np.argsort(places[kept], kind="stable")]
        indices = np.concatenate([places[kept, None], value.indices[kept, 1:]], axis=1).astype(np.int64)
        return SparseTensorValue(indices, value.values[kept], np.array([len(rows), *value.dense_shape[1:]], np.int64))
    starts, lengths = value.row_splits[:-1][rows], np.diff(value.row_splits)[rows]
    splits = np.concatenate([[0], np.cumsum(lengths)]).astype(value.row_splits.dtype)
    inner = np.arange(splits[-1]) + np.repeat(starts - splits[:-1], lengths)
    values = value.values
    return RaggedTensorValue(
        take_rows(values, inner) if isinstance(values, RaggedTensorValue) else values[inner], splits
    )


@public("python.framework.composite_tensor_utils.append_composite_tensor")
def append_composite(target, to_append):
    """Two sparse or ragged tensors of one kind, or values of such, one after the other along the first axis.

    Raises RuntimeError for two of different kinds or of shapes that do not fit, and for anything else.
    """
    if type(target) is not type(to_append):
        raise RuntimeError(f"Unable to concatenate {type(target)} and {type(to_append)}")
    if isinstance(target, SparseTensor):
        return sparse_concat(sp_inputs=[target, to_append], axis=0)
    if isinstance(target, RaggedTensor):
        return concat([target, to_append], axis=0)
    if isinstance(target, SparseTensorValue):
        return _joined_sparse(target, to_append)
    if isinstance(target, RaggedTensorValue):
        return _joined_ragged(target, to_append)
    raise RuntimeError(f"Attempted to concatenate unsupported object {type(target)}.")
