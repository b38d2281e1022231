"""SDCAOptimizer: dual coordinate ascent for the linear models of tf.contrib.learn."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.linear_optimizer.linear_sdca import distinct_features
from stillflow.canned.linear_optimizer.model import SparseFeatureColumn
from stillflow.composites.checks import assert_that
from stillflow.contrib.layers.crossed_columns import _CrossedColumn
from stillflow.contrib.layers.dense_columns import _BucketizedColumn, _RealValuedColumn
from stillflow.contrib.layers.sparse_columns import SparseColumn, _WeightedSparseColumn
from stillflow.contrib.linear_optimizer.model import SdcaModel
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public


@public("contrib.linear_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """What SVM, and a LinearClassifier or LinearRegressor of tf.contrib.learn, are trained with by dual ascent.

    Args:
      example_id_column: the feature with the names of examples, a string vector, by which their states are kept.
      num_loss_partitions: how many training steps run at the same time.
      num_table_shards: how many tables keep the states.
      symmetric_l1_regularization: at least 0.
      symmetric_l2_regularization: at least 0; less than 1 counts as 1.
      adaptive: whether examples that matter more are taken more often.
      partitioner: of the variables. Those that it divides are refused.
    """

    def __init__(
        self, example_id_column, num_loss_partitions=1, num_table_shards=None, symmetric_l1_regularization=0.0,
        symmetric_l2_regularization=1.0, adaptive=True, partitioner=None,
    ):  # fmt: skip
        self.example_id_column = example_id_column
        self.num_loss_partitions = num_loss_partitions
        self.num_table_shards = num_table_shards
        self.symmetric_l1_regularization = symmetric_l1_regularization
        self.symmetric_l2_regularization = symmetric_l2_regularization
        self.adaptive = adaptive
        self.partitioner = partitioner

    def get_name(self):
        """What optimizers are called."""
        return "SDCAOptimizer"

    def get_train_step(self, columns_to_variables, weight_column_name, loss_type, features, targets, global_step):
        """(the SdcaModel, an operation that trains it).

        Args:
          columns_to_variables: {column of tf.contrib.layers: [variable]}.
          weight_column_name: the feature with the weights of examples, or None.
          loss_type: "logistic_loss", "squared_loss", "hinge_loss", ...
          features: {column or name: tensor}, transformed.
          targets: the labels.
          global_step: the variable that counts steps.

        Raises ValueError for other columns.
        """
        dense, dense_weights, sparse, sparse_weights = [], [], [], []
        for column in sorted(columns_to_variables, key=lambda column: column.key):
            tensor, weights = features[column], columns_to_variables[column]
            if isinstance(column, _RealValuedColumn):
                dense.append(_as_matrix(tensor))
                dense_weights.append(weights[0])
            else:
                sparse.append(_sparse_column(column, tensor))
                sparse_weights.append(weights if len(weights) > 1 else weights[0])
        size = targets.shape[0]
        weights = ops.reshape(features[weight_column_name], [-1]) if weight_column_name else ops.ones([size])
        examples = {
            "sparse_features": sparse,
            "dense_features": dense,
            "example_labels": ops.cast(ops.reshape(targets, [-1]), dtypes.float32),
            "example_weights": weights,
            "example_ids": features[self.example_id_column],
        }
        variables = {"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights}
        options = {
            "symmetric_l1_regularization": self.symmetric_l1_regularization,
            "symmetric_l2_regularization": self.symmetric_l2_regularization,
            "adaptive": self.adaptive,
            "num_loss_partitions": self.num_loss_partitions,
            "num_table_shards": self.num_table_shards,
            "loss_type": loss_type,
        }
        model = SdcaModel(examples, variables, options)
        return model, model.minimize(global_step=global_step)


def _as_matrix(tensor):
    is_matrix = assert_that(ops.less_equal(ops.rank(tensor), 2), ["transformed_tensor should have rank at most 2."])
    with control_dependencies([is_matrix]):
        return ops.reshape(tensor, [ops.shape(tensor)[0], -1])


def _sparse_column(column, tensor):
    """The entries of a column. Raises ValueError for a column that has none."""
    if isinstance(column, _BucketizedColumn):
        rows = column._to_dnn_input_layer(tensor)
        places = ops.where(ops.not_equal(rows, ops.cast(0.0, rows.dtype)))
        values = ops.cast(ops.gather_nd(rows, places), dtypes.float32)
        return SparseFeatureColumn(places[:, 0], places[:, 1], ops.reshape(values, [-1]))
    if isinstance(column, _WeightedSparseColumn):
        return distinct_features(column.id_tensor(tensor), column.weight_tensor(tensor))
    if isinstance(column, (_CrossedColumn, SparseColumn)):
        return distinct_features(tensor, None)
    raise ValueError(f"SDCAOptimizer does not support column type {type(column).__name__}.")
