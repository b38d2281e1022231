"""`tf.random.experimental.Generator`: a random stream whose position is a variable of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.tracking.structures import AutoTrackable
from stillflow.variables.resource_variable import ResourceVariable

PHILOX = 1
THREEFRY = 2
_STATE_SIZES = {PHILOX: 3, THREEFRY: 2}
_WORD = 2**64


def _state_size(algorithm):
    if algorithm not in _STATE_SIZES:
        raise ValueError(f"Unsupported algorithm id: {algorithm}")
    return _STATE_SIZES[algorithm]


def _signed(value):
    """The int64 with the bits of a number below 2^64."""
    return value - _WORD if value >= _WORD // 2 else value


@public("random.experimental.create_rng_state")
def create_rng_state(seed, algorithm):
    """The state that a seed stands for.

    Args:
      seed: an integer, of which each 64 bits become an element, the lowest first; or a vector of integers, which is
        cut, or filled up with zeros on its left.
      algorithm: 1 for Philox, 2 for ThreeFry.

    Returns:
      An int64 array: [3] for Philox (the counter's lower and upper half, the key), [2] for ThreeFry.

    Raises:
      ValueError: if there is no such algorithm, or the seed is no vector.
    """
    size = _state_size(algorithm)
    if isinstance(seed, (int, np.integer)):
        seed = [int(seed) >> 64 * index & _WORD - 1 for index in range(size)]
    seed = np.asarray(seed, object)
    if seed.ndim != 1:
        raise ValueError(f"seed should only have one dimension; got shape: {seed.shape}")
    words = [_signed(int(value)) for value in seed[:size]]
    return np.array([0] * (size - len(words)) + words, np.int64)


def _state_tensor(value):
    if isinstance(value, list):
        value = [_signed(item) for item in value]
    return convert_to_tensor(value, dtypes.int64)


def _shape_tensor(shape):
    is_empty = isinstance(shape, (tuple, list)) and not shape
    return convert_to_tensor(shape, dtypes.int64 if is_empty else None, "shape")


def _state_of(key, counter, algorithm):
    counter, key = _state_tensor(counter), _state_tensor(key)
    counter.shape.assert_is_compatible_with([_state_size(algorithm) - 1])
    key.shape.assert_is_compatible_with([])
    return ops.concat([counter, ops.reshape(key, [1])], 0)


def _stddev_and_mean(mean, stddev):
    return stddev, mean


def _width_and_minimum(minval, maxval):
    return maxval - minval, minval


@public("random.experimental.Generator")
class Generator(AutoTrackable):
    """A source of random numbers whose state is a variable: [counter's lower half, upper half, key] for Philox.

    The variable is initialized, saved and restored as others are. What is drawn moves the counter on when it runs;
    draws of one run that shall be in order need control dependencies.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        """Makes a generator from another one, whose state it copies when it is initialized, or from a state.

        Args:
          copy_from: a Generator.
          state: int64 [3] for Philox.
          alg: 1, Philox. ThreeFry, 2, has states and no numbers, as in TensorFlow on CPUs.

        Raises:
          ValueError: for an unknown algorithm or a state of another size.
        """
        if copy_from is not None:
            assert alg is None and state is None
            initial, alg = copy_from.state, copy_from.algorithm
        else:
            assert alg is not None and state is not None
            initial = _state_tensor(state)
            initial.shape.assert_is_compatible_with([_state_size(alg)])
        self._state_var = ResourceVariable(initial, dtype=dtypes.int64, trainable=False)
        self._alg_var = alg

    @classmethod
    def from_state(cls, state, alg):
        """A generator that starts from a state; see `__init__`."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator that starts from `create_rng_state(seed, alg)`, by default for Philox."""
        alg = PHILOX if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator that starts from numbers of the operating system."""
        alg = PHILOX if alg is None else alg
        return cls(state=ops.non_deterministic_ints([_state_size(alg)], dtype=dtypes.int64), alg=alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator that starts from an int64 scalar and an int64 vector, [2] for Philox."""
        return cls(state=_state_of(key, counter, alg), alg=alg)

    @property
    def state(self) -> Any:
        """The variable."""
        return self._state_var

    @property
    def algorithm(self):
        """1, Philox, or 2, ThreeFry."""
        return self._alg_var

    @property
    def key(self):
        """The state's last element, an int64 scalar."""
        return self.state[-1]

    def reset(self, state):
        """Adds an assignment of another state to the graph."""
        state = _state_tensor(state)
        state.shape.assert_is_compatible_with([_state_size(self.algorithm)])
        self._state_var.assign(state)

    def reset_from_seed(self, seed):
        """Adds an assignment of `create_rng_state(seed, algorithm)` to the graph."""
        self._state_var.assign(create_rng_state(seed, self.algorithm))

    def reset_from_key_counter(self, key, counter):
        """Adds an assignment of another key and counter to the graph."""
        self._state_var.assign(_state_of(key, counter, self.algorithm))

    def skip(self, delta):
        """Adds a node to the graph that moves the counter on by as much as drawing `delta` numbers does."""
        ops.rng_skip(self.state.handle, self.algorithm, delta)

    def _scaled(self, op, name, default_name, shape, dtype, parameters, scale_and_offset):
        """numbers * scale + offset; `parameters` are (values, their names)."""
        with name_scope(name, default_name, [shape, *parameters[0]]) as scope:
            shape = _shape_tensor(shape)
            first, second = (convert_to_tensor(v, dtype, n) for v, n in zip(*parameters, strict=True))
            numbers = op(self.state.handle, self.algorithm, shape, dtype=dtype)
            scale, offset = scale_and_offset(first, second)
            return ops.add(numbers * scale, offset, name=scope)

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """How often something happens in so many trials.

        Args:
          shape: an integer vector.
          counts: the numbers of trials, a floating-point scalar or one for each index of the first dimension.
          probs: how probable it is in each, of the type and one of the shapes of `counts`.
          dtype: a floating-point type, int32 or int64.
        """
        dtype = dtypes.as_dtype(dtype)
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts = convert_to_tensor(counts, name="counts")
            probs = convert_to_tensor(probs, name="probs")
            return ops.stateful_random_binomial(
                self.state.handle, self.algorithm, _shape_tensor(shape), counts, probs, dtype=dtype, name=scope
            )

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normally distributed numbers of a floating-point type; mean and stddev are scalars of it."""
        parameters = (mean, stddev), ("mean", "stddev")
        op = ops.stateful_standard_normal_v2
        return self._scaled(op, name, "stateful_normal", shape, dtype, parameters, _stddev_and_mean)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """`normal` with numbers two standard deviations from the mean or more drawn again."""
        parameters = (mean, stddev), ("mean", "stddev")
        op = ops.stateful_truncated_normal
        return self._scaled(op, name, "truncated_normal", shape, dtype, parameters, _stddev_and_mean)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Numbers in [minval, maxval), all equally likely.

        Args:
          shape: an integer vector.
          minval: a scalar of `dtype`.
          maxval: a scalar above it; 1 by default, to be given for integers.
          dtype: a floating-point type, int32, int64, uint32 or uint64.

        Raises:
          ValueError: if an integer type comes without maxval.
        """
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        parameters = (minval, maxval), ("min", "max")
        if not dtype.is_integer:
            op = ops.stateful_uniform
            return self._scaled(op, name, "stateful_uniform", shape, dtype, parameters, _width_and_minimum)
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            shape = _shape_tensor(shape)
            low, high = (convert_to_tensor(v, dtype, n) for v, n in zip(*parameters, strict=True))
            return ops.stateful_uniform_int(self.state.handle, self.algorithm, shape, low, high, name=scope)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Integers of which all that int32, int64, uint32 or uint64 can hold are equally likely."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            shape = _shape_tensor(shape)
            return ops.stateful_uniform_full_int(self.state.handle, self.algorithm, shape, dtype=dtype, name=scope)

    def make_seeds(self, count=1):
        """`count` seeds for stateless ops: int64 [2, count], a seed being a column."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return ops.pack([keys, ops.zeros_like(keys)], name="stack")


_global_generator: Generator | None = None


@public("random.experimental.get_global_generator")
def get_global_generator():
    """The program's own generator; made from numbers of the operating system if there is none yet."""
    global _global_generator
    if _global_generator is None:
        _global_generator = Generator.from_non_deterministic_state()
    return _global_generator


@public("random.experimental.set_global_generator")
def set_global_generator(generator):
    """Makes a generator the program's own."""
    global _global_generator
    _global_generator = generator
