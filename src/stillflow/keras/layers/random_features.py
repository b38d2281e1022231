"""RandomFourierFeatures: a map to cosines of random directions, whose products approximate a kernel."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables import initializers

_KERNELS = ["gaussian", "laplacian"]


@public("python.keras.layers.kernelized.RandomFourierFeatures")
class RandomFourierFeatures(Layer):
    """cos(inputs / scale @ directions + phases), with directions and phases that are drawn once and stay.

    Rahimi and Recht, "Random Features for Large-Scale Kernel Machines", 2007.

    Args:
      output_dim: the number of features.
      kernel_initializer: the kernel that products of features approximate, "gaussian" or "laplacian", or what draws
        the directions.
      scale: the scale of the kernel; by default the root of half the width for a Gaussian, else 1.
      trainable: whether the scale is trained.
      name: the layer's name.

    Raises:
      ValueError: for a size or scale that is not positive, for another kernel, and when it is built for inputs that
        are not [batch, width] with a known width.
    """

    def __init__(
        self, output_dim, kernel_initializer="gaussian", scale=None, trainable=False, name=None, **kwargs
    ):  # fmt: skip
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Given: {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(f"Unsupported kernel type: '{kernel_initializer}'. Supported kernel types: {_KERNELS}.")
        if scale is not None and scale <= 0.0:
            raise ValueError(f"When provided, `scale` should be a positive float. Given: {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim = output_dim
        self.kernel_initializer = kernel_initializer
        self.scale = scale

    def build(self, input_shape):
        input_shape = TensorShape(input_shape)
        if input_shape.rank != 2:
            raise ValueError(f"The rank of the input tensor should be 2. Got {input_shape.ndims} instead.")
        width = input_shape.dims[1].value
        if width is None:
            raise ValueError(
                "The last dimension of the inputs to `RandomFourierFeatures` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(ndim=2, axes={1: width})
        shape = (width, self.output_dim)
        directions = self._fixed("unscaled_random_features", shape, self._initializer(shape))
        phases = initializers.RandomUniform(0.0, 2 * np.pi, dtype=dtypes.float32)
        self.bias = self._fixed("random_features_bias", (self.output_dim,), phases)
        if self.scale is None:
            self.scale = math.sqrt(width / 2.0) if self._is_named("gaussian") else 1.0
        scale = self.add_weight(
            name="random_features_scale", shape=(1,), dtype=dtypes.float32, trainable=True, constraint="NonNeg",
            initializer=initializers.Constant(self.scale),
        )  # fmt: skip
        self.kernel = (1.0 / scale) * directions
        super().build(input_shape)

    def _fixed(self, name, shape, initializer):
        return self.add_weight(
            name=name, shape=shape, dtype=dtypes.float32, initializer=initializer, trainable=False
        )  # fmt: skip

    def _is_named(self, kernel):
        return isinstance(self.kernel_initializer, str) and self.kernel_initializer.lower() == kernel

    def _initializer(self, shape):
        if self._is_named("gaussian"):
            return initializers.RandomNormal(stddev=1.0)
        if self._is_named("laplacian"):  # Cauchy numbers
            return initializers.Constant(np.tan(np.pi * (np.random.uniform(0.0, 1.0, shape) - 0.5)))
        return self.kernel_initializer

    def call(self, inputs):
        inputs = ops.cast(convert_to_tensor(inputs, dtype=self.dtype), dtypes.float32)
        return ops.cos(ops.bias_add(ops.matmul(inputs, self.kernel), self.bias))

    def compute_output_shape(self, input_shape):
        input_shape = TensorShape(input_shape).with_rank(2)
        if input_shape.dims[-1].value is None:
            raise ValueError(f"The innermost dimension of input shape must be defined. Given: {input_shape}")
        return input_shape[:-1].concatenate(self.output_dim)

    def get_config(self):
        is_named = isinstance(self.kernel_initializer, str)
        return {
            **super().get_config(),
            "output_dim": self.output_dim,
            "kernel_initializer": self.kernel_initializer if is_named else serialize(self.kernel_initializer),
            "scale": self.scale,
        }
