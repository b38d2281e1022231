"""The best sequences of tags, by the Viterbi algorithm."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.contrib.crf.scores import TransitionCell, by_length, lengths_less_one
from stillflow.graph import dtypes
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.dynamic import dynamic_rnn


@public("contrib.crf.viterbi_decode")
def viterbi_decode(score, transition_params):
    """The best sequence of tags, of arrays.

    Args:
      score: the scores of tags, an array [time, tags].
      transition_params: the scores of transitions, an array [tags, tags].

    Returns (list of tags, their score).
    """
    best = np.zeros_like(score)
    pointers = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for step in range(1, score.shape[0]):
        scores = np.expand_dims(best[step - 1], 1) + transition_params
        best[step] = score[step] + np.max(scores, 0)
        pointers[step] = np.argmax(scores, 0)
    tags = [np.argmax(best[-1])]
    for places in reversed(pointers[1:]):
        tags.append(places[tags[-1]])
    return tags[::-1], np.max(best[-1])


@public("contrib.crf.crf_decode")
def crf_decode(potentials, transition_params, sequence_length):
    """The best sequences of tags.

    Args:
      potentials: the scores of tags, [batch, time, tags].
      transition_params: the scores of transitions, [tags, tags].
      sequence_length: int [batch].

    Returns (tags, int32 [batch, time]; their scores, [batch]).
    """

    def of_one():
        scores = ops.squeeze(potentials, [1])
        tags = ops.expand_dims(ops.argmax(scores, axis=1), 1)
        best = ops.reduce_max(scores, axis=1)
        return ops.cast(tags, dtype=dtypes.int32), best

    def of_many():
        tags = dimension_value(potentials.shape[2])
        forward = CrfDecodeForwardRnnCell(transition_params)
        first = ops.squeeze(ops.slice(potentials, [0, 0, 0], [-1, 1, -1]), axis=[1])
        rest = ops.slice(potentials, [0, 1, 0], [-1, -1, -1])
        lengths = lengths_less_one(sequence_length)
        pointers, scores = dynamic_rnn(forward, rest, lengths, initial_state=first, dtype=dtypes.int32)
        pointers = ops.reverse_sequence_op(pointers, lengths, seq_dim=1)
        last = ops.expand_dims(ops.cast(ops.argmax(scores, axis=1), dtype=dtypes.int32), axis=-1)
        backward = CrfDecodeBackwardRnnCell(tags)
        found, _ = dynamic_rnn(backward, pointers, lengths, initial_state=last, dtype=dtypes.int32)
        found = ops.concat([last, ops.squeeze(found, axis=[2])], axis=1)
        found = ops.reverse_sequence_op(found, sequence_length, seq_dim=1)
        return found, ops.reduce_max(scores, axis=1)

    return by_length(potentials, of_one, of_many)


@public("contrib.crf.CrfDecodeForwardRnnCell")
class CrfDecodeForwardRnnCell(TransitionCell):
    """One step of the Viterbi algorithm: from the scores of tags and the best scores before to the next best scores.

    Args:
      transition_params: the scores of transitions, [tags, tags].
    """

    def __call__(self, inputs, state, scope=None):
        """(the tag before each tag, int32 [batch, tags]; the best scores, [batch, tags])."""
        scores = ops.expand_dims(state, 2) + self._transition_params
        best = inputs + ops.reduce_max(scores, [1])
        return ops.cast(ops.argmax(scores, 1), dtype=dtypes.int32), best


@public("contrib.crf.CrfDecodeBackwardRnnCell")
class CrfDecodeBackwardRnnCell(RNNCell):
    """Follows the tags back that CrfDecodeForwardRnnCell has found.

    Args:
      num_tags: the number of tags.
    """

    def __init__(self, num_tags):
        self._num_tags = num_tags

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return 1

    def __call__(self, inputs, state, scope=None):
        """(tags, tags), int32 [batch, 1], from the tags before each tag and the tags after."""
        tags = ops.squeeze(state, axis=[1])
        rows = ops.range(ops.shape(inputs)[0])
        places = ops.stack([rows, tags], axis=1)
        before = ops.expand_dims(ops.gather_nd(inputs, places), axis=-1)
        return before, before
