"""sort and argsort: by the op that finds the largest elements."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("sort")
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements in order along `axis`, a known number; `direction` is "ASCENDING" or "DESCENDING"."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, is_argsort=False)


@public("argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The places of the elements in order along `axis`; equal ones always stay as they are."""
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, is_argsort=True)


def _sorted(values, axis, direction, is_argsort):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = convert_to_tensor(axis, name="axis")
    known = constant_value(axis)
    if axis.shape.rank != 0 or known is None:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _descending(values, int(known), is_argsort)
    result = _descending(-values, int(known), is_argsort)
    return result if is_argsort else -result


def _descending(values, axis, is_argsort):
    count = ops.shape(values)[axis]
    rank_tensor = ops.rank(values)
    rank = values.shape.rank
    order = None
    if axis != -1 and axis + 1 != rank:
        if axis < 0:
            axis += rank_tensor if rank is None else rank
        if rank is not None:
            last = np.r_[np.arange(axis), [rank - 1], np.arange(axis + 1, rank - 1), [axis]]
            order = ops.constant(last, name="transposition")
        else:
            parts = [ops.range(axis), [rank_tensor - 1], ops.range(axis + 1, rank_tensor - 1), [axis]]
            order = ops.concat(parts, axis=0)
        values = ops.transpose(values, order)
    largest, places = ops.top_k(values, count)
    result = places if is_argsort else largest
    return result if order is None else ops.transpose(result, order)
