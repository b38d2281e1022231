"""What attention mechanisms that are Keras layers have in common."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.contrib.seq2seq.attention_base import (
    AttentionMechanism,
    hardmax,
    known_or_found_size,
    masked_score,
    prepared_memory,
)
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.keras.serialization import deserialize_layer, serialize
from stillflow.layers.core.dense import Dense
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.rnn.states import zero_states

_PROBABILITIES = {"softmax": ops.softmax, "hardmax": hardmax}


def probability_without_state(name):
    """A function of scores that is known by name, as a function of scores and a state.

    Raises ValueError for another name.
    """
    if name not in _PROBABILITIES:
        raise ValueError(f"Invalid probability function: {name}, options are {_PROBABILITIES.keys()}")
    return lambda score, _: _PROBABILITIES[name](score)


def projection(units, name, dtype):
    """A layer that multiplies by a matrix."""
    return Dense(units, name=name, use_bias=False, dtype=dtype)


@public("contrib.seq2seq.python.ops.attention_wrapper._BaseAttentionMechanismV2")
class KerasMechanism(AttentionMechanism, Layer):
    """Attention to a memory, as a Keras layer. Its state are the last weights.

    The first call takes the memory and has `setup_memory`: that made by the initializer, or the first one that the
    program makes, if the initializer got no memory, as in layers that were made of a config. Calls after that take
    [query, state] and return (weights [batch, time], next state).

    Args:
      memory: [batch, time, ...], or None.
      probability_fn: a function of scores and the state that returns weights.
      query_layer: a Keras layer that queries go through, or None.
      memory_layer: a Keras layer that makes keys of the memory, or None.
      memory_sequence_length: lengths of the sequences in memory, int32 [batch]: what lies beyond counts as 0. As in
        TensorFlow scores stay as they are; only those that a mask of the memory excludes are minus infinity.
      kwargs: see tf.keras.layers.Layer.

    Raises:
      TypeError: for what is no layer, or cannot be called.
      ValueError: for unknown sizes; for both lengths and a mask; for queries before there is a memory.
    """

    def __init__(
        self, memory, probability_fn, query_layer=None, memory_layer=None, memory_sequence_length=None, **kwargs
    ):
        for layer, what in ((query_layer, "query_layer"), (memory_layer, "memory_layer")):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        if memory_layer is not None:
            kwargs.setdefault("dtype", memory_layer.dtype)
        super().__init__(**kwargs)
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self.probability_fn = probability_fn
        self.keys = None
        self.values = None
        self.batch_size = None
        self._alignments_size = None
        self._memory_initialized = False
        self.supports_masking = True
        self.score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            inputs = memory if memory_sequence_length is None else [memory, memory_sequence_length]
            self.values = super().__call__(inputs, setup_memory=True)

    def build(self, input_shape):
        """Builds the layer of the memory, or, once there is one, that of queries; may be called for both in turn."""
        layer = self.query_layer if self._memory_initialized else self.memory_layer
        if layer is not None and not layer.built:
            is_list = isinstance(input_shape, list)
            layer.build(input_shape[0] if is_list or self._memory_initialized else input_shape)

    def __call__(self, inputs, **kwargs):
        """See the class. The memory joins the inputs of a query, so that Keras knows that weights depend on it."""
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError(f"Expect the inputs to have 2 or 3 tensors, got {len(inputs)}")
            if len(inputs) == 2:
                inputs = [*inputs, self.values]
        return super().__call__(inputs, **kwargs)

    def call(self, inputs, mask=None, setup_memory=False, **kwargs):
        """Takes a memory, or [memory, lengths], and returns the masked memory; or answers [query, state, memory]."""
        if not setup_memory:
            if not self._memory_initialized:
                raise ValueError("Cannot query the attention before the setup of memory")
            if len(inputs) not in (2, 3):
                raise ValueError(
                    f"Expect the inputs to have query, state, and optional processed memory, got {len(inputs)} items"
                )
            return self._calculate_attention(inputs[0], inputs[1])
        lengths = None
        if isinstance(inputs, list):
            if len(inputs) not in (1, 2):
                raise ValueError(f"Expect inputs to have 1 or 2 tensors, got {len(inputs)}")
            inputs, lengths = inputs[0], inputs[1] if len(inputs) == 2 else None
        self._take_memory(inputs, lengths, mask)
        self.built = False  # `build` is called again for the first query
        return self.values

    def _take_memory(self, memory, lengths, mask):
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        if lengths is not None and mask is not None:
            raise ValueError("memory_sequence_length and memory_mask cannot be used at same time for attention.")
        with name_scope(self.name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self.values = prepared_memory(memory, lengths, mask)
            self.keys = self.values if self.memory_layer is None else self.memory_layer(self.values)
            self.batch_size = known_or_found_size(self.keys, 0)
            self._alignments_size = known_or_found_size(self.keys, 1)
        if mask is not None:
            unmasked = self.probability_fn
            self.probability_fn = lambda score, previous: unmasked(
                masked_score(score, mask, self.score_mask_value), previous
            )
        self._memory_initialized = True

    def _calculate_attention(self, query, state):
        """(weights [batch, time], next state) for a query [batch, depth]: by default the scores as weights."""
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def _score(self, query):
        """Scores [batch, time]: what mechanisms differ in."""
        raise NotImplementedError("_calculate_attention need to be implemented by subclasses.")

    def compute_mask(self, inputs, mask=None):
        """Weights have no mask."""
        return None, None

    def get_config(self):
        """The layer's settings; the memory, which is a tensor, is None."""
        config = super().get_config()
        for key in ("query_layer", "memory_layer"):
            layer = getattr(self, key)
            if layer is not None:
                config[key] = serialize(layer)
        return {**config, "memory": None}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer of what `get_config` has returned; `custom_objects` has further classes by name."""
        config = dict(config)
        for key in ("query_layer", "memory_layer"):
            if config.get(key):
                config[key] = deserialize_layer(config[key], custom_objects=custom_objects)
        return cls(**config)

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
