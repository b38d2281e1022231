"""Layers of columns: DenseFeatures, SequenceFeatures and LinearModel, which Estimators and tf.keras build on."""

from __future__ import annotations

import collections

from stillflow import ops
from stillflow.feature_columns import configs
from stillflow.feature_columns.columns import CategoricalColumn, DenseColumn, FeatureColumn, SequenceDenseColumn
from stillflow.feature_columns.columns import checked_columns as _checked_columns
from stillflow.feature_columns.input_layer import check_batch_sizes
from stillflow.feature_columns.linear_model import sum_of_categories, sum_of_numbers
from stillflow.feature_columns.sequences import all_equal
from stillflow.feature_columns.state import StateManager
from stillflow.feature_columns.transformation import FeatureTransformationCache
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


@public("python.feature_column.feature_column_v2._StateManagerImpl")
class LayerVariables(StateManager):
    """Keeps the variables of columns in a layer.

    Args:
      layer: the Layer.
      trainable: whether those that may be trained are.
    """

    def __init__(self, layer, trainable):
        self._layer = layer
        self._trainable = trainable
        self._variables: dict = collections.defaultdict(dict)
        self._resources: dict = collections.defaultdict(dict)

    def create_variable(
        self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True, initializer=None
    ):
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        self._variables[feature_column][name] = self._made(
            name=name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=self._trainable and trainable,
            use_resource=use_resource,
        )
        return self._variables[feature_column][name]

    def _made(self, **settings):
        """A new variable of the layer, in the scopes of variables."""
        return self._layer.add_variable(getter=get_variable, **settings)

    def get_variable(self, feature_column, name):
        if name not in self._variables[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._variables[feature_column][name]

    def add_resource(self, feature_column, name, resource):
        self._resources[feature_column][name] = resource

    def get_resource(self, feature_column, name):
        if name not in self._resources[feature_column]:
            raise ValueError("Resource does not exist.")
        return self._resources[feature_column][name]


def _sorted_columns(feature_columns):
    return sorted(_checked_columns(feature_columns, FeatureColumn), key=lambda column: column.name)


def _scope(name):
    """A scope of variables that is none of names."""
    return variable_scope(name, auxiliary_name_scope=False)


class _OfColumns(Layer):
    """A layer that is made of columns."""

    _feature_columns: list

    def get_config(self):
        config = super().get_config()
        return {**config, "feature_columns": configs.serialize_feature_columns(self._feature_columns)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        columns = configs.deserialize_feature_columns(config["feature_columns"], custom_objects)
        return cls(**{**config, "feature_columns": columns})

    def _check_features(self, features):
        if not isinstance(features, dict):
            raise ValueError("We expected a dictionary here. Instead we got: ", features)


class _Concatenated(_OfColumns):
    """The numbers of all columns beside each other."""

    _KIND: type = FeatureColumn

    def __init__(self, feature_columns, trainable=True, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = _sorted_columns(feature_columns)
        self._state_manager = LayerVariables(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, self._KIND):
                raise ValueError(
                    f"Items of feature_columns must be a {self._KIND}. You can wrap a categorical column with an "
                    f"embedding_column or indicator_column. Given: {column}"
                )

    @property
    def _is_feature_layer(self):
        return True

    def build(self, _):
        """Makes the variables of the columns."""
        for column in self._feature_columns:
            with _scope(self.name), _scope(column.name):
                column.create_state(self._state_manager)
        super().build(None)

    def _target_shape(self, input_shape, total_elements):
        raise NotImplementedError

    def compute_output_shape(self, input_shape):
        total = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        return self._target_shape(input_shape, total)

    def _flat(self, column, tensor):
        width = column.variable_shape.num_elements()
        return ops.reshape(tensor, shape=self._target_shape(ops.shape(tensor), width))

    def _beside(self, tensors):
        check_batch_sizes(tensors, self._feature_columns)
        return ops.concat(tensors, -1)


@public("keras.layers.DenseFeatures", "python.feature_column.dense_features.DenseFeatures")
class DenseFeatures(_Concatenated):
    """The numbers of dense columns beside each other, in the order of their names: [batch, numbers].

    Args:
      feature_columns: dense columns, that know the newer spelling.
      trainable: whether their variables are to be trained.
      name: the layer's name.

    Raises ValueError for other columns.
    """

    _KIND = DenseColumn

    def _target_shape(self, input_shape, total_elements):
        return (input_shape[0], total_elements)

    def call(self, features, cols_to_output_tensors=None):  # type: ignore[override]
        """Computes them of {name: tensor or SparseTensor}; `cols_to_output_tensors`: a dict for those of each."""
        self._check_features(features)
        cache = FeatureTransformationCache(features)
        tensors = []
        for column in self._feature_columns:
            with name_scope(column.name):
                tensor = self._flat(column, column.get_dense_tensor(cache, self._state_manager))
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = tensor
                tensors.append(tensor)
        return self._beside(tensors)


@public("keras.experimental.SequenceFeatures", "python.feature_column.sequence_feature_column.SequenceFeatures")
class SequenceFeatures(_Concatenated):
    """The numbers of columns for each step of sequences, [batch, steps, numbers], and the lengths of the sequences.

    Args:
      feature_columns: columns of sequences, that know the newer spelling.
      trainable: whether their variables are to be trained.
      name: the layer's name.

    Raises ValueError for other columns.
    """

    _KIND = SequenceDenseColumn

    def _target_shape(self, input_shape, total_elements):
        return (input_shape[0], input_shape[1], total_elements)

    def call(self, features):  # type: ignore[override]
        """Computes them of {name: tensor or SparseTensor}."""
        self._check_features(features)
        cache = FeatureTransformationCache(features)
        tensors, lengths = [], []
        for column in self._feature_columns:
            with name_scope(column.name):
                dense, length = column.get_sequence_dense_tensor(cache, self._state_manager)
                tensors.append(self._flat(column, dense))
                lengths.append(length)
        check_batch_sizes(lengths, self._feature_columns)
        length = all_equal(lengths)
        return self._beside(tensors), length


@public("python.feature_column.feature_column_v2._LinearModelLayer")
class LinearModelLayer(_OfColumns):
    """The sum of weights of all features, and a bias: [batch, units].

    Args:
      feature_columns: dense and categorical columns, that know the newer spelling.
      units: how many sums there are for each example.
      sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".
      trainable: whether the weights are to be trained.
      name: the layer's name.

    Raises ValueError for other columns.
    """

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = _sorted_columns(feature_columns)
        for column in self._feature_columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError(
                    f"Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: {column}"
                )
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = LayerVariables(self, self.trainable)
        self.bias = None

    def build(self, input_shape):
        """Makes the weights, and the variables of the columns."""
        with _scope(self.name):
            for column in self._feature_columns:
                with _scope(column.name):
                    column.create_state(self._state_manager)
                    is_categorical = isinstance(column, CategoricalColumn)
                    count = column.num_buckets if is_categorical else column.variable_shape.num_elements()
                    self._state_manager.create_variable(
                        column,
                        name="weights",
                        dtype=dtypes.float32,
                        shape=(count, self._units),
                        initializer=Zeros(),
                        trainable=self.trainable,
                    )
            self.bias = self.add_variable(
                name="bias_weights",
                dtype=dtypes.float32,
                shape=[self._units],
                initializer=Zeros(),
                trainable=self.trainable,
                use_resource=True,
                getter=get_variable,
            )
        super().build(None)

    def call(self, features):  # type: ignore[override]
        """Computes the sums of {name: tensor or SparseTensor}."""
        if not isinstance(features, dict):
            raise ValueError(f"We expected a dictionary here. Instead we got: {features}")
        with name_scope(self.name):
            cache = FeatureTransformationCache(features)
            sums = []
            for column in self._feature_columns:
                with name_scope(column.name):
                    sums.append(self._weighted_sum(column, cache))
            check_batch_sizes(sums, self._feature_columns)
            total = ops.add_n(sums, name="weighted_sum_no_bias")
            return ops.bias_add(total, self.bias, name="weighted_sum")

    def _weighted_sum(self, column, cache):
        weights = self._state_manager.get_variable(column, "weights")
        if isinstance(column, CategoricalColumn):
            sparse = column.get_sparse_tensors(cache, self._state_manager)
            return sum_of_categories(sparse, weights, self._sparse_combiner)
        tensor = column.get_dense_tensor(cache, self._state_manager)
        return sum_of_numbers(tensor, column.variable_shape.num_elements(), weights)

    def get_config(self):
        return {**super().get_config(), "units": self._units, "sparse_combiner": self._sparse_combiner}


@public("python.feature_column.feature_column_v2.LinearModel")
class LinearModel(Layer):
    """A model of one LinearModelLayer, whose arguments it takes."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.layer = LinearModelLayer(feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs)

    def call(self, features):  # type: ignore[override]
        """Computes the sums of {name: tensor or SparseTensor}."""
        return self.layer(features)

    @property
    def bias(self):
        """The variable of the bias; None before the first call."""
        return self.layer.bias
