"""Dropout: in training, random inputs set to 0 and the others scaled up."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.dropout import dropout
from stillflow.layers.core.conditions import smart_cond
from stillflow.layers.core.layer import Layer
from stillflow.ops.convert import convert_to_tensor


class Dropout(Layer):
    """In training, a share `rate` of the inputs set to 0 and the others divided by 1 - rate.

    Args:
      rate: a number in [0, 1).
      noise_shape: the shape of what is decided at random, which is broadcast to that of the inputs; sizes that are
        None are the inputs'.
      seed: an integer, or None.
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs):
        if self.noise_shape is None:
            return None
        sizes = ops.shape(inputs)
        return convert_to_tensor([sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)])

    def call(self, inputs, training=None):
        def dropped():
            return dropout(inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate)

        return smart_cond(training, dropped, lambda: ops.identity(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape

    def get_config(self):
        return {**super().get_config(), "rate": self.rate, "noise_shape": self.noise_shape, "seed": self.seed}
