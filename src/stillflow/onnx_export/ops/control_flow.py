"""Conditionals and loops.

A Merge outside of loops becomes an If that chooses between two values. Both are computed: branches have no effects,
so that costs time only. A loop's frame (Enter, Merge, Switch, NextIteration, Exit) becomes a Loop; what enters it and
does not change is read from outside, as ONNX allows.
"""

from __future__ import annotations

from typing import NamedTuple

from stillflow.onnx_export.block import Block
from stillflow.onnx_export.translation import NEEDS, Translation, converts, element_type

# ---- Conditionals -------------------------------------------------------------------------------------------------


def _switches(tensor):
    """The (predicate, branch) of all Switches that a tensor depends on, by data or control."""
    found, seen, pending = set(), set(), [tensor]
    while pending:
        current = pending.pop()
        if current.op.type == "Switch":
            found.add((current.op.inputs[1], current.value_index))
        if current in seen:
            continue
        seen.add(current)
        if not _opens_round(current.op):
            pending.extend(current.op.inputs)
            pending.extend(op.outputs[0] for op in current.op.control_inputs if op.outputs)
    return found


def _opens_round(op):
    return op.type == "Merge" and op.inputs[0].op.type == "Enter"


def _predicate(merge):
    """The predicate that decides which input of a Merge is there: each of them needs another side of it."""
    false, true = (_switches(value) for value in merge.inputs)
    return [predicate for predicate, branch in true if branch == 1 and (predicate, 0) in false]


def _needs_of_merge(translation, tensor):
    op = tensor.op
    predicates = _predicate(op)
    for predicate in predicates:
        value = translation.value_of(predicate)
        if value is not None:
            return [op.inputs[int(value)]]
    return [*predicates[:1], *op.inputs]


NEEDS["Merge"] = _needs_of_merge
NEEDS["Switch"] = lambda translation, tensor: [tensor.op.inputs[0]]


@converts("Switch")
def switch(call):
    return [call.inputs[0]] * 2


@converts("Merge")
def merge(call):
    if len(call.inputs) == 1:
        return [call.inputs[0], None]
    if len(call.inputs) != 3:
        raise call.error("joins more than the two branches of a condition")
    predicate, false, true = call.inputs
    kind = kind_of(call.translation, call.op.outputs[0], true)
    branches = {
        "then_branch": _choice(call, true, kind),
        "else_branch": _choice(call, false, kind),
    }
    return [call.add("If", predicate, **branches), None]


def _choice(call, value, kind):
    block = Block(call.block.names)
    result = block.add("Identity", value)
    return block.graph("branch", [], [kind(result)])


def kind_of(translation, tensor, name):
    """What makes the ValueInfoProto of values like this one: of a tensor's type and rank, or of an array's type."""
    from onnx import helper

    array = translation.array_of(name)
    if array is None:
        dims = None if tensor.shape.ndims is None else [None] * tensor.shape.ndims
        return lambda value: helper.make_tensor_value_info(value, element_type(tensor.dtype), dims)
    if not array.is_sequence:
        return lambda value: helper.make_tensor_value_info(value, element_type(array.dtype), None)
    return lambda value: helper.make_tensor_sequence_value_info(value, element_type(array.dtype), None)


# ---- Loops --------------------------------------------------------------------------------------------------------


class _Variable(NamedTuple):
    """A variable of a loop: its value before it, in a round (`merge`, of which the body sees `current`, or which only
    the condition reads), and for the next round; and the tensor that leaves, if one does."""

    initial: object
    merge: object
    current: object
    following: object
    leaving: object


class _Loop(NamedTuple):
    frame: str
    condition: object
    variables: list


def _variable(merge, current, leaving):
    enter, following = (value.op for value in merge.op.inputs)
    return _Variable(enter.inputs[0], merge, current, following.inputs[0], leaving)


def _merges(condition, frame):
    """The variables of a loop that its condition reads, by their Merges."""
    found, seen, pending = [], set(), [condition]
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        enter = tensor.op.inputs[0].op if tensor.op.type == "Merge" else None
        if enter is not None and enter.type == "Enter" and enter.get_attr("frame_name") == frame:
            found.append(tensor)
        elif tensor.op.type != "Enter" or tensor.op.get_attr("frame_name") != frame:
            pending.extend(tensor.op.inputs)
    return found


