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


class SizeError(ShapeError):
    """A value cannot be a shape. The message is given out alone: TensorFlow finds this between two runs of a rule."""


class InferenceContext:
    """What a rule may ask about a node: its attributes, its inputs' shapes, and their values if known.

    This form asks the graph; the plan has one that knows more.
    """

    __slots__ = ("asked_partial_values", "asked_values", "attrs", "inputs", "op_def", "producer", "shapes")

    def __init__(self, op):
        self.producer = op._graph._producer  # the version of the oldest imported graph, or None
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

    def handle(self, index):
        """The input itself, for what its operation says of it."""
        return self.inputs[index]

    def output_count(self):
        return len(self.op_def.output_dtypes(self.attrs))


class _EarlierContext(InferenceContext):
    """Knows the values of some inputs only, and notes which others are asked for."""

    __slots__ = ("missed", "told")

    def __init__(self, op, told):
        super().__init__(op)
        self.told = told
        self.missed = set()

    def value(self, index):
        return super().value(index) if self._tells(index) else None

    def partial_value(self, index):
        return super().partial_value(index) if self._tells(index) else None

    def _tells(self, index):
        if index not in self.told:
            self.missed.add(index)
        return index in self.told


def handle_source(tensor):
    """The operation that a handle comes from, through what only hands it on and out of functions."""
    op = tensor._op
    seen = set()  # a broken graph may go in circles
    while op not in seen:
        seen.add(op)
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
        error, context = _first_error(rule, op) or (error, context)
        if isinstance(error, SizeError):
            raise ValueError(str(error)) from None
        raise ValueError(f"{error} for '{op._name}' (op: '{op.type}') with {_known_text(context)}.") from None


def _first_error(rule, op):
    """(the error that TensorFlow meets first, what the rule knew then), or None.

    TensorFlow's rules run without values first, then with those that they have asked for, until they ask for no more.
    """
    told: set[int] = set()
    while True:
        context = _EarlierContext(op, told)
        try:
            rule(context)
        except ShapeError as error:
            return error, context
        if not context.missed:
            return None
        told |= context.missed


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

#
# What is found by looking through arithmetic is remembered with the tensor, so that a graph is built in time linear
# in its size. As in TensorFlow it depends on the shapes that were known when the nodes were made. What TensorFlow's
# Python finds, without looking through arithmetic, depends on what is known of shapes now.

_MOST_LEVELS = 50  # of rules that ask rules, before what is asked for is found out by itself
MOST_SIZES = 1 << 12  # in a vector of sizes of which some may be unknown: no tensor has nearly as many dimensions
_MOST_FOLDED_ELEMENTS = 1 << 12  # of results of arithmetic: those that shapes are made of are small


class _Question:
    """What can be asked of a tensor: its value, whole or in part, by looking through arithmetic or not."""

    __slots__ = ("folds", "is_partial", "of_part", "of_value")

    def __init__(self, folds, is_partial):
        self.folds = folds
        self.is_partial = is_partial
        self.of_value: _Question
        self.of_part: _Question


def _questions(folds):
    value, part = _Question(folds, False), _Question(folds, True)
    for question in (value, part):
        question.of_value, question.of_part = value, part
    return value, part


_CONSTANT, _PARTIAL_CONSTANT = _questions(False)
_FOLDED, _PARTIAL = _questions(True)


class _TooDeep(Exception):
    """Another question has to be answered first."""

    def __init__(self, question, tensor):
        super().__init__()
        self.question = question
        self.tensor = tensor


class ValueContext:
    """What a value rule may ask about a node. `value` and `partial_value` follow the inputs."""

    __slots__ = ("_levels", "_memory", "_question", "attrs", "op", "output_index")

    def __init__(self, question, tensor, memory, levels):
        self._question = question
        self._memory = memory
        self._levels = levels
        self.op = tensor._op
        self.attrs = tensor._op._attrs
        self.output_index = tensor._value_index

    @property
    def shapes(self):
        early = self.op._early_shapes if self._question.folds else None
        if early is None:
            return [tensor._dims for tensor in self.op._inputs]
        return [early.get(tensor, tensor._dims) for tensor in self.op._inputs]

    def value(self, index):
        return _find(self._question.of_value, self.op._inputs[index], self._memory, self._levels)

    def partial_value(self, index):
        return _find(self._question.of_part, self.op._inputs[index], self._memory, self._levels)


