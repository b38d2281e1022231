"""while and for: Python's, or tf.while_loop if the condition is a tensor or a tensor is gone through."""

from __future__ import annotations

from stillflow import ops
from stillflow.autograph.operators.builtins import length
from stillflow.autograph.operators.checks import check_same_rounds
from stillflow.autograph.operators.values import is_tensor, is_undefined, is_undefined_return
from stillflow.functions.effects import Block, after_earlier, carry
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor

_ITERABLES: dict = {}  # class -> what goes through its objects


def register_iterable(kind, loop):
    """Says how for goes through objects of a class: loop(iterable, extra_test, body, state)."""
    _ITERABLES[kind] = loop


class State:
    """The variables that a loop changes, and that are used again."""

    def __init__(self, get, set_, names):
        self.get = get
        self.set = set_
        self.names = names

    def checked(self):
        """The values before the loop. Raises ValueError if one has none."""
        values = self.get()
        undefined = tuple(value.symbol_name for value in values if is_undefined(value))
        if undefined:
            raise ValueError(
                f"TensorFlow requires that the following symbols must be defined before the loop: {undefined}"
            )
        if any(is_undefined_return(value) for value in values):
            raise ValueError("return statements are not supported within a TensorFlow loop.")
        return values

    def after(self, values, round_, include_shapes=True):
        """The values after round_(), with these before. Raises TypeError and ValueError if they do not fit."""
        self.set(values)
        round_()
        found = self.get()
        check_same_rounds(values, found, self.names, include_shapes)
        return found


# ---- while ----------------------------------------------------------------------------------------------------


def while_stmt(test, body, get_state, set_state, names, options):
    """Runs body() while test(); if that is a tensor, adds a tf.while_loop.

    Args:
      get_state, set_state: give and set the values of the variables that the loop changes.
      names: what these are called.
      options: arguments of tf.while_loop, or None.
    """
    with FunctionGraph("tmp").as_default():
        first = test()
    if is_tensor(first):
        _graph_while(lambda: test(), body, State(get_state, set_state, names), options)
        return
    if not first:
        return
    body()
    while test():
        body()


def _graph_while(test, body, state, options, *counters):
    """Adds the loop.

    `counters` are pairs of the first value and a function that gives the next of a value; `test` and `body` get the
    values first.
    """
    before = state.checked()
    count = len(counters)
    blocks: list = []

    def loop_test(*values):
        state.set(values[count:])
        return test(*values[:count])

    def loop_body(*values):
        block = Block()
        blocks.append(block)
        found = state.after(values[count:], lambda: body(*values[:count]))
        found = (*(step(value) for (_, step), value in zip(counters, values, strict=False)), *found)
        return block.result(found)

    start = (*(value for value, _ in counters), *before)
    if not start:  # nothing changes that the loop can see
        _graph_while(lambda _: test(), lambda _: body(), state, options, (0, lambda value: value))
        return
    with after_earlier():
        final = while_loop(loop_test, loop_body, start, return_same_structure=True, **(options or {}))
    carry(final, blocks)
    state.set(tuple(final)[count:])


# ---- for ------------------------------------------------------------------------------------------------------


def for_stmt(iterated, extra_test, body, get_state, set_state, names, options):
    """Runs body(item) for the items of something, as long as extra_test(), if there is one.

    Tensors are gone through along their first dimension by a tf.while_loop, tf.range without making its tensor.
    """
    state = State(get_state, set_state, names)
    if is_tensor(iterated):
        go_through_tensor(iterated, extra_test, body, state, options)
    else:
        for kind, loop in _ITERABLES.items():
            if isinstance(iterated, kind):
                loop(iterated, extra_test, body, state)
                return
        _python_for(iterated, extra_test, body)


@by_mode
def go_through_tensor(iterated, extra_test, body, state, options):
    """Adds a tf.while_loop over the first dimension of a tensor or variable."""
    if isinstance(iterated, Tensor) and iterated._op.type == "Range":
        _range_for(iterated._op, extra_test, body, state, options)
    else:
        _tensor_for(iterated, extra_test, body, state, options)


@eager_version_of(go_through_tensor)
def go_through_values(iterated, extra_test, body, state, options):
    """Python's loop over the values of a tensor or variable."""
    _python_for(convert_to_tensor(iterated), extra_test, body)


def _python_for(iterated, extra_test, body):
    for item in iterated:
        if extra_test is not None and not extra_test():
            break
        body(item)


def _with_extra(main_test, extra_test):
    return main_test if extra_test is None else cond(main_test, extra_test, lambda: False)


def _range_for(op, extra_test, body, state, options):
    start, limit, delta = op.inputs
    step = constant_value(delta)

    def test(value):
        if step is None:
            main = ops.logical_or(
                ops.logical_and(delta >= 0, value < limit), ops.logical_and(delta < 0, value > limit)
            )  # fmt: skip
        else:
            main = value < limit if step >= 0 else value > limit
        return _with_extra(main, extra_test)

    _graph_while(test, body, state, options, (start, lambda value: value + delta))


def _tensor_for(iterated, extra_test, body, state, options):
    state.checked()
    count = length(iterated)
    tensor = ops.identity(iterated) if not isinstance(iterated, Tensor) else iterated
    array = TensorArray(tensor.dtype, size=count).unstack(tensor)
    _graph_while(
        lambda i: _with_extra(i < count, extra_test), lambda i: body(array.read(i)), state, options,
        (0, lambda i: i + 1),
    )  # fmt: skip
