"""Kernels of convolutions as Theano has them, which turns them around, and as TensorFlow does."""

from __future__ import annotations

import numpy as np

from stillflow.keras.backend.values import batch_set_value, get_value
from stillflow.names import public

_TURNED = {"Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"}


@public("python.keras.utils.conv_utils.convert_kernel")
def convert_kernel(kernel):
    """A kernel (sizes, channels in, channels out), turned around in space. Raises ValueError for another rank."""
    kernel = np.asarray(kernel)
    if not 3 <= kernel.ndim <= 5:
        raise ValueError("Invalid kernel shape:", kernel.shape)
    return np.flip(kernel, tuple(range(kernel.ndim - 2))).copy()


@public("keras.utils.convert_all_kernels_in_model")
def convert_all_kernels_in_model(model):
    """Turns the kernels of a model's convolutions around: from Theano's order to TensorFlow's, or back."""
    kernels = [layer.kernel for layer in model.layers if type(layer).__name__ in _TURNED]
    batch_set_value([(kernel, convert_kernel(get_value(kernel))) for kernel in kernels])
