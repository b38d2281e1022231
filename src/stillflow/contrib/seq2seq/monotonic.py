"""Monotonic attention, https://arxiv.org/abs/1704.00784: it goes on in memory, and never back."""

from __future__ import annotations

import functools

import numpy as np

from stillflow import ops
from stillflow.composites.clip import clip_by_value
from stillflow.composites.functional import scan
from stillflow.contrib.seq2seq.attention import (
    bahdanau_score,
    bahdanau_variables,
    luong_score,
    projection,
    scale_variable,
)
from stillflow.contrib.seq2seq.attention_base import MemoryMechanism, known_or_found_size
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_normal
from stillflow.variables.get_variable import get_variable
from stillflow.variables.scope import variable_scope


@public("contrib.seq2seq.safe_cumprod")
def safe_cumprod(x, *args, **kwargs):
    """Cumulative products of numbers in [0, 1] as exponentials of sums of logarithms: their gradients are finite.

    Further arguments are those of tf.cumsum.
    """
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        return ops.exp(ops.cumsum(ops.log(clip_by_value(x, tiny, 1)), *args, **kwargs))


@public("contrib.seq2seq.monotonic_attention")
def monotonic_attention(p_choose_i, previous_attention, mode):
    """Weights from the probabilities that attention stops at a place, and the weights before.

    Args:
      p_choose_i: probabilities, [batch, time].
      previous_attention: the weights before, [batch, time]; 1 at the first place at first.
      mode: "recursive": by the formula, slow but exact; "parallel": by products and sums, fast, but not exact where
        probabilities are close to 0 or 1; "hard": for probabilities that are 0 or 1.

    Raises ValueError for another mode.
    """
    chosen = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        return _recursive(chosen, previous)
    if mode == "parallel":
        passed = safe_cumprod(1 - chosen, axis=1, exclusive=True)
        # The quotient's divisor is cut off, so that it is not 0.
        return chosen * passed * ops.cumsum(previous / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        chosen *= ops.cumsum(previous, axis=1)
        return chosen * ops.cumprod(1 - chosen, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _recursive(chosen, previous):
    batch_size = known_or_found_size(chosen, 0)
    passed = ops.concat([ops.ones((batch_size, 1)), 1 - chosen[:, :-1]], 1)

    def step(reached, places):
        return ops.reshape(places[0] * reached + places[1], (batch_size,))

    columns = [ops.transpose(passed), ops.transpose(previous)]
    return chosen * ops.transpose(scan(step, columns, ops.zeros((batch_size,))))


@public("contrib.seq2seq.python.ops.attention_wrapper._monotonic_probability_fn")
def monotonic_probability_fn(score, previous_alignments, sigmoid_noise, mode, seed=None):
    """The weights of monotonic attention for scores.

    Args:
      score: [batch, time].
      previous_alignments: the weights before, [batch, time].
      sigmoid_noise: the standard deviation of noise that is added to scores; 0 for none.
      mode: see monotonic_attention.
      seed: an integer, for the noise.

    Raises ValueError for another mode.
    """
    if sigmoid_noise > 0:
        noise = random_normal(ops.shape(score), dtype=score.dtype, seed=seed)
        score += sigmoid_noise * noise
    chosen = ops.cast(score > 0, score.dtype) if mode == "hard" else ops.sigmoid(score)
    return monotonic_attention(chosen, previous_alignments, mode)


def first_place(size, batch_size, dtype):
    """Weights [batch, size]: 1 at the first place, else 0."""
    return ops.one_hot(ops.zeros((batch_size,), dtype=dtypes.int32), size, dtype=dtype)


class _Monotonic(MemoryMechanism):
    """A mechanism that begins at the first place in memory."""

    _score_bias_init: float

    def initial_alignments(self, batch_size, dtype):
        """The weights before the first query: 1 at the first place, else 0."""
        return first_place(self._alignments_size, batch_size, dtype)

    def _weights(self, score, state):
        alignments = self._probability_fn(score, state)
        return alignments, alignments

    def _biased(self, score, dtype):
        return score + get_variable("attention_score_bias", dtype=dtype, initializer=self._score_bias_init)


@public("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(_Monotonic):
    """Monotonic attention with BahdanauAttention's scores and a bias.

    Args:
      num_units, memory, memory_sequence_length, normalize, score_mask_value, dtype, name: see BahdanauAttention.
      sigmoid_noise, sigmoid_noise_seed, mode: see monotonic_probability_fn.
      score_bias_init: the bias' initial value.
    """

    def __init__(
        self, num_units, memory, memory_sequence_length=None, normalize=False, score_mask_value=None,
        sigmoid_noise=0.0, sigmoid_noise_seed=None, score_bias_init=0.0, mode="parallel", dtype=None,
        name="BahdanauMonotonicAttention",
    ):  # fmt: skip
        probability_fn = functools.partial(
            monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
        )
        super().__init__(
            projection(num_units, "query_layer", dtype), memory, probability_fn, memory_sequence_length,
            projection(num_units, "memory_layer", dtype), score_mask_value=score_mask_value, name=name,
        )  # fmt: skip
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query, state):
        """(weights [batch, time], next state) for a query [batch, depth]."""
        with variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query)
            variables = bahdanau_variables(self._num_units, self._normalize, query.dtype)
            score = bahdanau_score(processed, self._keys, *variables)
            score = self._biased(score, processed.dtype)
        return self._weights(score, state)


@public("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(_Monotonic):
    """Monotonic attention with LuongAttention's scores and a bias.

    Args:
      num_units, memory, memory_sequence_length, scale, score_mask_value, dtype, name: see LuongAttention.
      sigmoid_noise, sigmoid_noise_seed, mode: see monotonic_probability_fn.
      score_bias_init: the bias' initial value.
    """

    def __init__(
        self, num_units, memory, memory_sequence_length=None, scale=False, score_mask_value=None, sigmoid_noise=0.0,
        sigmoid_noise_seed=None, score_bias_init=0.0, mode="parallel", dtype=None, name="LuongMonotonicAttention",
    ):  # fmt: skip
        probability_fn = functools.partial(
            monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
        )
        super().__init__(
            None, memory, probability_fn, memory_sequence_length, projection(num_units, "memory_layer", dtype),
            score_mask_value=score_mask_value, name=name,
        )  # fmt: skip
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name

    def __call__(self, query, state):
        """(weights [batch, time], next state) for a query [batch, depth]."""
        with variable_scope(None, "luong_monotonic_attention", [query]):
            scale = scale_variable(query.dtype) if self._scale else None
            score = self._biased(luong_score(query, self._keys, scale), query.dtype)
        return self._weights(score, state)
