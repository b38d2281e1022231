"""The functions that nodes of a plan call: where their bodies are, and what is known of their arguments."""

from __future__ import annotations

import dataclasses

from stillflow import errors
from stillflow.functions.gradient import gradient_body
from stillflow.graph import dtypes
from stillflow.ops.registry import Called, Special
from stillflow.plan.prune import needed_operations


def body_of(op, name):
    """The body of the function that an operation calls. Raises NotFoundError if the graph does not have it."""
    function = op._graph.find_function(name)
    if function is not None:
        return gradient_body(function, op._graph) if op.type == "SymbolicGradient" else function.body
    raise errors.make(errors.NOT_FOUND, f"Function {name} is not defined.", op)


def calls_of(called, attrs):
    """An attribute that is a function, or for a list of functions such an attribute for each of them."""
    calls = attrs.get(called.name)
    return [dataclasses.replace(called, call=call) for call in calls] if isinstance(calls, tuple) else [called]


def waits(op, attrs, seen=()):
    """Whether an operation, or a body of a function that it calls, may wait for what others do."""
    lowering = op._op_def.lowering
    if not op._op_def.waits or isinstance(lowering, Special):
        return False
    called = [each for attr in lowering.attrs if isinstance(attr, Called) for each in calls_of(attr, attrs)]
    names = [(each.call or attrs[each.name]).name for each in called]
    return not names or any(_body_waits(op, name, seen) for name in names if name not in seen)


def _body_waits(op, name, seen):
    body = body_of(op, name)
    operations = needed_operations(body.outputs, body.always_run(), body.inputs)
    return any(waits(inner, inner._attrs, (*seen, name)) for inner in operations)


def known_arguments(node, called, body):
    """{argument of the body: Value outside}, for the arguments that are inputs of the node.

    Raises InvalidArgumentError if they are not the function's.
    """
    values = [value for name in called.inputs for value in _inputs(node, name)]
    placeholders = body.inputs[len(body.inputs) - len(values) :]
    if len(values) > len(body.inputs) or not all(map(_fits, values, placeholders)):
        found = ", ".join(value.dtype.name for value in values)
        expected = ", ".join(tensor.dtype.name for tensor in body.inputs)
        message = f"Function {body.name} takes arguments of the types [{expected}], and gets [{found}] as its last"
        raise errors.make(errors.INVALID_ARGUMENT, message, node.op)
    known = dict(zip(placeholders, values, strict=True))
    return known if called.is_constant else {key: value for key, value in known.items() if value.is_reference}


def check_results(node, body, plan):
    """Raises InvalidArgumentError if the function does not return what it says."""
    for tensor, value in zip(body.outputs, plan.fetch_values, strict=True):
        if not value.is_reference and value.dtype is not tensor._dtype.base_dtype:
            message = f"Function {body.name} returns {value.dtype.name} where it says {tensor._dtype.name}"
            raise errors.make(errors.INVALID_ARGUMENT, message, node.op)


def _fits(value, placeholder):
    dtype = placeholder._dtype.base_dtype
    return dtype is dtypes.resource if value.is_reference else value.dtype is dtype


def _inputs(node, name):
    """The values of one of the node's inputs, which may be a list."""
    first = 0
    for arg in node.op._op_def.inputs:
        count = 1
        if arg.type_list_attr is not None:
            count = len(node.attrs[arg.type_list_attr])
        elif arg.number_attr is not None:
            count = node.attrs[arg.number_attr]
        if arg.name == name:
            return node.inputs[first : first + count]
        first += count
    raise KeyError(name)
