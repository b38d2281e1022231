"""Sums and other reductions, and where the largest elements are."""

from __future__ import annotations

import numpy as np

from stillflow.conversion.onnx_graph import converts
from stillflow.graph import dtypes

_KINDS = {"Sum": "ReduceSum", "Mean": "ReduceMean", "Max": "ReduceMax", "Min": "ReduceMin", "Prod": "ReduceProd"}


def _reduced(made, kind, name, axes, keeps):
    """`name` reduced over axes; ReduceSum takes them as an input already, the others as an attribute."""
    if not axes:
        return name
    if kind == "ReduceSum":
        return made.node(kind, [name, made.ints(axes)], keepdims=int(keeps))
    return made.node(kind, [name], axes=axes, keepdims=int(keeps))


def _axes(made, operation):
    return [int(axis) for axis in np.ravel(made.value(operation, 1))]


@converts(*_KINDS)
def _reduction(made, operation):
    keeps = operation.get_attr("keep_dims")
    return _reduced(made, _KINDS[operation.type], made.input(operation, 0), _axes(made, operation), keeps)


@converts("All", "Any")
def _of_bools(made, operation):
    numbers = made.cast(made.input(operation, 0), dtypes.int32)
    kind = "ReduceMin" if operation.type == "All" else "ReduceMax"
    reduced = _reduced(made, kind, numbers, _axes(made, operation), operation.get_attr("keep_dims"))
    return made.cast(reduced, dtypes.bool_)


@converts("ArgMax", "ArgMin")
def _arg(made, operation):
    found = made.node(operation.type, [made.input(operation, 0)], axis=int(made.value(operation, 1)), keepdims=0)
    wanted = operation.outputs[0].dtype
    return found if wanted == dtypes.int64 else made.cast(found, wanted)


@converts("TopKV2")
def _top_k(made, operation):
    count = made.ints([int(made.value(operation, 1))])
    values, indices = made.node("TopK", [made.input(operation, 0), count], outputs=2, axis=-1, largest=1, sorted=1)
    return [values, made.cast(indices, dtypes.int32)]
