"""Shapes and constant values that are known before anything runs.

An op's shape rule takes an InferenceContext and returns one plain shape (None, or a tuple of sizes and None)
per output; for an op with one output it may return that shape itself. It raises ShapeError for shapes that
do not fit. The same rules run when a node is added to a graph and, with what is known by then, when a plan is
compiled.
"""

from __future__ import annotations

import numpy as np

from stillflow.names import public


class ShapeError(ValueError):
    """Input shapes do not fit an op; the message says why, without naming the node."""


class InferenceContext:
    """What a rule may ask about a node: its attributes, its inputs' shapes, and their values if known.

    This form asks the graph; the plan has one that knows more.
    """

    __slots__ = ("asked_partial_values", "asked_values", "attrs", "inputs", "op_def", "shapes")

    def __init__(self, op):
        self.asked_values = {}  # {index of the input: value}, for messages
        self.asked_partial_values = {}
        self.op_def = op._op_def
        self.attrs = op._attrs
        self.inputs = op._inputs
        self.shapes = [tensor._dims for tensor in op._inputs]

    def value(self, index):
        """The input's value as a numpy array, or None."""
        value = folded_value(self.inputs[index])
        if value is not None:
            self.asked_values[index] = value
        return value

    def partial_value(self, index):
        """An integer input's value with None for unknown elements: a tuple, or an int; or None."""
        value = partial_value(self.inputs[index])
        if isinstance(value, tuple):
            self.asked_partial_values[index] = value
        return value

    def variable_dims(self, index):
        """The plain shape of the variable that the input is a handle of."""
        shape = self.handle_attrs(index).get("shape")
        return None if shape is None else shape._dims

    def handle_attrs(self, index):
        """The attributes of the node that the handle comes from."""
        return handle_source(self.inputs[index])._attrs

    def output_count(self):
        return len(self.op_def.output_dtypes(self.attrs))


def handle_source(tensor):
    """The operation that a handle comes from, through what only hands it on and out of functions."""
    op = tensor._op
    for _ in range(_MOST_VISITS):  # a broken graph may go in circles
        if op._captured is not None:
            op = op._captured._op
            continue
        if "shape" in op._attrs or not op._inputs or op._inputs[0]._dtype is not tensor._dtype:
            break
        op = op._inputs[0]._op
    return op


def variable_dtype(handle):
    """The type of the variable behind a handle."""
    return handle_source(handle)._attrs["dtype"]


def infer_shapes(op):
    """Sets the shapes of a new node's outputs. Raises ValueError when its inputs do not fit."""
    rule = op._op_def.shape_rule
    if rule is None or not op._outputs:
        if rule is not None:
            _call_rule(rule, op)
        return
    shapes = _call_rule(rule, op)
    for tensor, dims in zip(op._outputs, normalized(shapes, len(op._outputs)), strict=True):
        tensor._dims = dims


def _call_rule(rule, op):
    context = InferenceContext(op)
    try:
        return rule(context)
    except ShapeError as error:
        raise ValueError(f"{error} for '{op._name}' (op: '{op.type}') with {_known_text(context)}.") from None


def _known_text(context):
    """What the rule knew, as TensorFlow's messages spell it."""
    text = "input shapes: " + ", ".join("?" if dims is None else dims_text(dims) for dims in context.shapes)
    for kind, known, spell in (
        ("computed input tensors", context.asked_values, lambda value: f"<{_value_text(value)}>"),
        ("input tensors computed as partial shapes", context.asked_partial_values, _partial_text),
    ):
        if known:
            text += f" and with {kind}: " + ", ".join(f"input[{i}] = {spell(known[i])}" for i in sorted(known))
    return text


def _value_text(value):
    if value.ndim == 0:
        return str(value.item())
    if value.ndim == 1:
        return " ".join(str(item) for item in value.tolist())
    return "".join(f"[{_value_text(row)}]" for row in value)


def _partial_text(value):
    return dims_text(value_as_dims(value))


def normalized(shapes, count):
    """A rule's result as a list of `count` plain shapes."""
    if isinstance(shapes, list):
        return shapes
    return [shapes] * count