def _loop_of(exit_op):
    """The loop that an Exit leaves."""
    first = exit_op.inputs[0].op
    loop_cond = first.inputs[1].op
    variables = []
    for switch_op in loop_cond.outputs[0].consumers():
        leaving = [op.outputs[0] for op in switch_op.outputs[0].consumers() if op.type == "Exit"]
        variables.append(_variable(switch_op.inputs[0], switch_op.outputs[1], leaving[0] if leaving else None))
    frame = first.inputs[0].op.inputs[0].op.get_attr("frame_name")
    known = {variable.merge for variable in variables}
    others = [merge for merge in _merges(loop_cond.inputs[0], frame) if merge not in known]
    variables += [_variable(merge, merge, None) for merge in others]
    return _Loop(frame, loop_cond.inputs[0], variables)


def _invariants(loop):
    """The tensors outside of the loop that it reads and does not change."""
    stops = {variable.merge for variable in loop.variables} | {variable.current for variable in loop.variables}
    found, seen = [], set(stops)
    pending = [loop.condition, *(variable.following for variable in loop.variables)]
    while pending:
        tensor = pending.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        if tensor.op.type == "Enter" and tensor.op.get_attr("frame_name") == loop.frame:
            found.append(tensor.op.inputs[0])
        else:
            pending.extend(tensor.op.inputs)
    return [tensor for tensor in found if tensor.dtype.name != "resource"]


NEEDS["Exit"] = lambda translation, tensor: []


@converts("Exit")
def leave(call):
    loop, outside = _loop_of(call.op), call.translation
    outside.translate(_invariants(loop))
    initial = outside.translate([variable.initial for variable in loop.variables])
    starts = Translation(outside.block, outside)
    starts.values.update(zip((variable.merge for variable in loop.variables), initial, strict=True))
    (begins,) = starts.translate([loop.condition])
    body = _body(call, loop, initial)
    results = call.add("Loop", "", begins, *initial, outputs=len(initial), body=body)
    for variable, before, after in zip(
        loop.variables, initial, results if len(initial) > 1 else [results], strict=True
    ):
        array = outside.array_of(before)
        if array is not None:
            outside.arrays[after] = array
        if variable.leaving is not None:
            outside.values[variable.leaving] = after
    return outside.values[call.op.outputs[0]]


def _body(call, loop, initial):
    """The GraphProto of a round: the variables as it finds them, then the condition and the variables afterwards."""
    outside = call.translation
    names = outside.block.names
    block = Block(names)
    inside = Translation(block, outside)
    inputs, kinds = [], []
    for variable, before in zip(loop.variables, initial, strict=True):
        name = names.unique(f"{variable.merge.op.name.removeprefix('model/')}/round")
        kind = kind_of(outside, variable.initial, before)
        inside.values[variable.merge] = inside.values[variable.current] = name
        array = outside.array_of(before)
        if array is not None:
            inside.arrays[name] = array
        inputs.append(kind(name))
        kinds.append(kind)
    following = inside.translate([variable.following for variable in loop.variables])
    ends = Translation(block, outside)  # which knows nothing that was computed from the old values
    ends.values.update(zip((variable.merge for variable in loop.variables), following, strict=True))
    (goes_on,) = ends.translate([loop.condition])
    outputs = [block.add("Identity", value) for value in [goes_on, *following]]
    return loop_body(block, inputs, outputs, kinds)


def loop_body(block, inputs, outputs, kinds):
    """The GraphProto of a Loop's body: of ValueInfoProtos of what it has, and names of whether it goes on and what it
    hands on, which `kinds` make ValueInfoProtos of."""
    from onnx import TensorProto, helper

    header = [
        helper.make_tensor_value_info(block.names.unique("round_number"), TensorProto.INT64, []),
        helper.make_tensor_value_info(block.names.unique("goes_on"), TensorProto.BOOL, []),
    ]
    results = [helper.make_tensor_value_info(outputs[0], TensorProto.BOOL, [])]
    results += [kind(name) for kind, name in zip(kinds, outputs[1:], strict=True)]
    return block.graph("body", header + inputs, results)
