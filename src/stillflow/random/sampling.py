"""Random tensors with parameters: a random op and the arithmetic around it."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.shape_values import shape_tensor
from stillflow.random.seeds import get_seed

_UNIFORM_TYPES = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


def _uniform_bounds(maxval, dtype):
    """The type, and the upper bound or its default."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM_TYPES:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    return dtype, maxval


@public("random_uniform", "random.uniform")
def random_uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Random numbers in [minval, maxval), all equally likely.

    Args:
      shape: the shape of the result, an integer vector.
      minval: a scalar, the smallest number.
      maxval: a scalar, above all numbers; 1 by default, to be given for integers.
      dtype: float16, bfloat16, float32, float64, int32 or int64.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.
    """
    dtype, maxval = _uniform_bounds(maxval, dtype)
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype, "min")
        maxval = convert_to_tensor(maxval, dtype, "max")
        seed, seed2 = get_seed(seed)
        if dtype.is_integer:
            return ops.random_uniform_int(shape, minval, maxval, seed=seed, seed2=seed2, name=scope)
        numbers = ops.random_uniform(shape, dtype=dtype, seed=seed, seed2=seed2)
        return ops.add(numbers * (maxval - minval), minval, name=scope)


@public("contrib.stateless.stateless_random_uniform")
@public("random.stateless_uniform")
def stateless_random_uniform(shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None):
    """Like `uniform`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    dtype, maxval = _uniform_bounds(maxval, dtype)
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        minval = convert_to_tensor(minval, dtype, "min")
        maxval = convert_to_tensor(maxval, dtype, "max")
        if dtype.is_integer:
            return ops.stateless_random_uniform_int(shape, seed, minval, maxval, name=scope)
        numbers = ops.stateless_random_uniform_op(shape, seed, dtype=dtype)
        return ops.add(numbers * (maxval - minval), minval, name=scope)


def _normal(op, default_name):
    def normal(shape, mean, stddev, dtype, seed, name):
        with name_scope(name, default_name, [shape, mean, stddev]) as scope:
            shape = shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, "mean")
            stddev = convert_to_tensor(stddev, dtype, "stddev")
            seed, seed2 = get_seed(seed)
            numbers = getattr(ops, op)(shape, dtype=dtype, seed=seed, seed2=seed2)
            return ops.add(numbers * stddev, mean, name=scope)

    return normal


_random_normal = _normal("random_standard_normal", "random_normal")
_truncated_normal = _normal("truncated_normal", "truncated_normal")


@public("random_normal", "random.normal")
def random_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed random numbers.

    Args:
      shape: the shape of the result, an integer vector.
      mean: the mean, which may be of any shape that broadcasts.
      stddev: the standard deviation, likewise.
      dtype: a floating-point type.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.
    """
    return _random_normal(shape, mean, stddev, dtype, seed, name)


@public("truncated_normal", "random.truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed random numbers within two standard deviations of the mean.

    Numbers outside are drawn again; see `random_normal` for the arguments.
    """
    return _truncated_normal(shape, mean, stddev, dtype, seed, name)


@public("python.ops.random_ops.parameterized_truncated_normal")
def parameterized_truncated_normal(
    shape, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, dtype=dtypes.float32, seed=None, name=None
):
    """Normally distributed random numbers between bounds.

    Args:
      shape: the shape of the result, an integer vector.
      means, stddevs: the mean and standard deviation of the distribution: scalars, or vectors with an element for
        each row of the result.
      minvals, maxvals: the bounds, likewise.
      dtype: a floating-point type.
      seed: an integer; with it or a graph-level seed the numbers are the same in every session.
      name: the scope of the nodes.
    """
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]):
        shape = shape_tensor(shape)
        values = {"means": means, "stddevs": stddevs, "minvals": minvals, "maxvals": maxvals}
        tensors = [convert_to_tensor(value, dtype, name) for name, value in values.items()]
        seed1, seed2 = get_seed(seed)
        return ops.parameterized_truncated_normal_op(shape, *tensors, seed=seed1, seed2=seed2)


def _stateless_normal(op, default_name):
    def normal(shape, seed, mean, stddev, dtype, name):
        with name_scope(name, default_name, [shape, seed, mean, stddev]) as scope:
            shape = shape_tensor(shape)
            mean = convert_to_tensor(mean, dtype, "mean")
            stddev = convert_to_tensor(stddev, dtype, "stddev")
            numbers = getattr(ops, op)(shape, seed, dtype=dtype)
            return ops.add(numbers * stddev, mean, name=scope)

    return normal


_stateless_random_normal = _stateless_normal("stateless_random_normal_op", "stateless_random_normal")
_stateless_truncated_normal = _stateless_normal("stateless_truncated_normal_op", "stateless_truncated_normal")


@public("contrib.stateless.stateless_random_normal")
@public("random.stateless_normal")
def stateless_random_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Like `normal`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _stateless_random_normal(shape, seed, mean, stddev, dtype, name)


@public("contrib.stateless.stateless_truncated_normal")
@public("random.stateless_truncated_normal")
def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
    """Like `truncated_normal`, but the numbers follow from `seed` ([2], int32 or int64) alone, in every run."""
    return _stateless_truncated_normal(shape, seed, mean, stddev, dtype, name)
