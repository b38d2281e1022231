"""fuse_bottom_k: the least elements of rows, which programs find as the largest of the negated rows (tf.sort)."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.ops.registry import Kernel

_KERNEL = Kernel("bottom_k", ("input", "k"), ())
_DTYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def fuse_bottom_k(plan):
    """Lets TopKV2 negate what it reads and, if only that is done with them, its values."""
    readers = plan.readers()
    fetched = set(plan.fetch_values)
    for node in list(plan.nodes):
        if node.type != "TopKV2" or node.inputs[0].dtype not in _DTYPES:
            continue
        values, indices = node.outputs
        before = node.inputs[0].producer
        after = readers.get(values, [])
        negations = [before, *after]
        if values in fetched or len(after) > 1 or not all(_is_negation(other, node) for other in negations):
            continue
        if before.outputs[0] in fetched or readers[before.outputs[0]] != [node]:
            continue
        node.inputs = [before.inputs[0], node.inputs[1]]
        if after:
            node.outputs = after[0].outputs if _is_unread(indices, readers, fetched) else [*after[0].outputs, indices]
            node.outputs[0].producer = node
        node.lowering = _KERNEL
        node.parts = [node.op, *(other.op for other in negations)]
        for other in negations:
            plan.nodes.remove(other)


def _is_negation(other, node):
    return other is not None and other.type == "Neg" and other.guard == node.guard


def _is_unread(value, readers, fetched):
    return value not in fetched and not readers.get(value)
