"""Nodes that call functions: the body of a call becomes part of what is around it, those of conditions and loops
become bodies of If and Loop. What a loop does not change is read from outside.
"""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.block import Block
from stillflow.onnx_export.ops.control_flow import kind_of, loop_body
from stillflow.onnx_export.translation import FUNCTION, WRITTEN, Call, converts
from stillflow.plan.writing import written_out


def _body(call, attr):
    return _called(call, call.op.get_attr(attr).name)


def _called(call, name):
    function = call.op.graph.find_function(name)
    if function is None:
        raise call.error(f"calls a function {name}, which is not there")
    return function.body


def _told(call, inside, names):
    """The names, of which it is noted here which stand for arrays."""
    for name in names:
        if inside.array_of(name) is not None:
            call.translation.arrays[name] = inside.array_of(name)
    return names


def _inlined(call, body, tensors, names):
    inside = call.translation.of_function(call.block, body.inputs, tensors, names)
    return _told(call, inside, inside.translate(body.outputs))


@converts("PartitionedCall", "StatefulPartitionedCall")
def called(call: Call):
    return _inlined(call, _body(call, "f"), call.op.inputs, call.inputs)


@converts(FUNCTION)
def called_by_name(call):
    return _inlined(call, _called(call, call.op.type), call.op.inputs, call.inputs)


@converts(WRITTEN)
def written(call):
    placeholders, outputs = written_out(call.op, [tensor._dims for tensor in call.op.inputs])
    inside = call.translation.of_function(call.block, placeholders, call.op.inputs, call.inputs)
    return inside.translate(outputs)


# ---- Conditions ---------------------------------------------------------------------------------------------------


@converts("If", "StatelessIf")
def condition(call):
    tensors, names = call.op.inputs[1:], call.inputs[1:]
    value = call.value(0)
    if value is not None:
        return _inlined(call, _body(call, "then_branch" if value else "else_branch"), tensors, names)
    predicate = call.inputs[0] if call.dtype().name == "bool" else call.cast(call.inputs[0], np.bool_)
    sides, arrays = {}, []
    for attr in ("then_branch", "else_branch"):
        sides[attr], arrays = _branch(call, _body(call, attr), tensors, names)
    results = call.add("If", predicate, outputs=len(call.op.outputs), **sides)
    results = results if isinstance(results, list) else [results]
    call.translation.arrays.update({name: array for name, array in zip(results, arrays, strict=True) if array})
    return results


def _branch(call, body, tensors, names):
    """(the GraphProto of a branch, what its results stand for: arrays, or None for tensors)."""
    block = Block(call.block.names)
    inside = call.translation.of_function(block, body.inputs, tensors, names)
    made = inside.translate(body.outputs)
    arrays = [inside.array_of(name) for name in made]
    kinds = [kind_of(inside, tensor, name) for tensor, name in zip(body.outputs, made, strict=True)]
    outputs = [block.add("Identity", name) for name in made]
    infos = [kind(name) for kind, name in zip(kinds, outputs, strict=True)]
    return block.graph("branch", [], infos), arrays


# ---- Loops --------------------------------------------------------------------------------------------------------


def _is_handed_on(result, argument):
    while result.op.type == "Identity":
        result = result.op.inputs[0]
    return result is argument


@converts("While", "StatelessWhile")
def loop(call):
    body, cond = _body(call, "body"), _body(call, "cond")
    changes = [not _is_handed_on(*pair) for pair in zip(body.outputs, body.inputs, strict=True)]
    changed = [index for index, change in enumerate(changes) if change]
    outside, names = call.translation, call.inputs
    (begins,) = _inlined(call, cond, call.op.inputs, names)
    block = Block(call.block.names)
    kinds = [kind_of(outside, call.op.inputs[index], names[index]) for index in changed]
    current = [
        block.names.unique(f"{call.name}/round") if change else name
        for change, name in zip(changes, names, strict=True)
    ]
    inside = _round(call, block, body.inputs, current, changes)
    following = inside.translate(body.outputs)
    ends = _round(call, block, cond.inputs, following, changes)
    for name in following:
        if inside.array_of(name) is not None:
            ends.arrays[name] = inside.array_of(name)
    (goes_on,) = ends.translate(cond.outputs)
    outputs = [block.add("Identity", name) for name in (goes_on, *(following[index] for index in changed))]
    inputs = [kind(current[index]) for kind, index in zip(kinds, changed, strict=True)]
    initial = [names[index] for index in changed]
    graph = loop_body(block, inputs, outputs, kinds)
    made = call.add("Loop", "", begins, *initial, outputs=len(changed), body=graph)
    results = list(names)
    for index, name in zip(changed, made if len(changed) > 1 else [made], strict=True):
        results[index] = name
        if outside.array_of(names[index]) is not None:
            outside.arrays[name] = outside.array_of(names[index])
    return results


def _round(call, block, placeholders, names, changes):
    """The translation of a function in a round: it knows the values of what does not change, and which of the others
    are arrays."""
    inside = call.translation.of_function(block, placeholders, call.op.inputs, names)
    for placeholder, tensor_name, name, change in zip(placeholders, call.inputs, names, changes, strict=True):
        if change:
            inside.forget(placeholder)
        array = call.translation.array_of(tensor_name)
        if array is not None:
            inside.arrays[name] = array
    return inside
