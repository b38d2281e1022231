"""One step of a beam search: the best ways to go on, by their scores."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from stillflow.contrib.seq2seq.beam_tensors import Beams
from stillflow.graph import dtypes, nest
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.seq2seq.BeamSearchDecoderState")
class BeamSearchDecoderState(
    collections.namedtuple(
        "BeamSearchDecoderState", ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs")
    )
):
    """The state of a BeamSearchDecoder: tensors [batch, beam, ...].

    cell_state: the cell's. log_probs: the logarithm of each beam's probability. finished: whether it has ended.
    lengths: int64. accumulated_attention_probs: sums of weights of attention, or ().
    """


@public("contrib.seq2seq.BeamSearchDecoderOutput")
class BeamSearchDecoderOutput(
    collections.namedtuple("BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids"))
):
    """What a BeamSearchDecoder returns in one step, [batch, beam]; parent_ids: which beam each goes on from."""


class Scoring:
    """How beams are scored: log(probability) / length penalty + coverage penalty, https://arxiv.org/abs/1609.08144."""

    def __init__(self, length_penalty_weight, coverage_penalty_weight):
        self.length_weight = length_penalty_weight
        self.coverage_weight = coverage_penalty_weight

    def attention_probs(self, cell_state):
        """The weights of attention in a cell's state, or None if they are not needed.

        Raises ValueError if they are, and the cell has none.
        """
        if self.coverage_weight == 0.0:
            return None
        states = [cell_state] if isinstance(cell_state, AttentionWrapperState) else cell_state
        found = []
        if isinstance(states, (tuple, list)):
            found = [
                _mean_of(each.alignments) if isinstance(each.alignments, tuple) else each.alignments
                for each in states
                if isinstance(each, AttentionWrapperState)
            ]
        if not found:
            raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
        return found[0] if len(found) == 1 else _mean_of(found)

    def scores(self, log_probs, lengths, finished, attention_probs):
        """[batch, beam, symbols], for beams that go on with each symbol."""
        penalty = ops.cast(self._length_penalty(lengths), log_probs.dtype)
        scores = log_probs / penalty
        weight = convert_to_tensor(self.coverage_weight, name="coverage_penalty_weight")
        if weight.shape.ndims != 0:
            raise ValueError(f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}")
        if constant_value(weight) == 0.0:
            return scores
        if attention_probs is None:
            raise ValueError("accumulated_attention_probs can be None only if coverage penalty is disabled.")
        # What was never attended to, as padding is, does not count.
        probs = ops.where(ops.equal(attention_probs, 0.0), ops.ones_like(attention_probs), attention_probs)
        coverage = ops.reduce_sum(ops.log(ops.minimum(probs, 1.0)), 2)
        coverage *= ops.cast(finished, dtypes.float32)
        return scores + ops.expand_dims(coverage * weight, 2)

    def _length_penalty(self, lengths):
        factor = convert_to_tensor(self.length_weight, name="penalty_factor")
        factor.set_shape(())
        known = constant_value(factor)
        if known is not None and known == 0:
            return 1.0
        return ops.div((5.0 + ops.cast(lengths, dtypes.float32)) ** factor, (5.0 + 1.0) ** factor)


def _mean_of(tensors):
    return ops.reduce_mean(ops.concat([ops.expand_dims(each, -1) for each in tensors], -1), -1)


@public("contrib.seq2seq.python.ops.beam_search_decoder._mask_probs")
def _mask_probs(probs, eos_token, finished):
    """Logarithms of probabilities; beams that have ended can only go on with the end."""
    symbols = ops.shape(probs)[2]
    row = ops.one_hot(
        eos_token, symbols, dtype=probs.dtype, on_value=convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )  # fmt: skip
    rows = ops.tile(ops.reshape(row, [1, 1, -1]), ops.concat([ops.shape(finished), [1]], 0))
    is_ended = ops.tile(ops.expand_dims(finished, 2), [1, 1, symbols])
    return ops.where(is_ended, rows, probs)


def search_step(time, logits, next_cell_state, state, beams, end_token, scoring):
    """(BeamSearchDecoderOutput, BeamSearchDecoderState): the best ways for beams to go on.

    Args:
      time: the number of the step.
      logits: [batch, beam, symbols].
      next_cell_state: the cell's state after this step.
      state: the last BeamSearchDecoderState.
      beams: the Beams.
      end_token: the symbol that ends a beam.
      scoring: the Scoring.
    """
    goes_on = ops.logical_not(state.finished)
    log_probs = _mask_probs(ops.log_softmax(logits), end_token, state.finished)
    totals = ops.expand_dims(state.log_probs, 2) + log_probs
    symbols = logits.shape.dims[-1].value or ops.shape(logits)[-1]
    lengths = _lengths_by_symbol(state.lengths, goes_on, end_token, symbols, beams)
    attention = scoring.attention_probs(next_cell_state)
    if attention is not None:
        attention *= ops.expand_dims(ops.cast(goes_on, dtypes.float32), 2)
        attention = state.accumulated_attention_probs + attention
    scores = scoring.scores(totals, lengths, state.finished, attention)
    convert_to_tensor(time, name="time")
    flat = ops.reshape(scores, [beams.batch_size, -1])
    width = convert_to_tensor(beams.width, dtype=dtypes.int32, name="beam_width")
    best, places = ops.top_k(flat, k=width)
    for tensor in (best, places):
        tensor.set_shape([beams.known_batch_size, beams.width])
    probs = beams.gather(places, totals, beams.width * symbols, [-1], name="next_beam_probs")
    words = ops.cast(ops.floor_mod(places, symbols, name="next_beam_word_ids"), dtypes.int32)
    parents = ops.cast(places / symbols, dtypes.int32, name="next_beam_parent_ids")
    had_ended = beams.gather(parents, state.finished, beams.width, [-1])
    finished = ops.logical_or(had_ended, ops.equal(words, end_token), name="next_beam_finished")
    is_longer = ops.cast(ops.logical_not(had_ended), dtypes.int64)
    lengths = beams.gather(parents, state.lengths, beams.width, [-1])
    lengths += is_longer
    if attention is None:
        attention = ()
    else:
        rows = [beams.batch_size * beams.width, -1]
        attention = beams.gather(parents, attention, beams.width, rows, name="next_accumulated_attention_probs")
    next_cell_state = nest.map_structure(lambda part: beams.gather_state(parents, part), next_cell_state)
    next_state = BeamSearchDecoderState(next_cell_state, probs, finished, lengths, attention)
    return BeamSearchDecoderOutput(best, words, parents), next_state


def _lengths_by_symbol(lengths, goes_on, end_token, symbols, beams):
    """How long beams are after each symbol: the end does not count."""
    added = ops.one_hot(
        ops.fill([beams.batch_size, beams.width], end_token), symbols, on_value=ops.to_int64(0),
        off_value=ops.to_int64(1), dtype=dtypes.int64,
    )  # fmt: skip
    added *= ops.expand_dims(ops.cast(goes_on, dtypes.int64), 2)
    return added + ops.expand_dims(lengths, 2)


@public("contrib.seq2seq.python.ops.beam_search_decoder._beam_search_step")
def _beam_search_step(
    time, logits, next_cell_state, beam_state, batch_size, beam_width, end_token, length_penalty_weight,
    coverage_penalty_weight,
):  # fmt: skip
    """`search_step` with the beams and how they are scored as arguments of their own."""
    scoring = Scoring(length_penalty_weight, coverage_penalty_weight)
    beams = Beams(batch_size, beam_width)
    return search_step(time, logits, next_cell_state, beam_state, beams, end_token, scoring)
