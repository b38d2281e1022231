"""Placeholders: tensors that the caller of a run feeds."""

from __future__ import annotations

from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.ops.registry import define_op

placeholder = define_op(
    "Placeholder() -> (output: dtype)",
    "dtype: type; shape: shape = unknown",
    special="placeholder",
    differentiable=False,
)
placeholder_with_default = define_op(
    "PlaceholderWithDefault(input: dtype) -> (output: dtype)", "dtype: type; shape: shape", alias=0
)


@placeholder.shape_rule
def _(context):
    return context.attrs["shape"]._dims


@placeholder_with_default.shape_rule
def _(context):
    shape = context.attrs["shape"]
    own = TensorShape._of(context.shapes[0])
    if not shape.is_compatible_with(own):
        raise ShapeError(incompatible(own._dims, shape._dims))
    return shape._dims


@placeholder_with_default.gradient
def _(op, grad):
    return grad
