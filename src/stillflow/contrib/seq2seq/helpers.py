"""Helpers that feed what is given, for training, and helpers that feed embeddings of what is sampled."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.contrib.seq2seq.helper_base import Helper
from stillflow.contrib.seq2seq.sampling import categorical_sample
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import transpose_batch_time


def unstacked(values):
    """A TensorArray of the parts of a tensor along its first axis."""
    array = TensorArray(values.dtype, size=ops.shape(values)[0], element_shape=values.shape[1:])
    return array.unstack(values)


def embedding_function(embedding):
    """What looks ids up: a function itself, or tf.nn.embedding_lookup in a tensor."""
    return embedding if callable(embedding) else lambda ids: embedding_lookup(embedding, ids)


class _Ids(Helper):
    """What is sampled are int32 ids, one for each sequence."""

    _batch_size: Tensor

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def sample_ids_shape(self):
        return TensorShape([])

    @property
    def sample_ids_dtype(self):
        return dtypes.int32


@public("contrib.seq2seq.TrainingHelper")
class TrainingHelper(_Ids):
    """Feeds inputs that are given; what is sampled is the likeliest symbol.

    Args:
      inputs: [batch, time, ...].
      sequence_length: int32 [batch].
      time_major: whether inputs are [time, batch, ...].
      name: the scope of the new nodes.

    Raises ValueError if `sequence_length` is no vector.
    """

    def __init__(self, inputs, sequence_length, time_major=False, name=None):
        with name_scope(name, "TrainingHelper", [inputs, sequence_length]):
            inputs = convert_to_tensor(inputs, name="inputs")
            self._inputs = inputs
            if not time_major:
                inputs = transpose_batch_time(inputs)
            self._input_array = unstacked(inputs)
            self._sequence_length = convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.shape.ndims != 1:
                raise ValueError(
                    f"Expected sequence_length to be a vector, but received shape: {self._sequence_length.shape}"
                )
            self._zero_inputs = ops.zeros_like(inputs[0, :])
            self._batch_size = ops.size(sequence_length)

    @property
    def inputs(self):
        return self._inputs

    @property
    def sequence_length(self):
        return self._sequence_length

    def initialize(self, name=None):
        with name_scope(name, "TrainingHelperInitialize"):
            finished = ops.equal(0, self._sequence_length)
            return finished, self._read(0, ops.reduce_all(finished))

    def _read(self, time, all_finished):
        return cond(all_finished, lambda: self._zero_inputs, lambda: self._input_array.read(time))

    def sample(self, time, outputs, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperSample", [time, outputs]):
            return ops.cast(ops.argmax(outputs, axis=-1), dtypes.int32)

    def next_inputs(self, time, outputs, state, name=None, **unused_kwargs):
        with name_scope(name, "TrainingHelperNextInputs", [time, outputs, state]):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._read(next_time, ops.reduce_all(finished)), state


def check_tensor(outputs):
    """Raises TypeError for outputs that are no tensor."""
    if not isinstance(outputs, Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


@public("contrib.seq2seq.GreedyEmbeddingHelper")
class GreedyEmbeddingHelper(_Ids):
    """Feeds the embedding of the likeliest symbol, until that is the end.

    Args:
      embedding: a function of ids, or what tf.nn.embedding_lookup looks them up in.
      start_tokens: int32 [batch], the first symbols.
      end_token: an int32 scalar, the symbol that ends a sequence.

    Raises ValueError for tokens of another rank.
    """

    def __init__(self, embedding, start_tokens, end_token):
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = convert_to_tensor(start_tokens, dtype=dtypes.int32, name="start_tokens")
        self._end_token = convert_to_tensor(end_token, dtype=dtypes.int32, name="end_token")
        if self._start_tokens.shape.ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = ops.size(start_tokens)
        if self._end_token.shape.ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    def initialize(self, name=None):
        return ops.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time, outputs, state, name=None):
        check_tensor(outputs)
        return ops.argmax(outputs, axis=-1, output_type=dtypes.int32)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        finished = ops.equal(sample_ids, self._end_token)
        next_inputs = cond(
            ops.reduce_all(finished), lambda: self._start_inputs, lambda: self._embedding_fn(sample_ids)
        )
        return finished, next_inputs, state


@public("contrib.seq2seq.SampleEmbeddingHelper")
class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Feeds the embedding of a symbol that is drawn, with outputs as logits.

    Args:
      embedding, start_tokens, end_token: see GreedyEmbeddingHelper.
      softmax_temperature: a number or scalar that logits are divided by; None for 1.
      seed: an integer.

    Raises ValueError for tokens of another rank.
    """

    def __init__(self, embedding, start_tokens, end_token, softmax_temperature=None, seed=None):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time, outputs, state, name=None):
        check_tensor(outputs)
        logits = outputs if self._softmax_temperature is None else outputs / self._softmax_temperature
        return categorical_sample(logits, seed=self._seed)
