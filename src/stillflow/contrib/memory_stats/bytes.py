"""BytesInUse, MaxBytesInUse, BytesLimit: without arguments, as TensorFlow has them."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public


@public("contrib.memory_stats.BytesInUse")
def bytes_in_use():
    """The bytes of the buffers that tensors of this process have when it runs, an int64."""
    return ops.bytes_in_use()


@public("contrib.memory_stats.MaxBytesInUse")
def max_bytes_in_use():
    """The most bytes that tensors have had at one time since the process began, an int64."""
    return ops.max_bytes_in_use()


@public("contrib.memory_stats.BytesLimit")
def bytes_limit():
    """The memory of the machine in bytes, an int64."""
    return ops.bytes_limit()
