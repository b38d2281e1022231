"""Attention and AdditiveAttention: means of values, weighted by how well keys answer queries."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.initializers import GlorotUniform, Ones


@public("python.keras.layers.dense_attention.BaseDenseAttention")
class BaseDenseAttention(Layer):
    """Means of values, weighted by scores, which subclasses compute in `_calculate_scores`.

    Args:
      causal: whether no query sees later values.
    """

    def __init__(self, causal=False, **kwargs):
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _calculate_scores(self, query, key):
        """How well keys [batch, values, size] answer queries [batch, queries, size]: [batch, queries, values]."""
        raise NotImplementedError

    def _apply_scores(self, scores, value, scores_mask=None):
        """The means [batch, queries, size] of values, of those alone where the mask is true."""
        if scores_mask is not None:
            scores -= 1e9 * ops.cast(ops.logical_not(scores_mask), dtype=floatx())
        return ops.matmul(ops.softmax(scores), value)

    def call(self, inputs, mask=None):
        self._check(inputs, mask)
        query, value = inputs[:2]
        query_mask, value_mask = mask or (None, None)
        scores = self._calculate_scores(query, inputs[2] if len(inputs) > 2 else value)
        if value_mask is not None:
            value_mask = ops.expand_dims(value_mask, axis=-2)
        scores_mask = _both(value_mask, _causal_mask(scores) if self.causal else None)
        result = self._apply_scores(scores, value, scores_mask)
        if query_mask is not None:
            result *= ops.cast(ops.expand_dims(query_mask, axis=-1), dtype=result.dtype)
        return result

    def compute_mask(self, inputs, mask=None):
        self._check(inputs, mask)
        return None if not mask or mask[0] is None else convert_to_tensor(mask[0])

    def _check(self, inputs, mask):
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or [query, value, key]."
            )
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. "
                f"Given length: {len(inputs)}"
            )
        if not mask:
            return
        if not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")
        if len(mask) != 2:
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. Given length: "
                f"{len(mask)}"
            )

    def get_config(self):
        return {**super().get_config(), "causal": self.causal}


def _both(mask, other):
    if mask is None or other is None:
        return other if mask is None else mask
    return ops.logical_and(mask, other)


def _causal_mask(scores):
    """Bools [1, queries, values]: whether a value is not later than a query."""
    sizes = ops.shape(scores)
    return _lower_triangular_mask(ops.concat([ops.ones_like(sizes[:-2]), sizes[-2:]], axis=0))


@public("python.keras.layers.dense_attention._lower_triangular_mask")
def _lower_triangular_mask(shape):
    """Bools of a shape: whether the last index is not greater than the one before it."""
    rows = ops.cumsum(ops.ones(shape=shape, dtype=dtypes.int32), axis=-2)
    columns = ops.cumsum(ops.ones(shape=shape, dtype=dtypes.int32), axis=-1)
    return ops.greater_equal(rows, columns)


@public("keras.layers.Attention")
class Attention(BaseDenseAttention):
    """Means of values, weighted by softmax(query * key): Luong et al. 2015, arXiv:1508.04025.

    It is called with [query, value], or [query, value, key], tensors [batch, steps, size].

    Args:
      use_scale: whether the products are multiplied by a variable.
      causal: whether no query sees later values.

    Raises:
      ValueError: if called with anything else.
    """

    def __init__(self, use_scale=False, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer=Ones(), dtype=self.dtype, trainable=True)
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        scores = ops.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}


@public("keras.layers.AdditiveAttention")
class AdditiveAttention(BaseDenseAttention):
    """Means of values, weighted by softmax(sum(tanh(query + key))): Bahdanau et al. 2015, arXiv:1409.0473.

    It is called with [query, value], or [query, value, key], tensors [batch, steps, size].

    Args:
      use_scale: whether the terms of the sum are multiplied by a variable.
      causal: whether no query sees later values.

    Raises:
      ValueError: if called with anything else.
    """

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        self.scale = None
        if self.use_scale:
            size = TensorShape(input_shape[1]).as_list()[-1]
            self.scale = self.add_weight(
                name="scale", shape=[size], initializer=GlorotUniform(), dtype=self.dtype, trainable=True
            )
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        query, key = ops.expand_dims(query, axis=-2), ops.expand_dims(key, axis=-3)
        scale = self.scale if self.use_scale else 1.0
        return ops.reduce_sum(scale * ops.tanh(query + key), axis=-1)

    def get_config(self):
        return {**super().get_config(), "use_scale": self.use_scale}