def _answer(question, tensor):
    """The answer to a question, None if it is not known."""
    waiting = [(question, tensor)]
    memory: dict = {}
    while True:
        try:
            found = _find(*waiting[-1], memory, _MOST_LEVELS)
        except _TooDeep as error:
            waiting.append((error.question, error.tensor))
            continue
        waiting.pop()
        if not waiting:
            return found


def _find(question, tensor, memory, levels):
    """The answer; `memory` has what was found for this question and may change."""
    if tensor._value is not None:
        return as_partial(tensor._value) if question.is_partial else tensor._value
    if question.folds:
        findings, key = tensor._findings, question
        if findings is None:
            findings = tensor._findings = {}
    else:
        findings, key = memory, (question, tensor)
    if key in findings:
        return findings[key]
    if (question, tensor) in memory:
        return memory[question, tensor]
    if levels == 0:
        raise _TooDeep(question, tensor)
    findings[key] = None  # for a broken graph, which may go in circles
    context = ValueContext(question, tensor, memory, levels - 1)
    try:
        value = (_partial if question.is_partial else _whole)(question, tensor, context)
    except _TooDeep:
        del findings[key]
        raise
    if question.folds and isinstance(value, np.ndarray) and value.size > _MOST_FOLDED_ELEMENTS:
        del findings[key]  # not worth the memory for longer than this question
        memory[question, tensor] = value
    else:
        findings[key] = value
    return value


def forget(op):
    """Forgets what was found out of the values of an operation's outputs, and of what depends on them."""
    stack = [op]
    while stack:
        for tensor in stack.pop()._outputs:
            if tensor._findings is not None:
                tensor._findings = None
                stack.extend(tensor._consumers)


def _whole(question, tensor, context):
    op_def = tensor._op._op_def
    value = None if op_def.constant_value is None else known_value(op_def.constant_value, context)
    if value is None and question.folds and op_def.folded_value is not None:
        value = known_value(op_def.folded_value, context)
        if value is not None and value.size > _MOST_FOLDED_ELEMENTS:
            return None
    return value


def _partial(question, tensor, context):
    if tensor._dims is not None and (len(tensor._dims) > 1 or any((size or 0) > MOST_SIZES for size in tensor._dims)):
        return None
    rule = tensor._op._op_def.partial_value
    partial = None if rule is None else known_value(rule, context)
    if partial is not None:
        return partial
    return as_partial(_find(question.of_value, tensor, context._memory, context._levels))


def known_value(rule, context):
    """What a value rule says; None where the inputs' values do not fit the op, which is for its kernel to say."""
    try:
        return rule(context)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def as_partial(value):
    """A known value in the form of partial values."""
    if value is None or value.ndim > 1 or value.size > MOST_SIZES:
        return None
    return int(value) if value.ndim == 0 else tuple(int(item) for item in value)


def constant_value(tensor):
    """The tensor's value as a numpy array, if its op is one of those that TensorFlow's Python looks through."""
    return _answer(_CONSTANT, tensor)


def folded_value(tensor):
    """Like constant_value, looking through arithmetic too; for shape rules."""
    return _answer(_FOLDED, tensor)


@public("python.pywrap_tensorflow.TF_TryEvaluateConstant_wrapper")
def try_evaluate_constant(graph, output):
    """The value of `tensor._as_tf_output()` in `graph._c_graph`: an array, or None if only a run can tell."""
    return folded_value(output)


def partial_value(tensor):
    """An integer scalar's or vector's value with None for what is unknown: an int, a tuple, or None."""
    return _answer(_PARTIAL, tensor)


def partial_constant(tensor):
    """Like partial_value, but looking only as far as constant_value does."""
    return _answer(_PARTIAL_CONSTANT, tensor)


def value_as_dims(value):
    """The plain shape that a partial value spells: -1 and None are unknown sizes; None an unknown rank."""
    if value is None or isinstance(value, int):
        return None
    return tuple(None if size is None or size < 0 else size for size in value)
