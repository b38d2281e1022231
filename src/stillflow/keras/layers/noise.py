"""Noise in training."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.keras.backend.choices import in_train_phase
from stillflow.keras.backend.drawing import random_normal, random_uniform
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.settings import floatx
from stillflow.names import public


class _Noise(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape):
        return input_shape


@public("keras.layers.GaussianNoise")
class GaussianNoise(_Noise):
    """In training, the inputs plus normal numbers.

    Args:
      stddev: the standard deviation of these.
    """

    def __init__(self, stddev, **kwargs):
        super().__init__(**kwargs)
        self.stddev = stddev

    def call(self, inputs, training=None):
        def noised():
            return inputs + random_normal(shape=ops.shape(inputs), mean=0.0, stddev=self.stddev)

        return in_train_phase(noised, inputs, training=training)

    def get_config(self):
        return {**super().get_config(), "stddev": self.stddev}


@public("keras.layers.GaussianDropout")
class GaussianDropout(_Noise):
    """In training, the inputs times normal numbers of mean 1, of the variance that dropout has.

    Args:
      rate: the rate of that dropout.
    """

    def __init__(self, rate, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs, training=None):
        if not 0 < self.rate < 1:
            return inputs

        def noised():
            stddev = math.sqrt(self.rate / (1.0 - self.rate))
            return inputs * random_normal(shape=ops.shape(inputs), mean=1.0, stddev=stddev)

        return in_train_phase(noised, inputs, training=training)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}


@public("keras.layers.AlphaDropout")
class AlphaDropout(_Noise):
    """Dropout that keeps mean and variance of what `selu` makes. Klambauer et al., 2017.

    Args:
      rate: the share of the inputs that is dropped.
      noise_shape: the shape of what is decided at random, which is broadcast to that of the inputs.
      seed: an integer, or None.
    """

    def __init__(self, rate, noise_shape=None, seed=None, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate
        self.noise_shape = noise_shape
        self.seed = seed

    def call(self, inputs, training=None):
        rate = self.rate
        if not 0.0 < rate < 1.0:
            return inputs
        noise_shape = self.noise_shape or ops.shape(inputs)

        def dropped():
            dropped_value = -1.6732632423543772 * 1.0507009873554805
            kept = ops.greater_equal(random_uniform(noise_shape, seed=self.seed), rate)
            kept = ops.cast(kept, floatx())
            scale = ((1 - rate) * (1 + rate * dropped_value**2)) ** -0.5
            shift = -scale * dropped_value * rate
            return scale * (inputs * kept + dropped_value * (1 - kept)) + shift

        return in_train_phase(dropped, inputs, training=training)

    def get_config(self):
        return {**super().get_config(), "rate": self.rate}
