"""gradient_body: the body of the function that computes another's gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.functions.function_graph import FunctionGraph, outermost
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.ops.convert import convert_to_tensor


def gradient_body(function, graph):
    """The body for nodes SymbolicGradient: of the function's arguments and the gradients of its results.

    It returns the gradients of the arguments, zeros where nothing depends on one. Where the library of `graph` has a
    gradient for the function, it is that one's body. It is made once.

    Raises LookupError if the function has a node without a gradient.
    """
    if function.gradient_name is not None:
        return graph.find_function(function.gradient_name).body
    if function.gradient_body is None:
        function.gradient_body = _made(function)
    return function.gradient_body


def _made(function):
    original = function.body
    body = copy_body(original, FunctionGraph(f"{function.name}_gradient", original.outer_graph))
    results = body.outputs
    with body.as_default():
        grads = [ops.placeholder(tensor.dtype.base_dtype, tensor.shape, name="grad") for tensor in results]
        xs = list(body.inputs)
        pairs = [(y, grad) for y, grad in zip(results, grads, strict=True) if _has_gradient(y)]
        found = gradients([y for y, _ in pairs], xs, [grad for _, grad in pairs]) if pairs else [None] * len(xs)
        body.inputs += grads
        body.outputs = [_dense(x, grad) for x, grad in zip(xs, found, strict=True)]
    return body


def unused_name(graph, name):
    """A name that no function of the graph has yet, nor of those around it, nor of those that are being made."""
    outer = outermost(graph)
    while True:
        unused = outer.unique_name(name).replace("/", "_")
        if graph.find_function(unused) is None:
            return unused


def copy_body(original, body):
    """Copies the nodes of a function's body into an empty one, which has the same arguments and results then."""
    body._functions = original._functions
    copies: dict = {}
    with body.as_default():
        for op in [*(tensor._op for tensor in original.inputs), *original.get_operations()]:
            _copy_after_inputs(body, op, copies)
    body.inputs = [_copied(tensor, copies) for tensor in original.inputs]
    body.outputs = [_copied(tensor, copies) for tensor in original.outputs]
    body.control_outputs = [copies[op] for op in original.control_outputs]
    return body


def _copy_after_inputs(body, op, copies):
    """Copies an operation, unless it has been copied, after those that it reads: some are younger than it is.

    Raises LookupError for a loop of Merge and NextIteration, of which the copy has no gradient.
    """
    waiting = [op]
    while waiting:
        missing = [tensor._op for tensor in waiting[-1]._inputs if tensor._op not in copies]
        if any(other.type == "NextIteration" for other in missing):
            raise LookupError(f"The loop of {waiting[-1].name} in a function has no gradient")
        if missing:
            waiting += missing
        elif (last := waiting.pop()) not in copies:
            _copy(body, last, copies)


def _copy(body, op, copies):
    inputs = [_copied(tensor, copies) for tensor in op._inputs]
    with body.control_dependencies([copies[control] for control in op._control_inputs if control in copies]):
        copies[op] = body._add_node(op._op_def, inputs, dict(op._attrs), f"{op._name}/")
        copies[op]._captured = op._captured  # which tells what a variable's handle is of
    for tensor, copied in zip(op._outputs, copies[op]._outputs, strict=True):
        copied.set_shape(tensor.shape)


def _copied(tensor, copies):
    return copies[tensor._op]._outputs[tensor.value_index]


def _has_gradient(tensor):
    return tensor.dtype.is_floating or tensor.dtype.is_complex


def _dense(x, grad):
    if grad is None:
        return ops.zeros_like(x)
    return convert_to_tensor(grad) if isinstance(grad, IndexedSlices) else grad
