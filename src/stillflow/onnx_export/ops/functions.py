"""Nodes that call functions: the body of a call becomes part of what is around it, those of conditions and loops
become bodies of If and Loop. What a loop does not change is read from outside.
"""

from __future__ import annotations

from typing import NamedTuple

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
    value = call.value(0)
    if value is not None:
        body = _body(call, "then_branch" if value else "else_branch")
        return _inlined(call, body, call.op.inputs[1:], call.inputs[1:])
    predicate = call.inputs[0] if call.dtype().name == "bool" else call.cast(call.inputs[0], np.bool_)
    return _chosen(
        call, predicate, _branch(call, _body(call, "then_branch")), _branch(call, _body(call, "else_branch"))
    )


@converts("Case", "StatelessCase")
def case(call):
    """The branch of a number, and the last one of all that have none: an If for each number, which hands on what
    those behind it chose."""
    bodies = [_called(call, function.name) for function in call.op.get_attr("branches")]
    value = call.value(0)
    if value is not None or len(bodies) == 1:
        place = int(value) if value is not None and 0 <= value < len(bodies) else -1
        return _inlined(call, bodies[place], call.op.inputs[1:], call.inputs[1:])
    branches = [_branch(call, body) for body in bodies]
    results = None
    for number in reversed(range(len(bodies) - 1)):
        is_number = call.add("Equal", call.inputs[0], call.constant(number, np.int32))
        others = branches[-1] if results is None else _of_results(call, results)
        results = _chosen(call, is_number, branches[number], others)
    return results


class _Branch(NamedTuple):
    """The GraphProto of a branch, and what its results stand for: arrays, or None for tensors."""

    graph: object
    arrays: list


def _chosen(call, predicate, chosen, other):
    options = {"then_branch": chosen.graph, "else_branch": other.graph}
    results = call.add("If", predicate, outputs=len(call.op.outputs), **options)
    results = results if isinstance(results, list) else [results]
    arrays = zip(results, chosen.arrays, strict=True)
    call.translation.arrays.update({name: array for name, array in arrays if array is not None})
    return results


def _branch(call, body):
    block = Block(call.block.names)
    inside = call.translation.of_function(block, body.inputs, call.op.inputs[1:], call.inputs[1:])
    return _finished(inside, block, body.outputs, inside.translate(body.outputs))


def _of_results(call, results):
    return _finished(call.translation, Block(call.block.names), call.op.outputs, results)


def _finished(translation, block, tensors, names):
    """The branch whose results are these, of the types of tensors."""
    kinds = [kind_of(translation, tensor, name) for tensor, name in zip(tensors, names, strict=True)]
    outputs = [block.add("Identity", name) for name in names]
    infos = [kind(name) for kind, name in zip(kinds, outputs, strict=True)]
    return _Branch(block.graph("branch", [], infos), [translation.array_of(name) for name in names])


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
