"""ArgMax and ArgMin: where along an axis the largest or smallest element is."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.registry import define_op

_NUMBERS = (
    "float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64"
)


def _arg_extremum(name, sought, **options):
    op = define_op(
        f"{name}(input: T, dimension: Tidx) -> (output: output_type)",
        f"T: {{{_NUMBERS}}}; Tidx: {{int32, int64}} = int32; output_type: {{int32, int64}} = int64",
        kernel=f"arg_extremum(input, dimension | output_type, '{sought}')",
        differentiable=False,
        **options,
    )
    op.shape_rule(_rule)
    return op


def _rule(context):
    dims, axis_dims = context.shapes
    if axis_dims is not None and axis_dims != ():
        raise ShapeError(f"Shape must be rank 0 but is rank {len(axis_dims)}")
    if dims is None:
        return None
    if len(dims) <= 1:
        return ()
    axis = context.value(1)
    if axis is None:
        return (None,) * (len(dims) - 1)
    rank, axis = len(dims), int(axis)
    if not -rank <= axis < rank:
        raise ShapeError(
            f"Dimension ({axis}) must be in the range [{-rank}, {rank}), where {rank} is the number of dimensions "
            "in the input."
        )
    return tuple(size for i, size in enumerate(dims) if i != axis % rank)


arg_max = _arg_extremum(
    "ArgMax", "largest", public="arg_max", doc="The index of the largest element along `dimension`; see argmax."
)
arg_min = _arg_extremum(
    "ArgMin", "smallest", public="arg_min", doc="The index of the smallest element along `dimension`; see argmin."
)


def _fold(function):
    def rule(context):
        value, axis = context.value(0), context.value(1)
        if value is None or axis is None or not context.attrs["T"].is_integer:
            return None
        return np.asarray(function(value, int(axis)), context.attrs["output_type"].as_numpy_dtype)

    return rule


arg_max.folded_value(_fold(np.argmax))
arg_min.folded_value(_fold(np.argmin))


@public("argmax", "math.argmax")
def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The indices of the largest elements along an axis; of equal ones, that of the first.

    Args:
      input: a tensor of numbers.
      axis: an int32 or int64 scalar in [-rank, rank); 0 by default.
      name: a name for the operation.
      dimension: the old name of `axis`.
      output_type: int64 or int32.

    Returns:
      A tensor of `output_type`, of the shape of `input` without the axis.

    Raises:
      ValueError: for an axis that is out of range.
      InvalidArgumentError: when run, if the axis has no elements.
    """
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_max(input, 0 if axis is None else axis, output_type=output_type, name=name)


@public("argmin", "math.argmin")
def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
    """The indices of the smallest elements along an axis; of equal ones, that of the first. See `argmax`."""
    axis = renamed("axis", axis, "dimension", dimension)
    return arg_min(input, 0 if axis is None else axis, output_type=output_type, name=name)
