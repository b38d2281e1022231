"""The initializers of TensorFlow 2, as compat.v2 has them.

Their types are said when they are called, and numbers with a seed are the same wherever they are drawn.
"""

from __future__ import annotations

import types
from typing import Any

from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.random import sampling
from stillflow.variables import initializers

first: Any = initializers  # of TensorFlow 1, whose calls take other arguments


def _drawn(stateful, stateless):
    def draw(shape, a, b, dtype, seed=None):
        if seed is None:
            return stateful(shape, a, b, dtype)
        return stateless(shape, [seed, 0], a, b, dtype)

    return draw


_NUMBERS = types.SimpleNamespace(
    random_uniform=_drawn(sampling.random_uniform, sampling.stateless_random_uniform),
    random_normal=_drawn(sampling.random_normal, sampling.stateless_random_normal),
    truncated_normal=_drawn(sampling.truncated_normal, sampling.stateless_truncated_normal),
)


@public("compat.v2.initializers.Initializer", "compat.v2.keras.initializers.Initializer")
class Initializer(first.Initializer):
    """initializer(shape, dtype=tf.float32) is a tensor of that shape; see get_config and from_config."""

    _numbers = _NUMBERS

    def __call__(self, shape, dtype=None):
        """The tensor. Raises ValueError for types that the initializer has no values of."""
        dtype = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        self._check(dtype)
        return super().__call__(shape, dtype)

    def get_config(self):
        """A plain dictionary to make the initializer from again."""
        config = dict(super().get_config())
        config.pop("dtype", None)
        return config

    @classmethod
    def from_config(cls, config):
        """An initializer from what get_config returned, also of one of TensorFlow 1."""
        return cls(**{name: value for name, value in config.items() if name != "dtype"})

    @staticmethod
    def _check(dtype):
        if not dtype.is_floating:
            raise ValueError(f"Expected floating point type, got {dtype}.")


@public(
    "compat.v2.zeros_initializer", "compat.v2.initializers.Zeros", "compat.v2.initializers.zeros",
    "compat.v2.keras.initializers.Zeros", "compat.v2.keras.initializers.zeros", "python.ops.init_ops_v2.Zeros",
)  # fmt: skip
class Zeros(Initializer, first.Zeros):
    """Zeros, False, or empty strings."""

    def __init__(self):
        super().__init__()

    @staticmethod
    def _check(dtype):
        pass


@public(
    "compat.v2.ones_initializer", "compat.v2.initializers.Ones", "compat.v2.initializers.ones",
    "compat.v2.keras.initializers.Ones", "compat.v2.keras.initializers.ones", "python.ops.init_ops_v2.Ones",
)  # fmt: skip
class Ones(Initializer, first.Ones):
    """Ones, or True."""

    def __init__(self):
        super().__init__()

    @staticmethod
    def _check(dtype):
        if not dtype.is_numpy_compatible or dtype == dtypes.string:
            raise ValueError(f"Expected numeric or boolean dtype, got {dtype}.")


@public(
    "compat.v2.constant_initializer", "compat.v2.initializers.Constant", "compat.v2.initializers.constant",
    "compat.v2.keras.initializers.Constant", "compat.v2.keras.initializers.constant",
    "python.ops.init_ops_v2.Constant",
)  # fmt: skip
class Constant(Initializer, first.Constant):
    """A given number, or values that have the shape asked for. Raises TypeError for other types of values."""

    def __init__(self, value=0):
        super().__init__(value)

    def __call__(self, shape, dtype=None):
        """The tensor. Raises ValueError and TypeError for values of another shape."""
        from stillflow.compat_v2.building import constant

        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        return constant(self.value, dtype=dtype, shape=shape)


