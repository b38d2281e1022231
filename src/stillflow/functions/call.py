"""Nodes whose type is the name of a function: what TensorFlow's first kind of functions are called by."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.op_def import Arg, OpDef
from stillflow.ops.functions.symbolic_gradient import gradient_of_call
from stillflow.ops.registry import Called, Kernel


def call_op_def(definition, gradient=gradient_of_call) -> OpDef:
    """The OpDef of nodes that call the function of a FunctionDef message, which have that gradient.

    Raises ValueError for arguments that are lists.
    """
    signature = definition.signature
    for arg in (*signature.input_arg, *signature.output_arg):
        if not arg.type:
            raise ValueError(f"Function {signature.name}: {arg.name} is not of one type")
    inputs, outputs = (
        tuple(Arg(arg.name, dtype=dtypes.as_dtype(arg.type)) for arg in args)
        for args in (signature.input_arg, signature.output_arg)
    )
    names = tuple(arg.name for arg in inputs)
    function = Called("function", names, call=FunctionCall(signature.name))
    types = tuple(arg.dtype for arg in outputs)
    return OpDef(
        signature.name,
        inputs,
        outputs,
        {},
        is_stateful=signature.is_stateful,
        gradient=gradient,
        waits=True,
        lowering=Kernel("call_function", names, (function, types), "op"),
    )
