"""tf.feature_column.crossed_column: combinations of features as categories, numbered by their hashes."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import VarLenFeature
from stillflow.feature_columns.categorical import HashedCategoricalColumn
from stillflow.feature_columns.columns import (
    CategoricalColumn,
    OldCategoricalColumn,
    OldFeatureColumn,
    of_columns,
)
from stillflow.graph import dtypes
from stillflow.names import public


class _Crossed(NamedTuple):
    keys: Any
    hash_bucket_size: Any
    hash_key: Any


@public(
    "python.feature_column.feature_column._CrossedColumn", "python.feature_column.feature_column_v2.CrossedColumn"
)
class CrossedColumn(CategoricalColumn, _Crossed):
    """All combinations of a category of each of several features."""

    def _leaves(self):
        """Names and columns; crosses among them are taken apart."""
        found: list = []
        for key in self.keys:
            found.extend(key._leaves() if isinstance(key, CrossedColumn) else [key])
        return found

    @property
    def _is_v2_column(self):
        return of_columns(*self._leaves())

    @property
    def name(self):
        names = [key.name if isinstance(key, OldFeatureColumn) else key for key in self._leaves()]
        return "_X_".join(sorted(names))

    @property
    def parse_example_spec(self):
        spec: dict = {}
        for key in self.keys:
            spec.update(
                key.parse_example_spec if isinstance(key, OldFeatureColumn) else {key: VarLenFeature(dtypes.string)}
            )
        return spec

    def transform_feature(self, transformation_cache, state_manager):
        tensors = []
        for key in self._leaves():
            if isinstance(key, str):
                tensors.append(transformation_cache.get(key, state_manager))
            elif isinstance(key, OldCategoricalColumn):
                found = transformation_cache.sparse_tensors(key, state_manager)
                if found.weight_tensor is not None:
                    raise ValueError(
                        "crossed_column does not support weight_tensor, but the given column populates "
                        f"weight_tensor. Given column: {key.name}"
                    )
                tensors.append(found.id_tensor)
            else:
                raise ValueError(f"Unsupported column type. Given: {key}")
        return ops.sparse_cross_hashed(tensors, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return self.IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def parents(self):
        return list(self.keys)


@public("feature_column.crossed_column", "python.feature_column.feature_column._crossed_column")
def crossed_column(keys, hash_bucket_size, hash_key=None):
    """A column of all combinations of features, numbered by their hashes.

    Args:
      keys: names of features, and categorical columns, at least two; none by hash, whose collisions would add up.
      hash_bucket_size: how many numbers there are.
      hash_key: an integer that all hashes depend on.

    Raises ValueError for other things.
    """
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, OldCategoricalColumn)):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                "increase probability of collision. Instead, use the feature name as a string. Given: "
                f"{key}"
            )
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)
