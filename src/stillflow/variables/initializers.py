"""Initializers: callables that make the initial values of variables from their shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.random import sampling

# The standard deviation of a normal distribution that is cut off at two.
_TRUNCATED_DEVIATION = 0.87962566103423978


@public("keras.initializers.Initializer")
class Initializer:
    """initializer(shape, dtype=None, partition_info=None) is a tensor of that shape.

    `partition_info` says which part of a larger variable it is for. `get_config` and `from_config` turn an
    initializer into a plain dictionary and back.
    """

    dtype = dtypes.float32  # of values, where a call names none
    _numbers: Any = sampling  # where random numbers come from

    def __call__(self, shape, dtype=None, partition_info=None):
        raise NotImplementedError

    def get_config(self):
        return {}

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def _dtype_or(self, dtype):
        return self.dtype if dtype is None else dtype


def _floating(dtype):
    dtype = dtypes.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError(f"Expected floating point type, got {dtype}.")
    return dtype


@public("zeros_initializer", "initializers.zeros", "keras.initializers.Zeros", "keras.initializers.zeros")
class Zeros(Initializer):
    """Zeros, False, or empty strings.

    Args:
      dtype: the type, for calls that name none.
    """

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        return ops.zeros(shape, self._dtype_or(dtype))

    def get_config(self):
        return {"dtype": self.dtype.name}


@public("ones_initializer", "initializers.ones", "keras.initializers.Ones", "keras.initializers.ones")
class Ones(Initializer):
    """Ones, or True.

    Args:
      dtype: the type, for calls that name none.
    """

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        return ops.ones(shape, self._dtype_or(dtype))

    def get_config(self):
        return {"dtype": self.dtype.name}


@public("constant_initializer", "initializers.constant", "keras.initializers.Constant", "keras.initializers.constant")
class Constant(Initializer):
    """A given value, or given values.

    Args:
      value: a number, or a list, tuple or array of numbers, in row-major order; the last one fills up the shape.
      dtype: the type, for calls that name none.
      verify_shape: whether `value` must have exactly the shape that is asked for.

    Raises:
      TypeError: for another value; when called, for another shape if that is verified.
      ValueError: when called, for more values than the shape holds.
    """

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)} (expected Python scalar, list or tuple of values, "
                "or numpy.ndarray)."
            )
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        verify_shape = self._verify_shape if verify_shape is None else verify_shape
        return ops.constant(self.value, self._dtype_or(dtype), shape, verify_shape=verify_shape)

    def get_config(self):
        return {"value": self.value, "dtype": self.dtype.name}


@public("random_uniform_initializer", "initializers.random_uniform")
class RandomUniform(Initializer):
    """Numbers in [minval, maxval), all equally likely.

    Args:
      minval: the lowest number.
      maxval: above all numbers; 1 by default, to be given for integers.
      seed: an integer; see tf.set_random_seed.
      dtype: the type, for calls that name none.
    """

    def __init__(self, minval=0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval = minval
        self.maxval = maxval
        self.seed = seed
        self.dtype = dtypes.as_dtype(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        return self._numbers.random_uniform(shape, self.minval, self.maxval, self._dtype_or(dtype), seed=self.seed)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed, "dtype": self.dtype.name}


@public("random_normal_initializer", "initializers.random_normal")
class RandomNormal(Initializer):
    """Normally distributed numbers.

    Args:
      mean, stddev: numbers or scalar tensors.
      seed: an integer; see tf.set_random_seed.
      dtype: a floating-point type, for calls that name none.

    Raises:
      ValueError: for another type.
    """

    _distribution = "random_normal"

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean = mean
        self.stddev = stddev
        self.seed = seed
        self.dtype = _floating(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        draw = getattr(self._numbers, self._distribution)
        return draw(shape, self.mean, self.stddev, self._dtype_or(dtype), seed=self.seed)

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name}


@public("truncated_normal_initializer", "initializers.truncated_normal")
class TruncatedNormal(RandomNormal):
    """Normally distributed numbers, drawn again where they are two standard deviations away or more.

    Args:
      mean, stddev: numbers or scalar tensors, of the distribution before it is truncated.
      seed: an integer; see tf.set_random_seed.
      dtype: a floating-point type, for calls that name none.

    Raises:
      ValueError: for another type.
    """

    _distribution = "truncated_normal"


@public("uniform_unit_scaling_initializer", "initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Uniform numbers of a range that keeps the variance of a product with the variable at 1, times `factor`."""

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor = factor
        self.seed = seed
        self.dtype = _floating(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = shape if partition_info is None else partition_info.full_shape
        input_size = 1.0
        for size in whole[:-1]:
            input_size *= float(size)
        limit = math.sqrt(3 / max(input_size, 1.0)) * self.factor
        return self._numbers.random_uniform(shape, -limit, limit, self._dtype_or(dtype), seed=self.seed)

    def get_config(self):
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


@public("python.ops.init_ops._compute_fans", "python.ops.init_ops_v2._compute_fans")
def _fans(shape):
    """How many inputs and outputs a unit of a layer with weights of this shape has."""
    if len(shape) < 2:
        count = int(shape[0]) if shape else 1
        return count, count
    field = math.prod(int(size) for size in shape[:-2])
    return int(shape[-2]) * field, int(shape[-1]) * field


@public("variance_scaling_initializer", "initializers.variance_scaling", "keras.initializers.VarianceScaling")
class VarianceScaling(Initializer):
    """Random numbers whose variance is `scale` / n.

    Args:
      scale: a positive number.
      mode: what n is: "fan_in", the number of inputs, "fan_out", of outputs, or "fan_avg", their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
    """

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if scale <= 0.0:
            raise ValueError("`scale` must be positive float.")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError("Invalid `mode` argument:", mode)
        distribution = distribution.lower()
        if distribution not in ("normal", "uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError("Invalid `distribution` argument:", distribution)
        self.scale = scale
        self.mode = mode
        self.distribution = distribution
        self.seed = seed
        self.dtype = _floating(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        fan_in, fan_out = _fans(shape if partition_info is None else partition_info.full_shape)
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, count)
        dtype = self._dtype_or(dtype)
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(scale) / _TRUNCATED_DEVIATION
            return self._numbers.truncated_normal(shape, 0.0, stddev, dtype, seed=self.seed)
        if self.distribution == "untruncated_normal":
            return self._numbers.random_normal(shape, 0.0, math.sqrt(scale), dtype, seed=self.seed)
        limit = math.sqrt(3.0 * scale)
        return self._numbers.random_uniform(shape, -limit, limit, dtype, seed=self.seed)

    def get_config(self):
        return {
            "scale": self.scale, "mode": self.mode, "distribution": self.distribution, "seed": self.seed,
            "dtype": self.dtype.name,
        }  # fmt: skip


@public("glorot_uniform_initializer", "initializers.glorot_uniform", "keras.initializers.glorot_uniform")
class GlorotUniform(VarianceScaling):
    """Uniform numbers with a variance of 2 / (inputs + outputs), after Glorot and Bengio."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "uniform", seed)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


@public("glorot_normal_initializer", "initializers.glorot_normal", "keras.initializers.glorot_normal")
class GlorotNormal(VarianceScaling):
    """Normal numbers with a variance of 2 / (inputs + outputs), after Glorot and Bengio."""

    def __init__(self, seed=None, dtype=dtypes.float32):
        super().__init__(1.0, "fan_avg", "truncated_normal", seed)

    def get_config(self):
        return {"seed": self.seed, "dtype": self.dtype.name}


@public("initializers.identity", "keras.initializers.Identity", "keras.initializers.identity")
class Identity(Initializer):
    """The identity matrix times `gain`; for matrices only."""

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _floating(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        whole = shape if partition_info is None else partition_info.full_shape
        if len(whole) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        dtype = self._dtype_or(dtype)
        if partition_info is None:
            matrix = ops.eye(*_sizes(whole), dtype=dtype)
        else:
            matrix = ops.slice(ops.eye(*_sizes(whole), dtype=dtype), partition_info.var_offset, shape)
        return self.gain * matrix

    def get_config(self):
        return {"gain": self.gain, "dtype": self.dtype.name}


@public(
    "orthogonal_initializer",
    "initializers.orthogonal",
    "keras.initializers.Orthogonal",
    "keras.initializers.orthogonal",
)
class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain`.

    Of more than two dimensions all but the last are taken together as rows. Raises ValueError for fewer.
    """

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain = gain
        self.seed = seed
        self.dtype = _floating(dtype)

    dtype = dtypes.float32  # of values, where a call names none

    def __call__(self, shape, dtype=None, partition_info=None):
        if len(shape) < 2:
            raise ValueError("The tensor to initialize must be at least two-dimensional")
        *rows, columns = _sizes(shape)
        rows = math.prod(rows)
        is_wide = rows < columns
        flat = (columns, rows) if is_wide else (rows, columns)
        numbers = self._numbers.random_normal(flat, 0.0, 1.0, self._dtype_or(dtype), seed=self.seed)
        q, r = ops.qr_op(numbers, full_matrices=False)
        # The signs of r's diagonal are arbitrary; with them in q, all orthogonal matrices are equally likely.
        q = q * ops.sign(ops.diag_part(r))
        if is_wide:
            q = ops.matrix_transpose(q)
        return self.gain * ops.reshape(q, shape)

    def get_config(self):
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


def _sizes(shape):
    return [int(size) for size in shape]


@public("initializers.lecun_normal", "keras.initializers.lecun_normal")
def lecun_normal(seed=None):
    """Normal numbers with a variance of 1 / inputs, after LeCun."""
    return VarianceScaling(1.0, "fan_in", "truncated_normal", seed)


@public("initializers.lecun_uniform", "keras.initializers.lecun_uniform")
def lecun_uniform(seed=None):
    """Uniform numbers with a variance of 1 / inputs, after LeCun."""
    return VarianceScaling(1.0, "fan_in", "uniform", seed)


@public("initializers.he_normal", "keras.initializers.he_normal")
def he_normal(seed=None):
    """Normal numbers with a variance of 2 / inputs, after He and others; for rectified units."""
    return VarianceScaling(2.0, "fan_in", "truncated_normal", seed)


@public("initializers.he_uniform", "keras.initializers.he_uniform")
def he_uniform(seed=None):
    """Uniform numbers with a variance of 2 / inputs, after He and others; for rectified units."""
    return VarianceScaling(2.0, "fan_in", "uniform", seed)
