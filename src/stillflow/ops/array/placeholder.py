"""Placeholders: tensors that the caller of a run feeds."""

from __future__ import annotations

from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import ShapeError, dims_text
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


def incompatible(a, b):
    """What TensorFlow says when two shapes are to be one."""
    if a is not None and b is not None:
        if len(a) != len(b):
            return f"Shapes must be equal rank, but are {len(a)} and {len(b)}"
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if x is not None and y is not None and x != y:
                return (
                    f"Dimension {i} in both shapes must be equal, but are {x} and {y}. "
                    f"Shapes are {dims_text(a)} and {dims_text(b)}."
                )
    return f"Shapes {dims_text(a)} and {dims_text(b)} are incompatible"
