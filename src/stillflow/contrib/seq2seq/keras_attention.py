"""Attention by Bahdanau et al. and Luong et al., and its monotonic forms, as Keras layers."""

from __future__ import annotations

import functools
import math

from stillflow.contrib.seq2seq.attention import bahdanau_score, luong_score
from stillflow.contrib.seq2seq.keras_attention_base import KerasMechanism, probability_without_state, projection
from stillflow.contrib.seq2seq.monotonic import first_place, monotonic_probability_fn
from stillflow.graph import dtypes
from stillflow.layers.core import initializers
from stillflow.names import public
from stillflow.variables.initializers import Constant, Ones, Zeros


class _Luong(KerasMechanism):
    """Scores are products of the query and keys, with a scale if so said."""

    def __init__(self, units, memory, memory_sequence_length, scale, probability_fn, dtype, name, kwargs):
        dtype = dtypes.float32 if dtype is None else dtype
        memory_layer = kwargs.pop("memory_layer", None) or projection(units, "memory_layer", dtype)
        self.units = units
        self.scale = scale
        self.scale_weight = None
        super().__init__(
            memory, probability_fn, memory_layer=memory_layer, memory_sequence_length=memory_sequence_length,
            name=name, dtype=dtype, **kwargs,
        )  # fmt: skip

    def build(self, input_shape):
        super().build(input_shape)
        if self.scale and self.scale_weight is None:
            self.scale_weight = self.add_weight("attention_g", initializer=Ones, shape=())
        self.built = True

    def _score(self, query):
        return luong_score(query, self.keys, self.scale_weight)

    def get_config(self):
        return {**super().get_config(), "units": self.units, "scale": self.scale}


class _Bahdanau(KerasMechanism):
    """Scores are v * tanh(W1 * memory + W2 * query), with v normalized if so said."""

    def __init__(
        self,
        units,
        memory,
        memory_sequence_length,
        normalize,
        probability_fn,
        kernel_initializer,
        dtype,
        name,
        kwargs,
    ):
        dtype = dtypes.float32 if dtype is None else dtype
        query_layer = kwargs.pop("query_layer", None) or projection(units, "query_layer", dtype)
        memory_layer = kwargs.pop("memory_layer", None) or projection(units, "memory_layer", dtype)
        self.units = units
        self.normalize = normalize
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.attention_v = None
        self.attention_g = None
        self.attention_b = None
        super().__init__(
            memory, probability_fn, query_layer=query_layer, memory_layer=memory_layer,
            memory_sequence_length=memory_sequence_length, name=name, dtype=dtype, **kwargs,
        )  # fmt: skip

    def build(self, input_shape):
        super().build(input_shape)
        if self.attention_v is None:
            self.attention_v = self.add_weight(
                "attention_v", [self.units], dtype=self.dtype, initializer=self.kernel_initializer
            )
        self._build_bias()
        if self.normalize and self.attention_g is None:
            self.attention_g = self.add_weight(
                "attention_g", initializer=Constant(math.sqrt(1.0 / self.units)), shape=()
            )
            self.attention_b = self.add_weight("attention_b", shape=[self.units], initializer=Zeros())
        self.built = True

    def _build_bias(self):
        """Makes the bias of scores, where there is one, before the variables of a normalized v."""

    def _score(self, query):
        if self.query_layer is not None:
            query = self.query_layer(query)
        return bahdanau_score(query, self.keys, self.attention_v, self.attention_g, self.attention_b)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "normalize": self.normalize,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
        }


@public("contrib.seq2seq.python.ops.attention_wrapper.LuongAttentionV2")
class LuongAttentionV2(_Luong):
    """Multiplicative attention, https://arxiv.org/abs/1508.04025: scores are products of the query and keys.

    Args:
      units: the depth of keys, which must be that of queries.
      memory, memory_sequence_length: see KerasMechanism.
      scale: whether scores are multiplied by a variable.
      probability_fn: "softmax" or "hardmax".
      dtype: the type of variables; float32 by default.
      name: the layer's.
      kwargs: `memory_layer`, a Keras layer to use for keys; further arguments of tf.keras.layers.Layer.
    """

    def __init__(
        self, units, memory, memory_sequence_length=None, scale=False, probability_fn="softmax", dtype=None,
        name="LuongAttention", **kwargs,
    ):  # fmt: skip
        self.probability_fn_name = probability_fn
        probability_fn = probability_without_state(probability_fn)
        super().__init__(units, memory, memory_sequence_length, scale, probability_fn, dtype, name, kwargs)

    def get_config(self):
        return {**super().get_config(), "probability_fn": self.probability_fn_name}


