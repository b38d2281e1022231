"""infer: shapes and values again, now from the shapes of the feeds and from what passes have found out."""

from __future__ import annotations

import numpy as np

from stillflow.graph.shape import TensorShape, merge
from stillflow.graph.shape_inference import as_partial, handle_source, known_value, normalized
from stillflow.ops.registry import Alias

# Values of up to this many elements are computed while planning, if an op says how.
_MOST_KNOWN_ELEMENTS = 4096


class PlanContext:
    """What shape and value rules may ask, answered from the plan."""

    __slots__ = ("_op", "attrs", "op_def", "output_index", "producer", "shapes", "values")

    def __init__(self, node):
        self._op = node.op
        self.producer = node.op._graph._producer
        self.op_def = node.op._op_def
        self.attrs = node.attrs
        self.values = node.inputs
        self.shapes = [value.dims for value in node.inputs]
        self.output_index = 0

    def value(self, index):
        return self.values[index].constant

    def partial_value(self, index):
        value = self.values[index]
        return value.partial if value.constant is None else as_partial(value.constant)

    def variable_dims(self, index):
        return self.shapes[index]

    def handle_attrs(self, index):
        value = self.values[index]
        if value.is_reference and value.producer is None and value.source is not None:
            return {"shape": TensorShape._of(value.dims), "dtype": value.dtype}
        return handle_source(self._op._inputs[index])._attrs

    def handle(self, index):
        return self._op._inputs[index]

    def output_count(self):
        return len(self.op_def.output_dtypes(self.attrs))


def known_in_both(own, other):
    """What two plain shapes of one value say together; the first if they contradict each other."""
    merged = merge(own, other)
    return own if merged is False else merged


def infer_unknown(plan):
    """Infers what is not known yet of each node's outputs."""
    for node in plan.nodes:
        if node.is_pure and any(value.count is None for value in node.outputs):
            infer(node)


def infer(node):
    """Finds shapes and values of a node's outputs, from those of its inputs as they are known now."""
    op_def = node.op._op_def
    context = PlanContext(node)
    if op_def.shape_rule is not None and node.outputs:
        try:
            shapes = normalized(op_def.shape_rule(context), len(node.outputs))
        except (ValueError, TypeError, IndexError, OverflowError):
            return  # the shapes of the feeds do not fit: the kernel will say so, in TensorFlow's words
        for value, dims in zip(node.outputs, shapes, strict=True):
            value.dims = known_in_both(value.dims, dims)
    if isinstance(node.lowering, Alias):
        source = node.inputs[node.lowering.input]
        node.outputs[0].constant = source.constant
        node.outputs[0].partial = source.partial
        if source.constant is not None:
            node.outputs[0].dims = source.constant.shape
        return
    rule = op_def.constant_value or op_def.folded_value
    for index, value in enumerate(node.outputs):
        context.output_index = index
        if rule is not None and value.dims is not None and _is_small(value):
            value.constant = known_value(rule, context)
        if value.constant is None and op_def.partial_value is not None:
            _set_partial(value, known_value(op_def.partial_value, context))


def _set_partial(value, partial):
    """Keeps what is known of an integer value; all of it makes a constant."""
    is_complete = isinstance(partial, int) or (isinstance(partial, tuple) and None not in partial)
    if is_complete and value.dims == np.shape(partial):
        value.constant = np.array(partial, value.dtype.as_numpy_dtype)
    else:
        value.partial = partial


def _is_small(value):
    count = value.count
    return count is not None and count <= _MOST_KNOWN_ELEMENTS
