"""SymbolicGradient: the gradient of a function of the graph, made when a run asks for it; how calls use it."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.function_call import FunctionCall
from stillflow.ops.registry import define_op

symbolic_gradient = define_op(
    "SymbolicGradient(input: Tin) -> (output: Tout)",
    "Tin: list(type) >= 1; Tout: list(type) >= 1; f: func",
    kernel="call_function(input | f(input), Tout)",
    state="op",
    differentiable=None,
    traits="waits",
)


@symbolic_gradient.shape_rule
def _(context):
    """Gradients are shaped as what they are of; those of variables as their values."""
    count = context.output_count()
    return [
        None if dtype is dtypes.resource else shape
        for dtype, shape in zip(context.attrs["Tin"][:count], context.shapes[:count], strict=True)
    ]


def gradient_of_call(op, *grads):
    """The gradients of a node that calls a function: the function's own, or a node for which a run makes the body."""
    call = op._attrs["f"] if "f" in op._op_def.attrs else FunctionCall(op.type, _given(op))
    function = op._graph._functions.get(call.name)
    if function is not None and function.differentiate is not None:
        return function.differentiate(op, *grads)
    filled = [ops.zeros_like(y) if grad is None else grad for y, grad in zip(op._outputs, grads, strict=True)]
    # TensorFlow calls for the gradient of a variable's handle a tensor of floats.
    types = [dtypes.float32 if t.dtype is dtypes.resource else t.dtype.base_dtype for t in op._inputs]
    found = ops.symbolic_gradient(input=[*op._inputs, *filled], Tout=types, f=call)
    return list(found) if isinstance(found, (list, tuple)) else [found]


# It is given zeros for outputs of all types that nothing depends on.
gradient_of_call.takes_zeros = True  # type: ignore[attr-defined]
# Tapes leave it to the function.
gradient_of_call.takes_missing = True  # type: ignore[attr-defined]


def _given(op):
    return {name: value for name, value in op._attrs.items() if name != "_original_op"}
