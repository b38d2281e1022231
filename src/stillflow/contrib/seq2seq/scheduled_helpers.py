"""Scheduled sampling, https://arxiv.org/abs/1506.03099: some inputs are given, others come from the outputs."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.seq2seq.helpers import TrainingHelper, embedding_function, unstacked
from stillflow.contrib.seq2seq.sampling import bernoulli_sample
from stillflow.contrib.seq2seq.scheduled_inputs import checked_probability, some_ids, with_embeddings, with_outputs
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.dynamic import transpose_batch_time


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
            self._sampling_probability = checked_probability(sampling_probability)
            self._seed = seed
            self._scheduling_seed = scheduling_seed
            super().__init__(inputs, sequence_length, time_major=time_major, name=name)

    def initialize(self, name=None):
        return super().initialize(name=name)

    def sample(self, time, outputs, state, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperSample", [time, outputs, state]):
            return some_ids(outputs, self._sampling_probability, self.batch_size, self._seed, self._scheduling_seed)

    def next_inputs(self, time, outputs, state, sample_ids, name=None):
        with name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", [time, outputs, state, sample_ids]):
            finished, base_inputs, state = super().next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids, name=name
            )
            return finished, with_embeddings(self._embedding_fn, sample_ids, finished, base_inputs), state


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
            self._sampling_probability = checked_probability(sampling_probability)
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
            next_inputs = with_outputs(
                self._next_inputs_fn, self._auxiliary_array, time, outputs, sample_ids, finished, base_inputs
            )
            return finished, next_inputs, state
