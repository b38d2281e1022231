"""ragged[...]: rows, slices of rows, slices in each row."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.ops.convert import convert_to_tensor
from stillflow.ragged.arithmetic import ragged_range
from stillflow.ragged.gathers import gather
from stillflow.ragged.tensor import RaggedTensor

_WHOLE = slice(None, None, None)


def get_item(self, key):
    """Part of the ragged tensor: integers and slices of rows, slices of the dimensions in them, None and `...`.

    Raises:
      TypeError: for bounds that are no integers.
      ValueError: for an integer in a dimension that is ragged.
      IndexError: for more indices than there are dimensions.
    """
    with name_scope(None, "RaggedGetItem", [self, *_tensors(key)]):
        return _of_keys(self, list(key) if isinstance(key, (list, tuple)) else [key])


def _tensors(key):
    if isinstance(key, Tensor):
        return [key]
    if isinstance(key, slice):
        key = [key.start, key.stop, key.step]
    return [tensor for part in key for tensor in _tensors(part)] if isinstance(key, (list, tuple)) else []


def _of_keys(ragged, keys):
    if not keys:
        return ragged
    key, *inner = keys
    if key is Ellipsis:
        return _of_keys(ragged, _expanded(keys, ragged.shape.rank))
    if key is None:
        within = _of_keys(ragged, inner)
        return RaggedTensor.from_row_splits(within, ops.stack([0, _split_count(within) - 1]), validate=False)
    if isinstance(key, slice):
        return _of_inner_keys(_rows(ragged, key), inner)
    starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
    _check_row(key, starts)
    row = ragged.values[starts[key] : limits[key]]
    return row.__getitem__(inner)


def _check_row(key, starts):
    """Refuses a row that there is not, where their number is known at once."""
    if hasattr(starts, "numpy") and not isinstance(key, Tensor):
        try:
            is_outside = int(key) >= len(starts.numpy())
        except (TypeError, ValueError):
            return
        if is_outside:
            raise IndexError(f"Row key {key} out of bounds")


def _split_count(ragged):
    return ops.shape(ragged.row_splits, out_type=ragged.row_splits.dtype)[0]


def _expanded(keys, rank):
    """The keys with a whole slice in front of the ellipsis, or without it where there are enough."""
    if rank is None:
        raise ValueError("Ellipsis not supported for unknown shape RaggedTensors")
    count = sum(1 for key in keys if key is not None)
    if count > rank + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == rank + 1 else [_WHOLE, *keys]


def _is_whole(key):
    return key.start is None and key.stop is None and key.step is None


def _rows(ragged, key):
    """A slice of rows."""
    if _is_whole(key):
        return ragged
    starts, limits = ragged.row_splits[:-1][key], ragged.row_splits[1:][key]
    zero: Any = ops.zeros([1], ragged.row_splits.dtype)
    if key.step is not None and key.step != 1:
        return _of_ranges(starts, limits, 1, ragged.values)
    # No rows have the splits [0].
    splits: Any = ops.concat([zero[ops.size(starts) :], starts[:1], limits], axis=0)
    first, last = splits[0], splits[-1]
    return RaggedTensor.from_row_splits(ragged.values[first:last], splits - first, validate=False)


def _of_inner_keys(ragged: Any, keys):
    """What keys say of each row."""
    if not keys:
        return ragged
    if isinstance(ragged, Tensor):
        tensor: Any = ragged
        return tensor[[_WHOLE, *keys]]
    key, *inner = keys
    if key is Ellipsis:
        return _of_inner_keys(ragged, _expanded(keys, ragged.values.shape.rank))
    if key is None:
        within = _of_inner_keys(ragged, inner)
        return RaggedTensor.from_row_splits(within, ops.range(_split_count(within)), validate=False)
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not _is_whole(key):
        starts, limits = ragged.row_splits[:-1], ragged.row_splits[1:]
        begins, ends = starts, limits
        if key.start is not None and not _is_zero(key.start):
            begins = _moved(key.start, starts, limits)
        if key.stop is not None and not _is_zero(key.stop):
            ends = _moved(key.stop, starts, limits)
        ragged = _of_ranges(begins, ends, key.step, ragged.values)
    return ragged.with_values(_of_inner_keys(ragged.values, inner))


def _is_zero(bound):
    return not isinstance(bound, Tensor) and bound == 0


def _of_ranges(starts, limits, step, values):
    """Rows of the values from each start on before each limit."""
    step = convert_to_tensor(1 if step is None else step, name="step")
    if not step.dtype.is_integer:
        raise TypeError("slice strides must be integers or None")
    step = ops.cast(step, starts.dtype)
    places = ragged_range(starts, limits, step, row_splits_dtype=starts.dtype)
    pick = gather if isinstance(values, RaggedTensor) else ops.gather
    return places.with_values(pick(params=values, indices=places.values))


def _moved(offset, starts, limits):
    """The place so far behind the start of each row, or before its end, but within it."""
    if isinstance(offset, Tensor):
        offset = ops.cast(offset, starts.dtype)
        return ops.cond(
            offset >= 0,
            lambda: ops.minimum(starts + offset, limits),
            lambda: ops.maximum(limits + offset, starts),
        )
    if not isinstance(offset, int):
        raise TypeError("slice offsets must be integers or None")
    return ops.minimum(starts + offset, limits) if offset > 0 else ops.maximum(limits + offset, starts)
