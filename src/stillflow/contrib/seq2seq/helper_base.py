"""Helper: what feeds a BasicDecoder; and helpers that are made of functions."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.seq2seq.Helper")
class Helper(metaclass=abc.ABCMeta):
    """Samples from a decoder's outputs, and says what its next inputs are."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The number of sequences, an int32 scalar."""
        raise NotImplementedError("batch_size has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_shape(self):
        """The shape of what is sampled, without the batch."""
        raise NotImplementedError("sample_ids_shape has not been implemented")

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self):
        """The type of what is sampled."""
        raise NotImplementedError("sample_ids_dtype has not been implemented")

    @abc.abstractmethod
    def initialize(self, name=None):
        """(finished, bool [batch]; first inputs)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state, name=None):
        """What is sampled from outputs."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        """(finished, next inputs, next state)."""


@public("contrib.seq2seq.CustomHelper")
class CustomHelper(Helper):
    """A helper that is made of three functions.

    Args:
      initialize_fn: returns (finished, first inputs).
      sample_fn: a function of `time`, `outputs` and `state`; returns what is sampled.
      next_inputs_fn: a function of `time`, `outputs`, `state` and `sample_ids`; returns (finished, next inputs, next
        state).
      sample_ids_shape: the shape of what is sampled, without the batch; scalar by default.
      sample_ids_dtype: its type; int32 by default.
    """

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or dtypes.int32

    @property
    def batch_size(self):
        """The number of sequences. Raises ValueError before `initialize`."""
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_ids_dtype

    def initialize(self, name=None):
        with name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = ops.size(finished)
        return finished, next_inputs

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, f"{type(self).__name__}Sample", (time, outputs, state)):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, f"{type(self).__name__}NextInputs", (time, outputs, state)):
            return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


@public("contrib.seq2seq.InferenceHelper")
class InferenceHelper(Helper):
    """What is sampled is the next input.

    Args:
      sample_fn: a function of outputs that returns what is sampled.
      sample_shape: the shape of that, without the batch.
      sample_dtype: its type.
      start_inputs: the first inputs.
      end_fn: a function of what is sampled that returns finished, bool [batch].
      next_inputs_fn: a function of what is sampled that returns the next inputs; by default they are the same.
    """

    def __init__(self, sample_fn, sample_shape, sample_dtype, start_inputs, end_fn, next_inputs_fn=None):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = ops.shape(start_inputs)[0]
        self._start_inputs = convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_dtype

    def initialize(self, name=None):
        return ops.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        return self._sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        next_inputs = sample_ids if self._next_inputs_fn is None else self._next_inputs_fn(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
