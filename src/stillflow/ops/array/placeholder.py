"""Placeholders: tensors that the caller of a run feeds."""

from __future__ import annotations

from stillflow.graph.default_graph import require_graph
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops.registry import define_op

placeholder_op = define_op(
    "Placeholder() -> (output: dtype)",
    "dtype: type; shape: shape = unknown",
    special="placeholder",
    differentiable=False,
)
placeholder_v2 = define_op(  # of the time when an empty shape was none for Placeholder
    "PlaceholderV2() -> (output: dtype)", "dtype: type; shape: shape", special="placeholder", differentiable=False
)
_LAST_WITHOUT_SCALARS = 21  # the version of GraphDefs up to which an empty shape is none
placeholder_with_default_op = define_op(
    "PlaceholderWithDefault(input: dtype) -> (output: dtype)", "dtype: type; shape: shape", alias=0
)


@placeholder_op.shape_rule
def _(context):
    dims = context.attrs["shape"]._dims
    is_old = context.producer is not None and context.producer <= _LAST_WITHOUT_SCALARS
    return None if is_old and dims == () else dims


@placeholder_v2.shape_rule
def _(context):
    return context.attrs["shape"]._dims


@placeholder_with_default_op.shape_rule
def _(context):
    shape = context.attrs["shape"]
    own = TensorShape._of(context.shapes[0])
    if not shape.is_compatible_with(own):
        raise ShapeError(incompatible(own._dims, shape._dims))
    return shape._dims


@placeholder_with_default_op.gradient
def _(op, grad):
    return grad


@public("placeholder")
def placeholder(dtype, shape=None, name=None):
    """A tensor that every run that needs it must feed.

    Args:
      dtype: the type of the elements.
      shape: what shapes may be fed; None for any.

    Raises RuntimeError while operations are executed eagerly.
    """
    require_graph("tf.placeholder() is not compatible with eager execution.")
    return placeholder_op(dtype=dtype, shape=TensorShape(shape), name=name)


@public("placeholder_with_default")
def placeholder_with_default(input, shape, name=None):
    """A tensor that is `input` where a run does not feed it. `shape` says what may be fed."""
    return placeholder_with_default_op(input, shape=TensorShape(shape), name=name)
