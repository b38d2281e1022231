"""Embedding: rows of a matrix, looked up by number."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.values import dtype
from stillflow.layers.core import constraints, initializers, regularizers
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.serialization import serialize
from stillflow.layers.core.settings import floatx
from stillflow.names import public


@public("keras.layers.Embedding")
class Embedding(Layer):
    """Vectors that numbers stand for.

    Args:
      input_dim: how many numbers there are.
      output_dim: the size of vectors.
      embeddings_initializer: a callable or a name.
      embeddings_regularizer, activity_regularizer: functions to a loss, of the variable and of the outputs.
      embeddings_constraint: a function from the value after an update to the value to keep.
      mask_zero: whether 0 stands for nothing: where it is, the outputs are masked.
      input_length: the length of sequences, where it is known.
    """

    def __init__(
        self, input_dim, output_dim, embeddings_initializer="uniform", embeddings_regularizer=None,
        activity_regularizer=None, embeddings_constraint=None, mask_zero=False, input_length=None, **kwargs,
    ):  # fmt: skip
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length or None,)
        super().__init__(
            dtype=kwargs.pop("dtype", floatx()),
            autocast=False,
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs,
        )
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape):
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim), initializer=self.embeddings_initializer, name="embeddings",
            regularizer=self.embeddings_regularizer, constraint=self.embeddings_constraint,
        )  # fmt: skip
        self.built = True

    def compute_mask(self, inputs, mask=None):
        return ops.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        """The shape. Raises ValueError if it is not what `input_length` says."""
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        lengths = self.input_length if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        if len(lengths) != len(sizes) - 1 or any(
            None not in pair and pair[0] != pair[1] for pair in zip(lengths, sizes[1:], strict=True)
        ):
            raise ValueError(f'"input_length" is {self.input_length}, but received input has shape {tuple(sizes)}')
        known = [size if length is None else length for length, size in zip(lengths, sizes[1:], strict=True)]
        return TensorShape([sizes[0], *known, self.output_dim])

    def call(self, inputs):
        if dtype(inputs) not in ("int32", "int64"):
            inputs = ops.cast(inputs, "int32")
        return embedding_lookup(self.embeddings, inputs)

    def get_config(self):
        return {
            **super().get_config(), "input_dim": self.input_dim, "output_dim": self.output_dim,
            "embeddings_initializer": serialize(self.embeddings_initializer),
            "embeddings_regularizer": serialize(self.embeddings_regularizer),
            "activity_regularizer": serialize(self.activity_regularizer),
            "embeddings_constraint": serialize(self.embeddings_constraint), "mask_zero": self.mask_zero,
            "input_length": self.input_length,
        }  # fmt: skip
