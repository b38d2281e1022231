"""spread: known values that are the same in every element are kept as that one value, however large.

Zeros, ones and constants divided by a count are everywhere in gradients. As operands of elementwise nodes they
become scalars; nodes that only move them are computed here.
"""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.ops.registry import Elementwise
from stillflow.plan.elementwise import is_elementwise
from stillflow.plan.ir import Plan, Value, constant_of

_MOST_COMPARED_ELEMENTS = 1 << 16


def uniform_value(value: Value):
    """The one value of a known value's elements as a 0-d array, or None."""
    array = value.constant
    if array is None or array.size == 0 or array.dtype == object:
        return None
    if array.size == 1 or not any(array.strides):
        return array[(0,) * array.ndim]
    return None


def spread(plan, evaluate):
    """Computes nodes over uniform values, and makes scalars of uniform operands of elementwise nodes.

    `evaluate(plan)` runs a plan without feeds and returns the arrays it fetches, or None if that fails.
    """
    kept = []
    for node in plan.nodes:
        for value in node.inputs:
            _compress(value)
        result = _result(node, evaluate) if node.is_pure and len(node.outputs) == 1 else None
        if result is None:
            _make_scalars(node)
            kept.append(node)
        else:
            (value,) = node.outputs
            value.constant = np.broadcast_to(result, value.dims)
            value.producer = None
    plan.nodes = kept


def _compress(value):
    """Keeps a constant as one value if its elements have the same bits."""
    array = value.constant
    if array is None or not 1 < array.size <= _MOST_COMPARED_ELEMENTS or array.dtype == object:
        return
    if any(array.strides):
        rows = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
        if np.all(rows == rows[0]):
            value.constant = np.broadcast_to(array.flat[0], array.shape)


def _result(node, evaluate):
    """The one value of the node's output, or None."""
    count = node.outputs[0].count
    if not count:
        return None
    values = [uniform_value(value) for value in node.inputs]
    if node.type == "Fill":
        return values[1]
    if node.type == "ZerosLike":
        dtype = node.outputs[0].dtype
        if dtype is dtypes.variant:
            return None
        return np.array(b"" if dtype is dtypes.string else 0, dtype.as_numpy_dtype)
    if node.has_trait("moves_elements") and all(value.constant is not None for value in node.inputs):
        return values[0] if _finds_elements(node) else None
    if any(value is None for value in values):
        return None
    if isinstance(node.lowering, Elementwise):
        return _evaluated(node, values, evaluate)
    if node.type == "MatMul":
        return _evaluated_product(node, values, evaluate)
    if node.type in ("ConcatV2", "Pack"):
        parts = values[:-1] if node.type == "ConcatV2" else values
        return parts[0] if all(part.tobytes() == parts[0].tobytes() for part in parts) else None
    return None


def _finds_elements(node):
    """Whether the elements that the node moves are there. If they are not, its kernel says so."""
    dims, places = node.inputs[0].dims, [value.constant.reshape(-1) for value in node.inputs[1:]]
    if node.type == "Slice":
        begin, size = places
        ends = np.where(size == -1, dims, begin + size)
        return bool(np.all((begin >= 0) & (begin <= ends) & (ends <= dims)))
    if node.type == "Transpose":
        return sorted(places[0].tolist()) == list(range(len(dims)))
    return True


def _evaluated_product(node, values, evaluate):
    dims = node.inputs[0].dims
    depth = dims[0] if node.attrs["transpose_a"] else dims[1]
    if depth > _MOST_COMPARED_ELEMENTS:
        return None
    row = np.full((depth, 1) if node.attrs["transpose_a"] else (1, depth), values[0])
    column = np.full((1, depth) if node.attrs["transpose_b"] else (depth, 1), values[1])
    return _evaluated(node, [row, column], evaluate, (1, 1))


def _evaluated(node, arrays, evaluate, dims=None):
    """The node's output for small inputs, as a 0-d array; `dims` is its shape, if not that of the inputs."""
    small = node.copy([constant_of(np.asarray(array), v.dtype) for array, v in zip(arrays, node.inputs, strict=True)])
    if dims is None:
        dims = np.broadcast_shapes(*(value.dims for value in small.inputs))
    output = Value(node.outputs[0].dtype, dims, small)
    small.outputs = [output]
    part = Plan([], [], [])
    part.nodes = [small]
    part.fetch_values = [output]
    results = evaluate(part)
    return None if results is None else np.asarray(results[0]).reshape(())


def _make_scalars(node):
    """Uniform operands of an elementwise node become scalars if another operand has the result's shape."""
    if not is_elementwise(node):
        return
    dims = node.outputs[0].dims
    full = [value for value in node.inputs if value.dims == dims and uniform_value(value) is None]
    if dims is None or None in dims or not full:
        return
    for i, value in enumerate(node.inputs):
        one = uniform_value(value)
        if one is not None and value.dims != ():
            node.inputs[i] = constant_of(np.asarray(one), value.dtype)