@public("contrib.seq2seq.python.ops.attention_wrapper.BahdanauAttentionV2")
class BahdanauAttentionV2(_Bahdanau):
    """Additive attention, https://arxiv.org/abs/1409.0473: scores are v * tanh(W1 * memory + W2 * query).

    Args:
      units: the size of v.
      memory, memory_sequence_length: see KerasMechanism.
      normalize: whether v is normalized, https://arxiv.org/abs/1602.07868, and there is a bias.
      probability_fn: "softmax" or "hardmax".
      kernel_initializer: what initializes v.
      dtype: the type of variables; float32 by default.
      name: the layer's.
      kwargs: `query_layer` and `memory_layer`, Keras layers to use instead of W2 and W1; further arguments of
        tf.keras.layers.Layer.
    """

    def __init__(
        self, units, memory, memory_sequence_length=None, normalize=False, probability_fn="softmax",
        kernel_initializer="glorot_uniform", dtype=None, name="BahdanauAttention", **kwargs,
    ):  # fmt: skip
        self.probability_fn_name = probability_fn
        super().__init__(
            units, memory, memory_sequence_length, normalize, probability_without_state(probability_fn),
            kernel_initializer, dtype, name, kwargs,
        )  # fmt: skip

    def get_config(self):
        return {**super().get_config(), "probability_fn": self.probability_fn_name}


@public("contrib.seq2seq.python.ops.attention_wrapper._BaseMonotonicAttentionMechanismV2")
class KerasMonotonic(KerasMechanism):
    """Monotonic attention, https://arxiv.org/abs/1704.00784: weights begin at the first place, scores have a bias."""

    sigmoid_noise: float
    sigmoid_noise_seed: int | None
    score_bias_init: float
    mode: str

    def _take_settings(self, sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode):
        """Keeps the settings and returns the function from scores and the last weights to weights."""
        self.sigmoid_noise = sigmoid_noise
        self.sigmoid_noise_seed = sigmoid_noise_seed
        self.score_bias_init = score_bias_init
        self.mode = mode
        self.attention_score_bias = None
        return functools.partial(
            monotonic_probability_fn, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed
        )

    def _build_bias(self):
        if self.attention_score_bias is None:
            self.attention_score_bias = self.add_weight(
                "attention_score_bias", shape=(), dtype=self.dtype,
                initializer=Constant(self.score_bias_init, dtype=self.dtype),
            )  # fmt: skip

    def _score(self, query):
        return super()._score(query) + self.attention_score_bias

    def initial_alignments(self, batch_size, dtype):
        """The weights before the first query: 1 at the first place, else 0."""
        return first_place(self._alignments_size, batch_size, dtype)

    def get_config(self):
        settings = ("sigmoid_noise", "sigmoid_noise_seed", "score_bias_init", "mode")
        return {**super().get_config(), **{key: getattr(self, key) for key in settings}}


@public("contrib.seq2seq.python.ops.attention_wrapper.BahdanauMonotonicAttentionV2")
class BahdanauMonotonicAttentionV2(KerasMonotonic, _Bahdanau):
    """Monotonic attention with BahdanauAttentionV2's scores and a bias.

    Args:
      units, memory, memory_sequence_length, normalize, kernel_initializer, dtype, name, kwargs: see
        BahdanauAttentionV2.
      sigmoid_noise, sigmoid_noise_seed, mode: see monotonic_probability_fn.
      score_bias_init: the bias' initial value.
    """

    def __init__(
        self, units, memory, memory_sequence_length=None, normalize=False, sigmoid_noise=0.0, sigmoid_noise_seed=None,
        score_bias_init=0.0, mode="parallel", kernel_initializer="glorot_uniform", dtype=None,
        name="BahdanauMonotonicAttention", **kwargs,
    ):  # fmt: skip
        probability_fn = self._take_settings(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            units, memory, memory_sequence_length, normalize, probability_fn, kernel_initializer, dtype, name, kwargs
        )


@public("contrib.seq2seq.python.ops.attention_wrapper.LuongMonotonicAttentionV2")
class LuongMonotonicAttentionV2(KerasMonotonic, _Luong):
    """Monotonic attention with LuongAttentionV2's scores and a bias.

    Args:
      units, memory, memory_sequence_length, scale, dtype, name, kwargs: see LuongAttentionV2.
      sigmoid_noise, sigmoid_noise_seed, mode: see monotonic_probability_fn.
      score_bias_init: the bias' initial value.
    """

    def __init__(
        self, units, memory, memory_sequence_length=None, scale=False, sigmoid_noise=0.0, sigmoid_noise_seed=None,
        score_bias_init=0.0, mode="parallel", dtype=None, name="LuongMonotonicAttention", **kwargs,
    ):  # fmt: skip
        probability_fn = self._take_settings(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(units, memory, memory_sequence_length, scale, probability_fn, dtype, name, kwargs)

    def build(self, input_shape):
        super().build(input_shape)
        self._build_bias()
