"""ragged_to_dense: ragged tensors as dense tensors of a given shape."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import as_shape
from stillflow.names import public


@public("python.ops.ragged.ragged_conversion_ops.ragged_to_dense")
def ragged_to_dense(rt_input, default_value=None, shape=None):
    """A dense tensor of the values of a ragged one, cut off or filled up with a default.

    Args:
      rt_input: a RaggedTensor.
      default_value: what stands behind the values of shorter rows, by default zero or "".
      shape: of the result: a TensorShape, a list of sizes, or a tensor; None or -1 for a size that fits the longest
        row. By default all sizes do.

    Raises:
      ValueError: for a shape or default that does not fit.
    """
    values = rt_input.flat_values
    kinds, tensors = _partitions(rt_input)
    if default_value is None:
        default_value = ops.zeros((), values.dtype)
    return ops.ragged_tensor_to_tensor(
        shape=_shape_tensor(shape, tensors[0].dtype),
        values=values,
        default_value=default_value,
        row_partition_types=kinds,
        row_partition_tensors=tensors,
    )


def _partitions(ragged):
    """What is known of each level, as TensorFlow hands it on: the row of each value where it is, or the splits."""
    kinds, tensors = [], []
    for level in ragged._levels():
        if level._cached_value_rowids is None:
            kinds.append("ROW_SPLITS")
            tensors.append(level.row_splits)
            continue
        if not kinds:
            kinds.append("FIRST_DIM_SIZE")
            tensors.append(level.nrows())
        kinds.append("VALUE_ROWIDS")
        tensors.append(level.value_rowids())
    return kinds, tensors


def _shape_tensor(shape, dtype):
    if isinstance(shape, Tensor):
        return shape if shape.dtype in (dtypes.int32, dtypes.int64) else ops.cast(shape, dtype)
    shape = as_shape(shape)
    if shape.rank is None:
        return ops.constant(-1, dtype=dtype)
    return ops.constant([-1 if size is None else size for size in shape.as_list()], dtype=dtype)
