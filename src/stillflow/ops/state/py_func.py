"""PyFunc, EagerPyFunc: call a Python function of the process, which a token names."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_ATTRS = "token: string; Tin: list(type) >= 0; Tout: list(type) >= 0"

py_func = define_op(
    "PyFunc(input: Tin) -> (output: Tout)",
    _ATTRS,
    kernel="host_call(input | token, Tout)",
    stateful=True,
    differentiable=False,
    traits="waits",
)
py_func_stateless = define_op(
    "PyFuncStateless(input: Tin) -> (output: Tout)",
    _ATTRS,
    kernel="host_call(input | token, Tout)",
    differentiable=False,
    traits="waits",
)
eager_py_func = define_op(
    "EagerPyFunc(input: Tin) -> (output: Tout)",
    "token: string; is_async: bool = false; Tin: list(type) >= 0; Tout: list(type) >= 0",
    kernel="host_call(input | token, Tout)",
    stateful=True,  # stillflow.eager.py_function, which executes such functions, has the gradient
    traits="waits",
)


@py_func.shape_rule
@py_func_stateless.shape_rule
@eager_py_func.shape_rule
def _(context):
    return [None] * context.output_count()
