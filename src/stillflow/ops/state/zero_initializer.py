"""ZeroInitializer and ZeroVarInitializer of tf.contrib.framework: first values that are zeros."""

from __future__ import annotations

from stillflow.graph.shape_inference import ShapeError
from stillflow.ops.registry import define_op

_NUMBERS = "{float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64}"

zero_initializer = define_op(
    "ZeroInitializer(ref: Ref(T)) -> (output_ref: Ref(T))",
    f"T: {_NUMBERS}",
    kernel="assign_zeros(ref)",
    allows_uninitialized_input=True,
    differentiable=False,
)
zero_var_initializer = define_op(
    "ZeroVarInitializer(var: resource) -> (output_var: resource)",
    "dtype: type; shape: shape",
    kernel="assign_zeros_to_handle(var | dtype, shape)",
    stateful=True,
    allows_uninitialized_input=True,
    differentiable=False,
)


@zero_initializer.shape_rule
def _(context):
    return context.shapes[0]


@zero_var_initializer.shape_rule
def _(context):
    if context.attrs["shape"]._dims is None:
        raise ShapeError("The shape of a variable that begins with zeros must be known")
    return ()
