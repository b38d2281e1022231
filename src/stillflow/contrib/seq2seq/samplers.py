"""Sampler: what feeds a BasicDecoderV2. Samplers are made without tensors, which `initialize` takes."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.contrib.seq2seq.helpers import check_tensor, unstacked
from stillflow.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from stillflow.contrib.seq2seq.scheduled_inputs import checked_probability, some_ids, with_embeddings, with_outputs
from stillflow.graph import dtypes, nest
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import transpose_batch_time


@public("contrib.seq2seq.python.ops.sampler.Sampler")
class Sampler(metaclass=abc.ABCMeta):
    """Samples from a decoder's outputs, and says what its next inputs are."""

    @abc.abstractmethod
    def initialize(self, inputs, **kwargs):
        """(finished, bool [batch]; first inputs)."""

    @abc.abstractmethod
    def sample(self, time, outputs, state):
        """What is sampled from outputs."""

    @abc.abstractmethod
    def next_inputs(self, time, outputs, state, sample_ids):
        """(finished, next inputs, next state)."""

    @property
    @abc.abstractmethod
    def batch_size(self):
        """The number of sequences, an int32 scalar. Raises ValueError before `initialize`."""
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


class _Sized(Sampler):
    """What is sampled has a shape and a type that are known; by default int32 ids, one for each sequence."""

    def __init__(self, sample_ids_shape=(), sample_ids_dtype=dtypes.int32):
        self._batch_size = None
        self._sample_ids_shape = TensorShape(sample_ids_shape)
        self._sample_ids_dtype = sample_ids_dtype

    @property
    def batch_size(self):
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self):
        return self._sample_ids_dtype


@public("contrib.seq2seq.python.ops.sampler.CustomSampler")
class CustomSampler(_Sized):
    """A sampler that is made of three functions.

    Args:
      initialize_fn: a function of what `initialize` is called with; returns (finished, first inputs).
      sample_fn: a function of `time`, `outputs` and `state`; returns what is sampled.
      next_inputs_fn: a function of `time`, `outputs`, `state` and `sample_ids`; returns (finished, next inputs, next
        state).
      sample_ids_shape: the shape of what is sampled, without the batch; scalar by default.
      sample_ids_dtype: its type; int32 by default.
    """

    def __init__(self, initialize_fn, sample_fn, next_inputs_fn, sample_ids_shape=None, sample_ids_dtype=None):
        super().__init__(sample_ids_shape or [], sample_ids_dtype or dtypes.int32)
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn

    def initialize(self, inputs, **kwargs):
        finished, next_inputs = self._initialize_fn(inputs, **kwargs)
        if self._batch_size is None:
            self._batch_size = ops.size(finished)
        return finished, next_inputs

    def sample(self, time, outputs, state):
        return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(self, time, outputs, state, sample_ids):
        return self._next_inputs_fn(time=time, outputs=outputs, state=state, sample_ids=sample_ids)


@public("contrib.seq2seq.python.ops.sampler.TrainingSampler")
class TrainingSampler(_Sized):
    """Feeds inputs that are given; what is sampled is the likeliest symbol.

    `initialize` takes inputs [batch, time, ...], and sequence_length, int32 [batch]; it raises ValueError if that is
    missing or no vector.

    Args:
      time_major: whether inputs are [time, batch, ...].
    """

    def __init__(self, time_major=False):
        super().__init__()
        self.time_major = time_major

    def initialize(self, inputs, sequence_length=None):
        self.inputs = convert_to_tensor(inputs, name="inputs")
        if not self.time_major:
            inputs = nest.map_structure(transpose_batch_time, inputs)
        self.input_tas = nest.map_structure(unstacked, inputs)
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")
        self.sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
        if self.sequence_length.shape.ndims != 1:
            raise ValueError(
                f"Expected sequence_length to be a vector, but received shape: {self.sequence_length.shape}"
            )
        self.zero_inputs = nest.map_structure(lambda part: ops.zeros_like(part[0, :]), inputs)
        self._batch_size = ops.size(self.sequence_length)
        finished = ops.equal(0, self.sequence_length)
        return finished, self._read(0, ops.reduce_all(finished))

    def _read(self, time, all_finished):
        return cond(
            all_finished, lambda: self.zero_inputs,
            lambda: nest.map_structure(lambda array: array.read(time), self.input_tas),
        )  # fmt: skip

    def sample(self, time, outputs, state):
        return ops.cast(ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        next_time = time + 1
        finished = next_time >= self.sequence_length
        return finished, self._read(next_time, ops.reduce_all(finished)), state


def _check_embedding_fn(embedding_fn, article):
    if embedding_fn is not None and not callable(embedding_fn):
        raise ValueError(f"embedding_fn is expected to be {article}callable, got {type(embedding_fn)}")


@public("contrib.seq2seq.python.ops.sampler.ScheduledEmbeddingTrainingSampler")
class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """A TrainingSampler that feeds, at random, embeddings of symbols drawn from outputs instead of what is given.

    `initialize` also takes `embedding`, a table to look ids up in, unless there is a function.

    Args:
      sampling_probability: a float scalar, or a vector [batch].
      embedding_fn: a function of ids, or None.
      time_major: see TrainingSampler.
      seed: an integer, for symbols.
      scheduling_seed: an integer, for whether they are fed.

    What is sampled is -1 where what is given will be fed. Raises ValueError for a probability of another rank, and
    for what cannot be called.
    """

    def __init__(self, sampling_probability, embedding_fn=None, time_major=False, seed=None, scheduling_seed=None):
        _check_embedding_fn(embedding_fn, "")
        self.embedding_fn = embedding_fn
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.scheduling_seed = scheduling_seed
        super().__init__(time_major=time_major)

    def initialize(self, inputs, sequence_length=None, embedding=None):
        if self.embedding_fn is None:
            if embedding is None:
                raise ValueError("embedding is required as a keyword argument for ScheduledEmbeddingTrainingSampler")
            self.embedding_fn = lambda ids: embedding_lookup(embedding, ids)
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time, outputs, state):
        return some_ids(outputs, self.sampling_probability, self.batch_size, self.seed, self.scheduling_seed)

    def next_inputs(self, time, outputs, state, sample_ids):
        finished, base_inputs, state = super().next_inputs(time, outputs, state, sample_ids)
        return finished, with_embeddings(self.embedding_fn, sample_ids, finished, base_inputs), state


