"""tf.feature_column.linear_model: a sum of weights of all features."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.embedding_lookup_sparse import safe_embedding_lookup_sparse
from stillflow.feature_columns.columns import OldCategoricalColumn, OldDenseColumn, checked_columns
from stillflow.feature_columns.input_layer import check_batch_sizes, with_model_variables
from stillflow.feature_columns.transformation import LazyBuilder
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.scope import variable_scope


@public("feature_column.linear_model")
def linear_model(
    features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
    cols_to_vars=None,
):  # fmt: skip
    """The predictions of a linear model: for each example the sum of its features times weights, and a bias.

    Args:
      features: {name: tensor or SparseTensor}.
      feature_columns: dense and categorical columns.
      units: how many predictions there are for each example.
      sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".
      weight_collections: the collections to add variables to, besides the usual ones.
      trainable: whether optimizers change them.
      cols_to_vars: a dict to put {column, or "bias": its variables} into.

    Returns:
      A tensor [batch, units].

    Raises ValueError for other columns, and batches of different sizes.
    """
    with variable_scope(None, "linear_model") as scope:
        name = _last_part(scope.name)
    model = LinearModel(feature_columns, units, sparse_combiner, weight_collections, trainable, name)
    predictions = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return predictions


def _last_part(name):
    return name.rpartition("/")[2]


@public("python.feature_column.feature_column._LinearModel")
class LinearModel:
    """A linear model, of columns as input_layer takes them, that can be called once.

    Args:
      feature_columns, units, sparse_combiner, weight_collections, trainable: as for linear_model.
      name: of its scopes.
    """

    def __init__(
        self, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
        name="linear_model",
    ):  # fmt: skip
        columns = checked_columns(feature_columns)
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._collections = with_model_variables(weight_collections)
        self._trainable = trainable
        self.name = name
        self._cols_to_vars: dict = {}
        self._columns: dict = {}  # by the names of their scopes
        for column in sorted(columns, key=lambda column: column.name):
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                self._columns[_last_part(scope.name)] = column

    def cols_to_vars(self):
        """{column, or "bias": its variables}, once it has been called."""
        return self._cols_to_vars

    def __call__(self, features):
        """The predictions for {name: tensor or SparseTensor}."""
        for column in self._columns.values():
            if not isinstance(column, (OldDenseColumn, OldCategoricalColumn)):
                raise ValueError(
                    f"Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. Given: {column}"
                )
        # Both scopes of names are TensorFlow's, whose model is a layer that opens a scope of variables.
        with name_scope(self.name), variable_scope(self.name):
            builder = LazyBuilder(features)
            sums, ordered = [], []
            for name, column in sorted(self._columns.items()):
                ordered.append(column)
                with variable_scope(None, default_name=name) as scope:
                    sums.append(self._weighted_sum(column, builder))
                    self._cols_to_vars[column] = _variables_in(scope)
            check_batch_sizes(sums, ordered)
            total = ops.add_n(sums, name="weighted_sum_no_bias")
            bias = self._weights("bias_weights", [self._units])
            self._cols_to_vars["bias"] = list(bias) if isinstance(bias, PartitionedVariable) else [bias]
            return ops.bias_add(total, bias, name="weighted_sum")

    def _weights(self, name, shape):
        weights = get_variable(
            name,
            shape=shape,
            initializer=Zeros(),
            trainable=self._trainable,
            use_resource=True,
        )
        graph = get_default_graph()
        for part in weights if isinstance(weights, PartitionedVariable) else [weights]:
            for key in self._collections:
                if key != GraphKeys.GLOBAL_VARIABLES:
                    graph.add_to_collection(key, part)
        return weights

    def _weighted_sum(self, column, builder):
        if isinstance(column, OldCategoricalColumn):
            weights = self._weights("weights", (column._num_buckets, self._units))
            sparse = column._get_sparse_tensors(
                builder, weight_collections=self._collections, trainable=self._trainable
            )
            return sum_of_categories(sparse, weights, self._sparse_combiner)
        weights = self._weights("weights", [column._variable_shape.num_elements(), self._units])
        tensor = column._get_dense_tensor(builder, weight_collections=self._collections, trainable=self._trainable)
        return sum_of_numbers(tensor, column._variable_shape.num_elements(), weights)


def _variables_in(scope):
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope.name)


def sum_of_categories(sparse, weights, combiner):
    """The sum of the weights of an example's categories, an IdWeightPair: [batch, units]."""
    ids, own_weights = sparse
    ids = ops.sparse_reshape(ids, [ops.shape(ids)[0], -1])
    if own_weights is not None:
        own_weights = ops.sparse_reshape(own_weights, [ops.shape(own_weights)[0], -1])
    return safe_embedding_lookup_sparse(
        weights, ids, sparse_weights=own_weights, combiner=combiner, name="weighted_sum"
    )


def sum_of_numbers(tensor, width, weights):
    """The sum of an example's numbers times weights: [batch, units]."""
    batch_size = ops.shape(tensor)[0]
    return ops.matmul(ops.reshape(tensor, shape=(batch_size, width)), weights, name="weighted_sum")
