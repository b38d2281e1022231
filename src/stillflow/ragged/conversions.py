"""From tensors to ragged tensors and back, as functions of either."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ragged.tensor import RaggedTensor, is_ragged


@public("python.ops.ragged.ragged_conversion_ops.from_tensor")
def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=dtypes.int64, name=None):
    """RaggedTensor.from_tensor of a tensor; a ragged tensor as it is."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


@public("python.ops.ragged.ragged_conversion_ops.to_tensor")
def to_tensor(rt_input, default_value=None, name=None):
    """The dense tensor of a ragged one, with `default_value` behind its rows; a tensor as it is."""
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input