@public("contrib.seq2seq.python.ops.sampler.ScheduledOutputTrainingSampler")
class ScheduledOutputTrainingSampler(TrainingSampler):
    """A TrainingSampler that feeds, at random, outputs instead of what is given.

    `initialize` also takes auxiliary_inputs, [batch, time, ...], by which every input is followed, or None.

    Args:
      sampling_probability: a float scalar, or a vector [batch].
      time_major: see TrainingSampler.
      seed: an integer.
      next_inputs_fn: a function of outputs that makes inputs of them; by default they are the same.

    What is sampled is 1 where the output will be fed, else 0. Raises ValueError for a probability of another rank.
    """

    def __init__(self, sampling_probability, time_major=False, seed=None, next_inputs_fn=None):
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.next_inputs_fn = next_inputs_fn
        super().__init__(time_major=time_major)

    def initialize(self, inputs, sequence_length=None, auxiliary_inputs=None):
        self._auxiliary_array = None
        if auxiliary_inputs is not None:
            auxiliary_inputs = convert_to_tensor(auxiliary_inputs)
            inputs = ops.concat((convert_to_tensor(inputs), auxiliary_inputs), -1)
            if not self.time_major:
                auxiliary_inputs = transpose_batch_time(auxiliary_inputs)
            self._auxiliary_array = unstacked(auxiliary_inputs)
        return super().initialize(inputs, sequence_length=sequence_length)

    def sample(self, time, outputs, state):
        return bernoulli_sample(self.sampling_probability, sample_shape=self.batch_size, seed=self.seed)

    def next_inputs(self, time, outputs, state, sample_ids):
        finished, base_inputs, state = super().next_inputs(time, outputs, state, sample_ids)
        next_inputs = with_outputs(
            self.next_inputs_fn, self._auxiliary_array, time, outputs, sample_ids, finished, base_inputs
        )
        return finished, next_inputs, state


@public("contrib.seq2seq.python.ops.sampler.GreedyEmbeddingSampler")
class GreedyEmbeddingSampler(_Sized):
    """Feeds the embedding of the likeliest symbol, until that is the end.

    `initialize` takes a table to look ids up in, unless there is a function; start_tokens, int32 [batch]; end_token,
    an int32 scalar. It raises ValueError for tokens of another rank.

    Args:
      embedding_fn: a function of ids, or None.

    Raises ValueError for what cannot be called.
    """

    def __init__(self, embedding_fn=None):
        _check_embedding_fn(embedding_fn, "a ")
        super().__init__()
        self.embedding_fn = embedding_fn

    def initialize(self, embedding, start_tokens=None, end_token=None):
        if self.embedding_fn is None:
            self.embedding_fn = lambda ids: embedding_lookup(embedding, ids)
        self.start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self.end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self.start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = ops.size(start_tokens)
        if self.end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self.start_inputs = self.embedding_fn(self.start_tokens)
        return ops.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time, outputs, state):
        check_tensor(outputs)
        return ops.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids):
        finished = ops.equal(sample_ids, self.end_token)
        next_inputs = cond(ops.reduce_all(finished), lambda: self.start_inputs, lambda: self.embedding_fn(sample_ids))
        return finished, next_inputs, state


@public("contrib.seq2seq.python.ops.sampler.SampleEmbeddingSampler")
class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """Feeds the embedding of a symbol that is drawn, with outputs as logits.

    Args:
      embedding_fn: see GreedyEmbeddingSampler.
      softmax_temperature: a number or scalar that logits are divided by; None for 1.
      seed: an integer.
    """

    def __init__(self, embedding_fn=None, softmax_temperature=None, seed=None):
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def sample(self, time, outputs, state):
        check_tensor(outputs)
        logits = outputs if self.softmax_temperature is None else outputs / self.softmax_temperature
        return categorical_sample(logits, seed=self.seed)


@public("contrib.seq2seq.python.ops.sampler.InferenceSampler")
class InferenceSampler(_Sized):
    """What is sampled is the next input. `initialize` takes the first one.

    Args:
      sample_fn: a function of outputs that returns what is sampled.
      sample_shape: the shape of that, without the batch.
      sample_dtype: its type.
      end_fn: a function of what is sampled that returns finished, bool [batch].
      next_inputs_fn: a function of what is sampled that returns the next inputs; by default they are the same.
    """

    def __init__(self, sample_fn, sample_shape, sample_dtype, end_fn, next_inputs_fn=None):
        super().__init__(sample_shape, sample_dtype)
        self.sample_fn = sample_fn
        self.end_fn = end_fn
        self.next_inputs_fn = next_inputs_fn

    def initialize(self, start_inputs):
        self.start_inputs = convert_to_tensor(start_inputs, name="start_inputs")
        self._batch_size = ops.shape(start_inputs)[0]
        return ops.tile([False], [self._batch_size]), self.start_inputs

    def sample(self, time, outputs, state):
        return self.sample_fn(outputs)

    def next_inputs(self, time, outputs, state, sample_ids):
        next_inputs = sample_ids if self.next_inputs_fn is None else self.next_inputs_fn(sample_ids)
        return self.end_fn(sample_ids), next_inputs, state