@public(
    "compat.v2.random_uniform_initializer", "compat.v2.initializers.RandomUniform",
    "compat.v2.keras.initializers.RandomUniform", "python.ops.init_ops_v2.RandomUniform",
)  # fmt: skip
class RandomUniform(Initializer, first.RandomUniform):
    """Numbers in [minval, maxval), all equally likely."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        super().__init__(minval, maxval, seed)

    @staticmethod
    def _check(dtype):
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Expected float or integer dtype, got {dtype}.")


@public(
    "compat.v2.random_normal_initializer", "compat.v2.initializers.RandomNormal",
    "compat.v2.keras.initializers.RandomNormal", "python.ops.init_ops_v2.RandomNormal",
)  # fmt: skip
class RandomNormal(Initializer, first.RandomNormal):
    """Normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean, stddev, seed)


@public(
    "compat.v2.initializers.TruncatedNormal", "compat.v2.keras.initializers.TruncatedNormal",
    "python.ops.init_ops_v2.TruncatedNormal",
)  # fmt: skip
class TruncatedNormal(Initializer, first.TruncatedNormal):
    """Normally distributed numbers, drawn again where they are two standard deviations away or more."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        super().__init__(mean, stddev, seed)


@public(
    "compat.v2.initializers.VarianceScaling", "compat.v2.keras.initializers.VarianceScaling",
    "python.ops.init_ops_v2.VarianceScaling",
)  # fmt: skip
class VarianceScaling(Initializer, first.VarianceScaling):
    """Random numbers whose variance is `scale` / n: see tf.variance_scaling_initializer."""

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None):
        super().__init__(scale, mode, distribution, seed)


@public(
    "compat.v2.initializers.Orthogonal", "compat.v2.initializers.orthogonal",
    "compat.v2.keras.initializers.Orthogonal", "compat.v2.keras.initializers.orthogonal",
    "python.ops.init_ops_v2.Orthogonal",
)  # fmt: skip
class Orthogonal(Initializer, first.Orthogonal):
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain`."""

    def __init__(self, gain=1.0, seed=None):
        super().__init__(gain, seed)


@public(
    "compat.v2.initializers.Identity", "compat.v2.initializers.identity", "compat.v2.keras.initializers.Identity",
    "compat.v2.keras.initializers.identity", "python.ops.init_ops_v2.Identity",
)  # fmt: skip
class Identity(Initializer, first.Identity):
    """The identity matrix times `gain`; for matrices only."""

    def __init__(self, gain=1.0):
        super().__init__(gain)


@public(
    "compat.v2.initializers.GlorotUniform", "compat.v2.initializers.glorot_uniform",
    "compat.v2.keras.initializers.GlorotUniform", "compat.v2.keras.initializers.glorot_uniform",
    "python.ops.init_ops_v2.GlorotUniform", "python.ops.init_ops_v2.glorot_uniform",
)  # fmt: skip
class GlorotUniform(Initializer, first.GlorotUniform):
    """Uniform numbers with a variance of 2 / (inputs + outputs), after Glorot and Bengio."""

    def __init__(self, seed=None):
        super().__init__(seed)


@public(
    "compat.v2.initializers.GlorotNormal", "compat.v2.initializers.glorot_normal",
    "compat.v2.keras.initializers.GlorotNormal", "compat.v2.keras.initializers.glorot_normal",
    "python.ops.init_ops_v2.GlorotNormal", "python.ops.init_ops_v2.glorot_normal",
)  # fmt: skip
class GlorotNormal(Initializer, first.GlorotNormal):
    """Normal numbers with a variance of 2 / (inputs + outputs), after Glorot and Bengio."""

    def __init__(self, seed=None):
        super().__init__(seed)


@public("compat.v2.initializers.lecun_normal", "compat.v2.keras.initializers.lecun_normal")
def lecun_normal(seed=None):
    """Normal numbers with a variance of 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@public("compat.v2.initializers.lecun_uniform", "compat.v2.keras.initializers.lecun_uniform")
def lecun_uniform(seed=None):
    """Uniform numbers with a variance of 1 / inputs."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@public("compat.v2.initializers.he_normal", "compat.v2.keras.initializers.he_normal")
def he_normal(seed=None):
    """Normal numbers with a variance of 2 / inputs, after He et al."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@public("compat.v2.initializers.he_uniform", "compat.v2.keras.initializers.he_uniform")
def he_uniform(seed=None):
    """Uniform numbers with a variance of 2 / inputs, after He et al."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)
