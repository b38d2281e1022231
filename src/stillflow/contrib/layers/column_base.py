"""What columns of tf.contrib.layers have in common."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.contrib.layers.plain import inner_flatten
from stillflow.feature_columns.columns import OldCategoricalColumn
from stillflow.ops.sparse_tensor import is_sparse


class LookupArguments(NamedTuple):
    """What is looked up in a matrix: numbers and their weights, SparseTensors, and of what size it is."""

    input_tensor: object
    weight_tensor: object
    vocab_size: int
    initializer: object
    combiner: str


class Transformed:
    """The tensors of features and columns, of which `get` makes what is missing.

    Args:
      columns_to_tensors: {name of a feature, or column: tensor}, which gets what is made.
    """

    def __init__(self, columns_to_tensors):
        self._tensors = columns_to_tensors

    def get(self, key):
        """The tensor. Raises KeyError if there is no such feature, TypeError for other keys."""
        if key not in self._tensors:
            if isinstance(key, str):
                raise KeyError(key)
            if not isinstance(key, FeatureColumn):
                raise TypeError(f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}')
            key.insert_transformed_feature(self._tensors)
        return self._tensors[key]


class FeatureColumn:
    """A feature, or what is made of some. It is a named tuple besides, whose names and values make its key.

    Most are columns of tf.feature_column too, of which they have the methods that begin with "_".
    """

    # Fields that its key leaves out.
    left_out_of_key: tuple = ()
    # Whether its features can be crossed with those of others, which needs `crossed_input`.
    is_crossable = False
    # Whether it can be the input of a sequence model; None if it can by way of another column.
    suits_sequences: bool | None = None
    # The columns that it is made of.
    parents: tuple = ()

    name: str
    config: dict
    _fields: tuple

    @property
    def key(self):
        """A text that tells it from other columns, and puts columns in order."""
        if not self.left_out_of_key:
            return str(self)
        kept = [f"{name}={getattr(self, name)}" for name in self._fields if name not in self.left_out_of_key]
        return f"{type(self).__name__}({', '.join(kept)})"

    def _transform_feature(self, inputs):
        """What it makes of features and other columns, which `inputs.get` has."""
        raise NotImplementedError(f"Transform is not implemented for {self}.")

    @property
    def _parse_example_spec(self):
        return self.config

    def insert_transformed_feature(self, columns_to_tensors):
        """Adds what it makes of the tensors of features and other columns to them."""
        columns_to_tensors[self] = self._transform_feature(Transformed(columns_to_tensors))

    def crossed_input(self, inputs):
        """What is crossed with other features, if it is crossable."""
        raise NotImplementedError(f"{type(self).__name__}.crossed_input")

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        """Its part of the input of a network. Raises ValueError if it has none."""
        raise ValueError(
            f"{type(self).__name__.lstrip('_')} is not supported in DNN. Please use embedding_column or "
            f"one_hot_column. column: {self}"
        )

    def vectors(self, input_tensor, collections, trainable, output_rank):
        """The same of columns whose part are rows of a variable; None for others."""
        return

    def _wide_embedding_lookup_arguments(self, input_tensor):
        """The LookupArguments of the weights of a linear model, or None where they multiply a dense tensor."""
        return

    def checkpoint_path(self):
        """(a checkpoint, the name in it) that its variable comes from, or None."""
        return


class CategoricalColumn(FeatureColumn, OldCategoricalColumn):
    """A column whose transformed tensor has numbers of categories, and maybe weights."""

    length: int

    def id_tensor(self, input_tensor):
        """The numbers."""
        return input_tensor

    def weight_tensor(self, input_tensor):
        """Their weights, or None."""
        return

    @property
    def _num_buckets(self):
        return self.length

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        transformed = inputs.get(self)
        return self.IdWeightPair(self.id_tensor(transformed), self.weight_tensor(transformed))


def reshaped(tensor, output_rank, column_name):
    """A tensor or SparseTensor of another rank: with a dimension more, or the last ones as one.

    Raises ValueError for less, and for an unknown rank.
    """
    rank = tensor.get_shape().ndims
    if rank is None and is_sparse(tensor):
        rank = tensor.dense_shape.get_shape().as_list()[0]
    if rank is None:
        raise ValueError(f"Error while processing column {column_name}. Rank of input Tensor can not be None.")
    if output_rank > rank + 1:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor ({rank}) should be the same as "
            f"output_rank ({output_rank}). For example, sequence data should typically be 3 dimensional (rank 3) "
            "while non-sequence data is typically 2 dimensional (rank 2)."
        )
    if output_rank == rank + 1:
        if is_sparse(tensor):
            return ops.sparse_reshape(tensor, ops.concat([tensor.dense_shape, [1]], 0))
        return ops.expand_dims(tensor, -1)
    return tensor if output_rank == rank else inner_flatten(tensor, output_rank)


def reshaped_numbers(tensor, output_rank, column_name):
    """The same of a tensor of numbers, whose rank need not be known."""
    rank = tensor.get_shape().ndims
    if rank is not None:
        if output_rank > rank + 1:
            raise ValueError(
                f"Error while processing column {column_name}.Rank of input Tensor ({rank}) should be the same as "
                f"output_rank ({output_rank}). For example, sequence data should typically be 3 dimensional (rank 3) "
                "while non-sequence data is typically 2 dimensional (rank 2)."
            )
        if output_rank == rank + 1:
            return ops.expand_dims(tensor, -1, name="expand_dims")
        if output_rank == rank:
            return tensor
    return inner_flatten(tensor, output_rank)
