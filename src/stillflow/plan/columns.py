"""columns: values that are some columns, of the last dimension, of wider ones.

A kernel that runs elementwise operations reads columns where they lie, and writes several results side by side. So
the gates of a recurrent cell are neither cut apart nor put together: see groups.
"""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.ops.registry import Elementwise
from stillflow.plan.ir import Value

_BIASED = (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16)


def columns_of(value):
    """(wider value, first column) of a value that Split or Slice cuts out along the last dimension, or None."""
    node = value.producer
    if node is None or value.count in (None, 0):
        return None
    if node.type == "Split":
        source = _split_source(node)
        return source and (source, node.outputs.index(value) * value.dims[-1])
    if node.type == "Slice":
        return _sliced(node, value)
    return None


def _split_source(node):
    """What a Split along the last dimension cuts, if its shape is known."""
    axis, source = node.inputs
    if axis.constant is None or source.is_reference or not source.dims or source.count is None:
        return None
    return source if int(axis.constant) in (-1, len(source.dims) - 1) else None


def _sliced(node, value):
    source, begin, _ = node.inputs
    if begin.constant is None or source.is_reference or source.count is None or not source.dims:
        return None
    if source.dims[:-1] != value.dims[:-1] or begin.constant[:-1].any():
        return None
    return source, int(begin.constant[-1])


def joined_values(node):
    """What a ConcatV2 puts side by side along the last dimension, if all have one known shape; else None."""
    if node.type != "ConcatV2":
        return None
    *values, axis = node.inputs
    dims = values[0].dims
    if axis.constant is None or not dims or values[0].count in (None, 0):
        return None
    if int(axis.constant) not in (-1, len(dims) - 1) or any(value.dims != dims for value in values):
        return None
    return values


def as_elementwise(node):
    """The operation that a BiasAdd of floats is over its inputs, or None."""
    if node.type not in ("BiasAdd", "BiasAddV1") or node.attrs.get("data_format", b"NHWC") != b"NHWC":
        return None
    value, bias = node.inputs
    if value.count is None or value.dtype not in _BIASED or bias.dims != value.dims[-1:] or len(value.dims) < 2:
        return None
    return Elementwise("add")


def cut_before(plan):
    """Applies elementwise operations whose result Split alone reads to the parts, if elementwise nodes read these.

    Then all of them are one group, which reads the operands' columns.
    """
    while any(node.type == "Split" for node in plan.nodes):
        readers = plan.readers()
        fetched = set(plan.fetch_values)
        replaced: dict = {}  # Node -> the nodes in its place
        for node in plan.nodes:
            if node.type == "Split" and _split_source(node) and _feeds_elementwise(node, readers, fetched):
                parts = _on_parts(node, readers, fetched)
                if parts is not None:
                    replaced[node.inputs[1].producer] = []
                    replaced[node] = parts
        if not replaced:
            return
        plan.nodes = [part for node in plan.nodes for part in replaced.get(node, [node])]


def _feeds_elementwise(split, readers, fetched):
    """Whether only elementwise nodes read the parts, as operands of their results' shape."""
    return not any(value in fetched for value in split.outputs) and all(
        isinstance(reader.lowering, Elementwise) and reader.outputs[0].dims == value.dims
        for value in split.outputs
        for reader in readers.get(value, ())
    )


def _on_parts(split, readers, fetched):
    """The operation before a Split, applied to parts of its operands: Splits and an operation for each part."""
    axis, result = split.inputs
    node = result.producer
    if node is None or readers[result] != [split] or result in fetched or node.guard != split.guard:
        return None
    lowering = node.lowering if isinstance(node.lowering, Elementwise) else as_elementwise(node)
    if lowering is None or any(value.dtype is not result.dtype or value.is_reference for value in node.inputs):
        return None
    width, count = result.dims[-1], len(split.outputs)
    made = []
    operands = []  # of each part
    for value in node.inputs:
        if value.dims not in (result.dims, (width,), (1,), ()):
            return None
        if value.dims and value.dims[-1] == width:
            cut = split.copy([_last_axis(axis, value), value])
            dims = (*value.dims[:-1], width // count)
            cut.outputs = [Value(value.dtype, dims, cut, part.source) for part in split.outputs]
            made.append(cut)
            operands.append(cut.outputs)
        else:
            operands.append([value] * count)
    for part, inputs in zip(split.outputs, zip(*operands, strict=True), strict=True):
        applied = node.copy(list(inputs))
        applied.lowering, applied.outputs, part.producer = lowering, [part], applied
        made.append(applied)
    return made


def _last_axis(axis, value):
    found = Value(axis.dtype, ())
    found.constant = axis.constant * 0 + len(value.dims) - 1
    return found
