"""What attention mechanisms have in common: keys, values, and weights from scores."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_positive
from stillflow.graph import dtypes, nest
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import dimension_value
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.rnn.states import zero_states


@public("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """From a query and a state to weights of what is in memory: a function mechanism(query, state=state)."""

    @property
    def alignments_size(self):
        """The number of weights."""
        raise NotImplementedError

    @property
    def state_size(self):
        """The size of the state."""
        raise NotImplementedError


@public("contrib.seq2seq.python.ops.attention_wrapper._BaseAttentionMechanism")
class MemoryMechanism(AttentionMechanism):
    """Attention to a memory. Its state are the last weights.

    Args:
      query_layer: a layer that queries go through, or None.
      memory: [batch, time, ...], or a structure of such tensors.
      probability_fn: a function of scores and the state that returns weights.
      memory_sequence_length: lengths of the sequences in memory, int32 [batch]: what lies beyond counts as 0, and its
        score is `score_mask_value`.
      memory_layer: a layer that makes keys of the memory.
      check_inner_dims_defined: whether all sizes but batch and time must be known.
      score_mask_value: minus infinity by default.
      custom_key_value_fn: a function of keys and values that returns others, or None.
      name: the scope of the new nodes.

    Raises:
      TypeError: for what is no layer, or cannot be called.
      ValueError: for unknown sizes.
    """

    def __init__(
        self, query_layer, memory, probability_fn, memory_sequence_length=None, memory_layer=None,
        check_inner_dims_defined=True, score_mask_value=None, custom_key_value_fn=None, name=None,
    ):  # fmt: skip
        for layer, what in ((query_layer, "query_layer"), (memory_layer, "memory_layer")):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _score_within(score, memory_sequence_length, score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = prepared_memory(memory, memory_sequence_length, checks_sizes=check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = known_or_found_size(self._keys, 0)
            self._alignments_size = known_or_found_size(self._keys, 1)

    @property
    def memory_layer(self):
        return self._memory_layer

    @property
    def query_layer(self):
        return self._query_layer

    @property
    def values(self):
        """What means are made of, [batch, time, ...]."""
        return self._values

    @property
    def keys(self):
        """What queries are compared with, [batch, time, ...]."""
        return self._keys

    @property
    def batch_size(self):
        return self._batch_size

    @property
    def alignments_size(self):
        return self._alignments_size

    @property
    def state_size(self):
        return self._alignments_size

    def initial_alignments(self, batch_size, dtype):
        """The weights before the first query: 0."""
        return zero_states(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size, dtype):
        """The state before the first query: the first weights."""
        return self.initial_alignments(batch_size, dtype)


def known_or_found_size(tensor, axis):
    """A size as an int if it is known, else as a tensor."""
    return dimension_value(tensor.shape[axis]) or ops.shape(tensor)[axis]


def prepared_memory(memory, lengths=None, mask=None, checks_sizes=True):
    """Memory as tensors, 0 beyond the sequences' lengths, or where a bool mask [batch, time] is false."""
    memory = nest.map_structure(lambda part: convert_to_tensor(part, name="memory"), memory)
    if lengths is not None:
        lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    if checks_sizes:
        nest.map_structure(_check_inner_sizes, memory)
    if lengths is None and mask is None:
        return memory
    first = nest.flatten(memory)[0]
    if lengths is not None:
        mask = ops.sequence_mask(lengths, maxlen=ops.shape(first)[1], dtype=first.dtype)
    else:
        mask = ops.cast(mask, first.dtype)

    def masked(part):
        rank = part.shape.ndims
        ones = ops.ones((ops.rank(part) if rank is None else rank) - 2, dtype=dtypes.int32)
        return part * ops.reshape(mask, ops.concat((ops.shape(mask), ones), 0))

    return nest.map_structure(masked, memory)


def _check_inner_sizes(part):
    if not part.shape[2:].is_fully_defined():
        raise ValueError(f"Expected memory {part.name} to have fully defined inner dims, but saw shape: {part.shape}")


def _score_within(score, lengths, mask_value):
    """Scores, `mask_value` beyond the sequences' lengths if they are given."""
    if lengths is None:
        return score
    message = "All values in memory_sequence_length must be greater than zero."
    with get_default_graph().control_dependencies([assert_positive(lengths, message=message)]):
        mask = ops.sequence_mask(lengths, maxlen=ops.shape(score)[1])
    return masked_score(score, mask, mask_value)


def masked_score(score, mask, mask_value):
    """Scores, `mask_value` where a bool mask [batch, time] is false."""
    masked = mask_value * ops.ones_like(score)
    return ops.where(mask, score, masked)


@public("contrib.seq2seq.hardmax")
def hardmax(logits, name=None):
    """1 at the largest of the logits along the last axis, else 0."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = dimension_value(logits.shape[-1])
        if depth is None:
            depth = ops.shape(logits)[-1]
        return ops.one_hot(ops.argmax(logits, -1), depth, dtype=logits.dtype)
