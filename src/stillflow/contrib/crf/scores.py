"""Scores of sequences of tags, and their likelihood."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph import dtypes
from stillflow.graph.shape import dimension_value
from stillflow.names import public
from stillflow.ops.control_flow.cond import smart_cond
from stillflow.rnn.cell import RNNCell
from stillflow.rnn.dynamic import dynamic_rnn
from stillflow.variables.get_variable import get_variable


def by_length(inputs, of_one, of_many):
    """of_one() for sequences of one step, else of_many(): both are built unless it is known how many there are."""
    length = dimension_value(inputs.shape[1]) or ops.shape(inputs)[1]
    return smart_cond(pred=ops.equal(length, 1), true_fn=of_one, false_fn=of_many)


def _zero_if_empty(values, sequence_lengths):
    return ops.where(ops.less_equal(sequence_lengths, 0), ops.zeros_like(values), values)


def lengths_less_one(sequence_lengths):
    """The number of transitions of sequences."""
    zero = ops.constant(0, dtype=sequence_lengths.dtype)
    return ops.maximum(zero, sequence_lengths - 1)


@public("contrib.crf.crf_sequence_score")
def crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params):
    """The scores of sequences of tags, not normalized.

    Args:
      inputs: the scores of tags, [batch, time, tags].
      tag_indices: the tags, int [batch, time].
      sequence_lengths: int [batch].
      transition_params: the scores of transitions, [tags, tags].

    Returns [batch].
    """

    def of_one():
        count = ops.shape(inputs, out_type=tag_indices.dtype)[0]
        rows = ops.reshape(ops.range(count, dtype=tag_indices.dtype), [-1, 1])
        scores = ops.gather_nd(ops.squeeze(inputs, [1]), ops.concat([rows, tag_indices], axis=1))
        return _zero_if_empty(scores, sequence_lengths)

    def of_many():
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return by_length(inputs, of_one, of_many)


@public("contrib.crf.crf_multitag_sequence_score")
def crf_multitag_sequence_score(inputs, tag_bitmap, sequence_lengths, transition_params):
    """The logarithm of the sum of exponentials of scores of all sequences that have one of several tags in each step.

    Arguments are those of crf_sequence_score, but for `tag_bitmap`, bool [batch, time, tags]: which tags those are.
    """

    def allowed():
        return ops.where(tag_bitmap, inputs, ops.fill(ops.shape(inputs), float("-inf")))

    def of_one():
        return reduce_logsumexp(allowed(), axis=[1, 2], keepdims=False)

    def of_many():
        return crf_log_norm(allowed(), sequence_lengths, transition_params)

    return by_length(inputs, of_one, of_many)


@public("contrib.crf.crf_log_norm")
def crf_log_norm(inputs, sequence_lengths, transition_params):
    """The logarithm of the sum of exponentials of scores of all sequences of tags: what normalizes likelihoods.

    Args:
      inputs: the scores of tags, [batch, time, tags].
      sequence_lengths: int [batch].
      transition_params: the scores of transitions, [tags, tags].

    Returns [batch].
    """
    first = ops.squeeze(ops.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])

    def of_one():
        return _zero_if_empty(reduce_logsumexp(first, [1]), sequence_lengths)

    def of_many():
        rest = ops.slice(inputs, [0, 1, 0], [-1, -1, -1])
        cell = CrfForwardRnnCell(transition_params)
        lengths = lengths_less_one(sequence_lengths)
        _, alphas = dynamic_rnn(cell, rest, lengths, initial_state=first, dtype=dtypes.float32)
        return _zero_if_empty(reduce_logsumexp(alphas, [1]), sequence_lengths)

    return by_length(inputs, of_one, of_many)


@public("contrib.crf.crf_log_likelihood")
def crf_log_likelihood(inputs, tag_indices, sequence_lengths, transition_params=None):
    """The logarithm of the likelihood of sequences of tags: score minus normalization.

    Arguments are those of crf_sequence_score; without `transition_params` they are a variable "transitions".

    Returns ([batch], the scores of transitions).
    """
    tags = dimension_value(inputs.shape[2])
    if transition_params is None:
        transition_params = get_variable("transitions", [tags, tags])
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    return scores - crf_log_norm(inputs, sequence_lengths, transition_params), transition_params


@public("contrib.crf.crf_unary_score")
def crf_unary_score(tag_indices, sequence_lengths, inputs):
    """The sums of scores of tags, [batch]. Arguments are those of crf_sequence_score."""
    batch, steps, tags = (ops.shape(inputs)[axis] for axis in range(3))
    flat = ops.reshape(inputs, [-1])
    offsets = ops.expand_dims(ops.range(batch) * steps * tags, 1)
    offsets += ops.expand_dims(ops.range(steps) * tags, 0)
    if tag_indices.dtype == dtypes.int64:
        offsets = ops.cast(offsets, dtypes.int64)
    places = ops.reshape(offsets + tag_indices, [-1])
    scores = ops.reshape(ops.gather(flat, places), [batch, steps])
    return ops.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def _mask(tag_indices, sequence_lengths):
    return ops.sequence_mask(sequence_lengths, maxlen=ops.shape(tag_indices)[1], dtype=dtypes.float32)


@public("contrib.crf.crf_binary_score")
def crf_binary_score(tag_indices, sequence_lengths, transition_params):
    """The sums of scores of transitions, [batch]. Arguments are those of crf_sequence_score."""
    tags = transition_params.shape[0]
    count = ops.shape(tag_indices)[1] - 1
    before = ops.slice(tag_indices, [0, 0], [-1, count])
    after = ops.slice(tag_indices, [0, 1], [-1, count])
    places = before * tags + after
    scores = ops.gather(ops.reshape(transition_params, [-1]), places)
    mask = ops.slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return ops.reduce_sum(scores * mask, 1)


class TransitionCell(RNNCell):
    """A step along the tags, from scores of the tags before; subclasses say how scores become one.

    Args:
      transition_params: the scores of transitions, [tags, tags].
    """

    def __init__(self, transition_params):
        self._transition_params = ops.expand_dims(transition_params, 0)
        self._num_tags = dimension_value(transition_params.shape[0])

    @property
    def state_size(self):
        return self._num_tags

    @property
    def output_size(self):
        return self._num_tags


@public("contrib.crf.CrfForwardRnnCell")
class CrfForwardRnnCell(TransitionCell):
    """One step of the forward algorithm: from the scores of tags and the alphas before to the next alphas.

    Args:
      transition_params: the scores of transitions, [tags, tags].
    """

    def __call__(self, inputs, state, scope=None):
        """(alphas, alphas), [batch, tags]."""
        scores = ops.expand_dims(state, 2) + self._transition_params
        alphas = inputs + reduce_logsumexp(scores, [1])
        return alphas, alphas
