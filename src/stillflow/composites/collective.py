"""Sums and kin of tensors on several devices: what TensorFlow has NVIDIA's library NCCL do.

There are no GPUs here, and processors stand in for them. So these are nodes of ordinary ops on the devices of the
tensors, where TensorFlow has NcclAllReduce, NcclReduce and NcclBroadcast; gradients are theirs.
"""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.device import canonical_name
from stillflow.names import public


def _check_device(tensor):
    if not canonical_name(tensor.device):
        raise ValueError("Device assignment required for nccl collective ops")


def _sum(tensors):
    return ops.add_n(tensors)


def _folded(op):
    return lambda tensors: functools.reduce(op, tensors)


def _all_reduce(reduce, tensors):
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    results = []
    for tensor in tensors:
        _check_device(tensor)
        with get_default_graph().device(tensor.device):
            results.append(reduce(tensors))
    return results


@public("python.ops.nccl_ops.all_sum", "contrib.nccl.all_sum")
def all_sum(tensors):
    """The sum of tensors on each of their devices.

    Args:
      tensors: of one type and shape, each assigned to a device.

    Returns:
      A list of as many tensors. Raises ValueError for no tensors, and for one that is assigned to no device.
    """
    return _all_reduce(_sum, tensors)


@public("python.ops.nccl_ops.all_prod", "contrib.nccl.all_prod")
def all_prod(tensors):
    """The product of tensors on each of their devices. See `all_sum`."""
    return _all_reduce(_folded(ops.mul), tensors)


@public("python.ops.nccl_ops.all_min", "contrib.nccl.all_min")
def all_min(tensors):
    """The least of tensors, element by element, on each of their devices. See `all_sum`."""
    return _all_reduce(_folded(ops.minimum), tensors)


@public("python.ops.nccl_ops.all_max", "contrib.nccl.all_max")
def all_max(tensors):
    """The greatest of tensors, element by element, on each of their devices. See `all_sum`."""
    return _all_reduce(_folded(ops.maximum), tensors)


@public("python.ops.nccl_ops.reduce_sum", "contrib.nccl.reduce_sum")
def reduce_sum(tensors):
    """The sum of tensors on the current device.

    Raises ValueError for no tensors, for one that is assigned to no device, and if none is on that of the sum.
    """
    if not tensors:
        raise ValueError("Must pass >0 tensors to reduce operations")
    for tensor in tensors:
        _check_device(tensor)
    result = _sum(tensors)
    if all(tensor.device != result.device for tensor in tensors):
        raise ValueError("One input tensor must be assigned to current device")
    return result


@public("python.ops.nccl_ops.broadcast", "contrib.nccl.broadcast")
def broadcast(tensor):
    """A tensor that is there on every device. Raises ValueError if it is assigned to none."""
    _check_device(tensor)
    with get_default_graph().device(tensor.device):
        return ops.identity(tensor)
