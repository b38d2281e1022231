"""What tf.test says of devices: there are no GPUs."""

from __future__ import annotations

from stillflow.names import public


@public("test.gpu_device_name")
def gpu_device_name():
    """The name of a GPU: empty, there is none."""
    return ""


@public("test.is_built_with_cuda")
def is_built_with_cuda():
    """Whether this was built for NVIDIA's GPUs: False."""
    return False


@public("test.is_built_with_gpu_support")
def is_built_with_gpu_support():
    """Whether this was built for GPUs: False."""
    return False


@public("test.is_built_with_rocm")
def is_built_with_rocm():
    """Whether this was built for AMD's GPUs: False."""
    return False


@public("test.is_gpu_available")
def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU that can be used: False."""
    return False
