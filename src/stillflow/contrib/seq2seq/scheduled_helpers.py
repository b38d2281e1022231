"""Scheduled sampling, https://arxiv.org/abs/1506.03099: some inputs are given, others come from the outputs."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.seq2seq.helpers import TrainingHelper, embedding_function, unstacked
from stillflow.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import transpose_batch_time


def _probability(value):
    probability = convert_to_tensor(value, name="sampling_probability")
    if probability.shape.ndims not in (0, 1):
        raise ValueError(f"sampling_probability must be either a scalar or a vector. saw shape: {probability.shape}")
    return probability


def _places(condition):
    return ops.cast(ops.where(condition), dtypes.int32)


def _mixed(chosen, others, values, base_inputs):
    """Inputs of which those at the places `chosen` are `values`, those at `others` what is given."""
    given = ops.gather_nd(base_inputs, others)
    values = values()
    shape = ops.shape(base_inputs)
    return ops.scatter_nd(indices=chosen, updates=values, shape=shape) + ops.scatter_nd(
        indices=others, updates=given, shape=shape
    )


@public("contrib.seq2seq.ScheduledEmbeddingTrainingHelper")
class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """A TrainingHelper that feeds, at random, embeddings of symbols drawn from outputs instead of what is given.

    Args:
      inputs, sequence_length, time_major: see TrainingHelper.
      embedding: a function of ids, or what tf.nn.embedding_lookup looks them up in.
      sampling_probability: a float scalar, or a vector [batch].
      seed: an integer, for symbols.
      scheduling_seed: an integer, for whether they are fed.
      name: the scope of the new nodes.

    What is sampled is -1 where what is given will be fed. Raises ValueError for a probability of another rank.
    """

    def __init__(
        self, inputs, sequence_length, embedding, sampling_probability, time_major=False, seed=None,
        scheduling_seed=None, name=None,
    ):  # fmt: skip
        with name_scope(name, "ScheduledEmbeddingSamplingWrapper", [embedding, sampling_probability]):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = _probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            is_chosen = bernoulli_sample(
                self._sampling_probability, dtype=dtypes.bool_, sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )  # fmt: skip
            ids = categorical_sample(outputs, seed=self._seed)
            return ops.where(is_chosen, ids, ops.fill([self.batch_size], -1))

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base_inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )

            def mixed():
                chosen, others = _places(sample_ids > -1), _places(sample_ids <= -1)
                ids = ops.gather_nd(sample_ids, chosen)
                return _mixed(chosen, others, lambda: self._embedding_fn(ids), base_inputs)

            return finished, cond(ops.reduce_all(finished), lambda: base_inputs, mixed), state


@public("contrib.seq2seq.ScheduledOutputTrainingHelper")
class ScheduledOutputTrainingHelper(TrainingHelper):
    """A TrainingHelper that feeds, at random, outputs instead of what is given.

    Args:
      inputs, sequence_length, time_major: see TrainingHelper.
      sampling_probability: a float scalar, or a vector [batch].
      seed: an integer.
      next_inputs_fn: a function of outputs that makes inputs of them; by default they are the same.
      auxiliary_inputs: what every input is followed by, [batch, time, ...], or None.
      name: the scope of the new nodes.

    What is sampled is 1 where the output will be fed, else 0. Raises ValueError for a probability of another rank.
    """

    def __init__(
        self, inputs, sequence_length, sampling_probability, time_major=False, seed=None, next_inputs_fn=None,
        auxiliary_inputs=None, name=None,
    ):  # fmt: skip
        with name_scope(name, "ScheduledOutputTrainingHelper", [inputs, auxiliary_inputs, sampling_probability]):
            self._sampling_probability = _probability(sampling_probability)
            self._auxiliary_array = None
            if auxiliary_inputs is not None:
                inputs = convert_to_tensor(inputs, name="inputs")
                auxiliary_inputs = convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = ops.concat((inputs, auxiliary_inputs), -1)
                if not time_major:
                    auxiliary_inputs = transpose_batch_time(auxiliary_inputs)
                self._auxiliary_array = unstacked(auxiliary_inputs)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperSample", [time, outputs, state]):
            return bernoulli_sample(self._sampling_probability, sample_shape=self.batch_size, seed=self._seed)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledOutputTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base_inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )
            is_chosen = ops.cast(sample_ids, dtypes.bool_)
            all_finished = ops.reduce_all(finished)
            none_chosen = ops.logical_not(ops.reduce_any(is_chosen))
            next_inputs = cond(
                ops.logical_or(all_finished, none_chosen), lambda: base_inputs,
                lambda: self._mixed(time, outputs, is_chosen, base_inputs),
            )  # fmt: skip
            return finished, next_inputs, state

    def _mixed(self, time, outputs, is_chosen, base_inputs):
        if self._next_inputs_fn is None:
            return ops.where(is_chosen, self._with_auxiliary(time, outputs), base_inputs)
        chosen, others = _places(is_chosen), _places(ops.logical_not(is_chosen))
        outputs = ops.gather_nd(outputs, chosen)

        def values():
            return self._with_auxiliary(time, self._next_inputs_fn(outputs), chosen)

        return _mixed(chosen, others, values, base_inputs)

    def _with_auxiliary(self, time, values, indices=None):
        """Inputs made of outputs, followed by what every input is followed by."""
        if self._auxiliary_array is None:
            return values
        auxiliary = self._auxiliary_array.read(time + 1)
        if indices is not None:
            auxiliary = ops.gather_nd(auxiliary, indices)
        return ops.concat((values, auxiliary), -1)
