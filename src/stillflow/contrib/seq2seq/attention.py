"""Attention by Bahdanau et al. and Luong et al."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.contrib.seq2seq.attention_base import MemoryMechanism
from stillflow.graph import dtypes
from stillflow.layers.plain import Dense
from stillflow.names import public
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant, Ones, Zeros
from stillflow.variables.scope import variable_scope


def projection(size, name, dtype):
    """A layer that multiplies by a matrix; its variables are in the scope `name`."""
    return Dense(size, name=name, use_bias=False, dtype=dtypes.float32 if dtype is None else dtype)


def without_state(probability_fn):
    """A function of scores, softmax by default, as a function of scores and a state."""
    function = ops.softmax if probability_fn is None else probability_fn
    return lambda score, _: function(score)


@public("contrib.seq2seq.python.ops.attention_wrapper._luong_score")
def luong_score(query, keys, scale=None):
    """Products of a query [batch, depth] and keys [batch, time, depth]; times `scale` if it is given.

    Raises ValueError for different depths.
    """
    depth, units = query.shape[-1], keys.shape[-1]
    if depth != units:
        raise ValueError(
            f"Incompatible or unknown inner dimensions between query and keys.  Query ({query}) has units: {depth}.  "
            f"Keys ({keys}) have units: {units}.  Perhaps you need to set num_units to the keys' dimension ({units})?"
        )
    score = ops.squeeze(ops.matmul(ops.expand_dims(query, 1), keys, transpose_b=True), [1])
    return score if scale is None else scale * score


def scale_variable(dtype):
    """The variable that scores of Luong et al. are multiplied by."""
    return get_variable("attention_g", dtype=dtype, initializer=Ones, shape=())


@public("contrib.seq2seq.LuongAttention")
class LuongAttention(MemoryMechanism):
    """Multiplicative attention, https://arxiv.org/abs/1508.04025: scores are products of the query and keys.

    Args:
      num_units: the depth of keys, which must be that of queries.
      memory, memory_sequence_length, score_mask_value, custom_key_value_fn: see tf.contrib.seq2seq.BahdanauAttention.
      scale: whether scores are multiplied by a variable.
      probability_fn: a function of scores that returns weights; softmax by default.
      dtype: the type of variables; float32 by default.
      name: the scope of the new nodes.

    Raises:
      TypeError: if `probability_fn` cannot be called.
      ValueError: for unknown sizes.
    """

    def __init__(
        self, num_units, memory, memory_sequence_length=None, scale=False, probability_fn=None, score_mask_value=None,
        dtype=None, custom_key_value_fn=None, name="LuongAttention",
    ):  # fmt: skip
        super().__init__(
            None, memory, without_state(probability_fn), memory_sequence_length,
            projection(num_units, "memory_layer", dtype), score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn, name=name,
        )  # fmt: skip
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query, state):
        """(weights [batch, time], next state) for a query [batch, depth]."""
        with variable_scope(None, "luong_attention", [query]):
            scale = scale_variable(query.dtype) if self._scale else None
            score = luong_score(query, self._keys, scale)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@public("contrib.seq2seq.python.ops.attention_wrapper._bahdanau_score")
def bahdanau_score(processed_query, keys, attention_v, attention_g=None, attention_b=None):
    """v * tanh(keys + query), for a query [batch, units] and keys [batch, time, units]: scores [batch, time].

    Normalized, that is g * v / |v| * tanh(keys + query + b), if a length g and a bias b are given.
    """
    query = ops.expand_dims(processed_query, 1)
    if attention_g is None or attention_b is None:
        return ops.reduce_sum(attention_v * ops.tanh(keys + query), [2])
    vector = attention_g * attention_v * ops.rsqrt(ops.reduce_sum(ops.square(attention_v)))
    return ops.reduce_sum(vector * ops.tanh(keys + query + attention_b), [2])


def bahdanau_variables(num_units, normalizes, dtype):
    """The variables of scores of Bahdanau et al.: (v,), or (v, g, b) if v is normalized."""
    vector = get_variable("attention_v", [num_units], dtype=dtype)
    if not normalizes:
        return (vector,)
    length = get_variable("attention_g", dtype=dtype, initializer=Constant(math.sqrt(1.0 / num_units)), shape=())
    return vector, length, get_variable("attention_b", [num_units], dtype=dtype, initializer=Zeros())


@public("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(MemoryMechanism):
    """Additive attention, https://arxiv.org/abs/1409.0473: scores are v * tanh(W1 * memory + W2 * query).

    Args:
      num_units: the size of v.
      memory: what is attended to, mostly an encoder's outputs, [batch, time, depth].
      memory_sequence_length: lengths of the sequences in memory, int32 [batch], or None for all of it.
      normalize: whether v is normalized, https://arxiv.org/abs/1602.07868, and there is a bias.
      probability_fn: a function of scores that returns weights; softmax by default.
      score_mask_value: the score of what is beyond the lengths; minus infinity by default.
      dtype: the type of variables; float32 by default.
      custom_key_value_fn: a function of keys and values that returns others, or None.
      name: the scope of the new nodes.

    Raises:
      TypeError: if `probability_fn` cannot be called.
      ValueError: for unknown sizes.
    """

    def __init__(
        self, num_units, memory, memory_sequence_length=None, normalize=False, probability_fn=None,
        score_mask_value=None, dtype=None, custom_key_value_fn=None, name="BahdanauAttention",
    ):  # fmt: skip
        super().__init__(
            projection(num_units, "query_layer", dtype), memory, without_state(probability_fn),
            memory_sequence_length, projection(num_units, "memory_layer", dtype), score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn, name=name,
        )  # fmt: skip
        self._num_units = num_units
        self._normalize = normalize
        self._name = name

    def __call__(self, query, state):
        """(weights [batch, time], next state) for a query [batch, depth]."""
        with variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query)
            variables = bahdanau_variables(self._num_units, self._normalize, query.dtype)
            score = bahdanau_score(processed, self._keys, *variables)
        alignments = self._probability_fn(score, state)
        return alignments, alignments
