"""What feature columns are: dense ones, categorical ones, and those of sequences; in both of TensorFlow's spellings.

A column offers `transform_feature(cache, state_manager)`, `parse_example_spec` and so on. Columns of programs may
offer the older `_transform_feature(inputs)`, `_parse_example_spec` instead, and all can be called either way. Those
that offer the new ones are of classes without the "Old" in their names.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from stillflow.feature_columns import configs
from stillflow.feature_columns.state import ScopedVariables
from stillflow.names import public


class _InAnyOrder(abc.ABCMeta):
    """Lets columns name the class of old columns before the new one, which here is one of them."""

    def __new__(mcs, name, bases, namespace, **kwargs):
        kept = [
            base
            for index, base in enumerate(bases)
            if not any(issubclass(later, base) and later is not base for later in bases[index + 1 :])
        ]
        return super().__new__(mcs, name, tuple(kept), namespace, **kwargs)


@public("python.feature_column.feature_column._FeatureColumn")
class OldFeatureColumn(metaclass=_InAnyOrder):
    """A description of a feature."""

    @property
    @abc.abstractmethod
    def name(self):
        """The column's name, one of its kind in a model."""

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)

    def _overrides(self, *names):
        """Whether the column's class has one of these itself."""
        return any(getattr(type(self), name) is not getattr(OldFeatureColumn, name) for name in names)

    @property
    def parse_example_spec(self):
        """{name of a raw feature: tf.FixedLenFeature or tf.VarLenFeature}."""
        if self._overrides("_parse_example_spec"):
            return self._parse_example_spec
        raise NotImplementedError(f"{type(self).__name__}.parse_example_spec")

    def transform_feature(self, transformation_cache, state_manager):
        """Tensors of raw features.

        Args:
          transformation_cache: a FeatureTransformationCache.
          state_manager: a StateManager, or None.
        """
        if self._overrides("_transform_feature"):
            return self._transform_feature(transformation_cache)
        raise NotImplementedError(f"{type(self).__name__}.transform_feature")

    def create_state(self, state_manager):
        """Makes the variables that the column needs, with a StateManager; here none."""
        return

    @property
    def parents(self):
        """What it is made of: columns, or names of raw features."""
        raise NotImplementedError(f"{type(self).__name__}.parents")

    @property
    def _is_v2_column(self):
        """Whether it knows the newer spelling."""
        return False

    # ---- The older spelling ---------------------------------------------------------------------------------

    @property
    def _var_scope_name(self):
        return self.name

    @property
    def _parse_example_spec(self):
        return self.parse_example_spec

    def _transform_feature(self, inputs):
        return self.transform_feature(inputs, None)


@public("python.feature_column.feature_column._DenseColumn")
class OldDenseColumn(OldFeatureColumn):
    """A column of numbers, as many for each example."""

    @property
    def variable_shape(self):
        """The shape of an example's numbers, a TensorShape."""
        if self._defines(OldDenseColumn, "_variable_shape"):
            return self._variable_shape
        raise NotImplementedError(f"{type(self).__name__}.variable_shape")

    def get_dense_tensor(self, transformation_cache, state_manager):
        """The tensor of shape [batch, *variable_shape]. The arguments are transform_feature's."""
        if self._defines(OldDenseColumn, "_get_dense_tensor"):
            return self._get_dense_tensor(transformation_cache)
        raise NotImplementedError(f"{type(self).__name__}.get_dense_tensor")

    @property
    def _variable_shape(self):
        return self.variable_shape

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.get_dense_tensor(inputs, ScopedVariables(weight_collections, trainable))

    def _defines(self, cls, name):
        return getattr(type(self), name) is not getattr(cls, name)


class IdWeightPair(NamedTuple):
    """The numbers of categories, a SparseTensor, and their weights, another one or None."""

    id_tensor: Any
    weight_tensor: Any


@public("python.feature_column.feature_column._CategoricalColumn")
class OldCategoricalColumn(OldFeatureColumn):
    """A column of categories, any number for each example."""

    IdWeightPair = IdWeightPair

    @property
    def num_buckets(self):
        """How many categories there are."""
        if type(self)._num_buckets is not OldCategoricalColumn._num_buckets:
            return self._num_buckets
        raise NotImplementedError(f"{type(self).__name__}.num_buckets")

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """An IdWeightPair. The arguments are transform_feature's."""
        if type(self)._get_sparse_tensors is not OldCategoricalColumn._get_sparse_tensors:
            return self._get_sparse_tensors(transformation_cache)
        raise NotImplementedError(f"{type(self).__name__}.get_sparse_tensors")

    @property
    def _num_buckets(self):
        return self.num_buckets

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.get_sparse_tensors(inputs, None)


class TensorSequenceLengthPair(NamedTuple):
    """Numbers for each step of a sequence, and the lengths of the sequences."""

    dense_tensor: Any
    sequence_length: Any


@public("python.feature_column.feature_column._SequenceDenseColumn")
class OldSequenceDenseColumn(OldFeatureColumn):
    """A column of numbers for each step of a sequence."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        """A TensorSequenceLengthPair. The arguments are transform_feature's."""
        own = type(self)._get_sequence_dense_tensor
        if own is not OldSequenceDenseColumn._get_sequence_dense_tensor:
            return self._get_sequence_dense_tensor(transformation_cache)
        raise NotImplementedError(f"{type(self).__name__}.get_sequence_dense_tensor")

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.get_sequence_dense_tensor(inputs, ScopedVariables(weight_collections, trainable))


# ---- Columns that know the newer spelling -------------------------------------------------------------------------


@public("python.feature_column.feature_column_v2.FeatureColumn")
class FeatureColumn(OldFeatureColumn):
    """A description of a feature."""

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("stillflow."):
            configs.COLUMNS[cls.__name__] = cls

    def _get_config(self):
        """Plain values of which `_from_config` makes such a column."""
        return configs.config_of(self)

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        return configs.from_config(cls, config, custom_objects, columns_by_name)


@public("python.feature_column.feature_column_v2.DenseColumn")
class DenseColumn(OldDenseColumn, FeatureColumn):
    """A column of numbers, as many for each example."""


@public("python.feature_column.feature_column_v2.CategoricalColumn")
class CategoricalColumn(OldCategoricalColumn, FeatureColumn):
    """A column of categories, any number for each example."""


@public("python.feature_column.feature_column_v2.SequenceDenseColumn")
class SequenceDenseColumn(OldSequenceDenseColumn, FeatureColumn):
    """A column of numbers for each step of a sequence."""


@public("python.feature_column.feature_column_v2.is_feature_column_v2")
def is_feature_column_v2(feature_columns):
    """Whether all columns know the newer spelling."""
    return all(isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns)


def spelled(kind):
    """What messages call a class of columns: the older ones begin with "_"."""
    return kind.__name__.replace("Old", "_")


def of_columns(*columns):
    """Whether what a column is made of knows the newer spelling."""
    return all(isinstance(column, str) for column in columns) or is_feature_column_v2(
        [column for column in columns if not isinstance(column, str)]
    )


def checked_columns(feature_columns, kind=OldFeatureColumn):
    """A list of columns of a kind, of a column or several.

    Raises ValueError for what is no column or a dict, if there are none, or two have the same name.
    """
    if isinstance(feature_columns, kind):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    feature_columns = list(feature_columns)
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError(
                f"Items of feature_columns must be a {spelled(kind)}. Given (type {type(column)}): {column}."
            )
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually "
                "means that these columns refer to same base feature. Either one must be discarded or a duplicated "
                "but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return feature_columns
