"""lift: copies of a body's nodes in the graph around it, for the initial values of variables."""

from __future__ import annotations

from stillflow.graph.default_graph import get_default_graph


class UnliftableError(Exception):
    """A tensor depends on arguments of the function."""


def lift(tensor, arguments=None):
    """The tensor of the default graph that is computed as `tensor` is in a function's body.

    Args:
      tensor: a tensor of a FuncGraph, whose captures are of the default graph.
      arguments: {argument of the body: tensor of the default graph}.

    Raises UnliftableError if it depends on other arguments.
    """
    body = tensor.graph
    known = dict(arguments or {})
    known.update((inside, outside) for outside, inside in body.captures)
    return _lifted(tensor, set(body.inputs), known)


def _lifted(tensor, placeholders, known):
    if tensor not in known:
        op = tensor.op
        if tensor in placeholders or op.type == "Placeholder":
            raise UnliftableError(
                f"Unable to lift tensor {tensor} because it depends transitively on placeholder {op}."
            )
        inputs = [_lifted(source, placeholders, known) for source in op._inputs]
        copy = get_default_graph()._add_node(op._op_def, inputs, dict(op._attrs), op._name)
        known.update(zip(op._outputs, copy._outputs, strict=True))
    return known[tensor]