def dims_text(dims):
    """ "[2,?]", as TensorFlow's messages spell shapes."""
    if dims is None:
        return "<unknown>"
    return "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"


def incompatible_text(a, b):
    """What TensorFlow says when two shapes are to be one."""
    if a is not None and b is not None:
        if len(a) != len(b):
            return f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if x is not None and y is not None and x != y:
                return (
                    f"Dimension {i} in both shapes must be equal, but are {x} and {y}. "
                    f"Shapes are {dims_text(a)} and {dims_text(b)}."
                )
    return f"Shapes {dims_text(a)} and {dims_text(b)} are incompatible"


# ---- Values of tensors that are constant ------------------------------------------------------------------

# How many nodes one question may visit: constants that shapes are made of lie close by.
_MOST_VISITS = 200


class ValueContext:
    """What a value rule may ask about a node. `value` and `partial_value` follow the inputs."""

    __slots__ = ("_search", "attrs", "op", "output_index", "shapes")

    def __init__(self, search, tensor):
        self._search = search
        self.op = tensor._op
        self.attrs = tensor._op._attrs
        self.shapes = [t._dims for t in tensor._op._inputs]
        self.output_index = tensor._value_index

    def value(self, index):
        return self._search.value(self.op._inputs[index])

    def partial_value(self, index):
        return self._search.partial_value(self.op._inputs[index])


class _Search:
    """One question for a value, and how far it may still look."""

    def __init__(self, looks_through_arithmetic):
        self._looks_through_arithmetic = looks_through_arithmetic
        self._visits_left = _MOST_VISITS

    def value(self, tensor):
        if tensor._value is not None:
            return tensor._value
        op_def = tensor._op._op_def
        found = self._ask(op_def.constant_value, tensor)
        if found is None and self._looks_through_arithmetic:
            found = self._ask(op_def.folded_value, tensor)
        return found

    def _ask(self, rule, tensor):
        if rule is None or self._visits_left == 0:
            return None
        self._visits_left -= 1
        return known_value(rule, ValueContext(self, tensor))

    def partial_value(self, tensor):
        op_def = tensor._op._op_def
        if op_def.partial_value is not None and self._visits_left > 0:
            self._visits_left -= 1
            partial = known_value(op_def.partial_value, ValueContext(self, tensor))
            if partial is not None:
                return partial
        return as_partial(self.value(tensor))


def known_value(rule, context):
    """What a value rule says; None where the inputs' values do not fit the op, which is for its kernel to say."""
    try:
        return rule(context)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def as_partial(value):
    """A known value in the form of partial values."""
    if value is None or value.ndim > 1:
        return None
    return int(value) if value.ndim == 0 else tuple(int(item) for item in value)


@public("python.framework.tensor_util.constant_value")
def constant_value(tensor):
    """The tensor's value as a numpy array, if its op is one of those that TensorFlow's Python looks through."""
    return _Search(looks_through_arithmetic=False).value(tensor)


def folded_value(tensor):
    """Like constant_value, looking through arithmetic too; for shape rules."""
    return _Search(looks_through_arithmetic=True).value(tensor)


def partial_value(tensor):
    """An integer scalar's or vector's value with None for what is unknown: an int, a tuple, or None."""
    return _Search(looks_through_arithmetic=True).partial_value(tensor)


def partial_constant(tensor):
    """Like partial_value, but looking only as far as constant_value does."""
    return _Search(looks_through_arithmetic=False).partial_value(tensor)


def value_as_dims(value):
    """The plain shape that a partial value spells: -1 and None are unknown sizes; None an unknown rank."""
    if value is None or isinstance(value, int):
        return None
    return tuple(None if size is None or size < 0 else size for size in value)


@public("get_static_value")
def get_static_value(tensor, partial=False):
    """The tensor's value as a numpy array if it is known while the graph is built, else None.

    `partial`: whether of values that are stacked those that are not known may be None.
    """
    value = constant_value(tensor)
    if value is None and partial and tensor.op.type == "Pack":
        return np.array([get_static_value(part, partial=True) for part in tensor.op.inputs], object)
    return value
