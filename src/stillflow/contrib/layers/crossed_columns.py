"""Crossed columns for tf.contrib.layers' inputs: the hashes of all combinations of features of several columns."""

from __future__ import annotations

from typing import NamedTuple

from stillflow.contrib.layers.column_base import CategoricalColumn, LookupArguments
from stillflow.contrib.layers.feature_cross import sparse_feature_cross
from stillflow.names import public
from stillflow.variables.initializers import Zeros


class _CrossedFields(NamedTuple):
    columns: tuple
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


class _CrossedColumn(CategoricalColumn, _CrossedFields):
    is_crossable = True
    suits_sequences = False

    @property
    def name(self):
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def length(self):
        return self.hash_bucket_size

    @property
    def config(self):
        found = {}
        for column in self.columns:
            found.update(column.config)
        return found

    @property
    def parents(self):
        return self.columns

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        raise ValueError(f"CrossedColumn is not supported in DNN. Please use embedding_column. column: {self}")

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LookupArguments(input_tensor, None, self.length, Zeros(), self.combiner)

    def checkpoint_path(self):
        return self.ckpt_to_load_from and (self.ckpt_to_load_from, self.tensor_name_in_ckpt)

    def _leaves(self):
        """The columns that are crossed, those of crossed ones among them."""
        for column in self.columns:
            if isinstance(column, _CrossedColumn):
                yield from column._leaves()
            else:
                yield column

    def _transform_feature(self, inputs):
        tensors = [column.crossed_input(inputs) for column in self._leaves()]
        return sparse_feature_cross(
            tensors, hashed_output=True, num_buckets=self.hash_bucket_size, hash_key=self.hash_key, name="cross"
        )


@public("contrib.layers.crossed_column")
def crossed_column(
    columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None, hash_key=None
):
    """A column of the hashes of all combinations of features of several columns.

    Args:
      columns: columns of categories, of buckets, and crossed ones.
      hash_bucket_size: how many numbers there are.
      combiner: how several of a row are put together: "sum", "mean" or "sqrtn".
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name in it that a linear model's weights come from.
      hash_key: as of tf.sparse.cross_hashed.

    Raises:
      TypeError: for other columns.
      ValueError: for less than two columns or numbers, and a checkpoint without name.
    """
    for column in columns:
        if not getattr(column, "is_crossable", False):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. (column "
                f"{column} is a {type(column).__name__})"
            )
    if len(columns) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    in_order = tuple(sorted(columns, key=lambda column: column.name))
    return _CrossedColumn(in_order, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
