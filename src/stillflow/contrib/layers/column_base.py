"""What columns of tf.contrib.layers have in common."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.contrib.layers.plain import inner_flatten


class LookupArguments(NamedTuple):
    """What is looked up in a matrix: numbers and their weights, SparseTensors, and of what size it is."""

    input_tensor: object
    weight_tensor: object
    vocab_size: int
    initializer: object
    combiner: str


class FeatureColumn:
    """A feature, or what is made of some. It is a named tuple besides, whose names and values make its key."""

    # Fields that its key leaves out.
    left_out_of_key: tuple = ()

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

    def insert_transformed_feature(self, columns_to_tensors):
        """Adds what it makes of the tensors of features and other columns to them."""
        raise NotImplementedError

    def parent_tensor(self, column, columns_to_tensors):
        """What another column made."""
        if column not in columns_to_tensors:
            column.insert_transformed_feature(columns_to_tensors)
        return columns_to_tensors[column]

    def dense_input(self, input_tensor, output_rank):
        """Its part of the input of a network. Raises ValueError if it has none."""
        raise ValueError(
            f"{type(self).__name__.lstrip('_')} is not supported in DNN. Please use embedding_column or "
            f"one_hot_column. column: {self}"
        )

    def embedding_arguments(self, input_tensor):
        """The LookupArguments of vectors, or None."""
        return

    def linear_arguments(self, input_tensor):
        """The LookupArguments of the weights of a linear model, or None where they multiply a dense tensor."""
        return

    def checkpoint_path(self):
        """(a checkpoint, the name in it) that its variable comes from, or None."""
        return


def reshaped(tensor, output_rank, column_name):
    """A tensor of another rank: with a dimension more, or the last ones as one. Raises ValueError for less."""
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
