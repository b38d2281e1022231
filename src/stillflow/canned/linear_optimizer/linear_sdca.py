"""LinearSDCA: stochastic dual coordinate ascent as the optimizer of linear Estimators."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.graph_heads.binary import BinaryGraphHead
from stillflow.canned.graph_heads.regression import RegressionGraphHead
from stillflow.canned.heads.binary import BinaryClassHead
from stillflow.canned.heads.regression import RegressionHead
from stillflow.canned.linear_optimizer.model import SdcaModel, SparseFeatureColumn
from stillflow.feature_columns.columns import CategoricalColumn, DenseColumn, is_feature_column_v2
from stillflow.feature_columns.layers import LinearModel
from stillflow.feature_columns.transformation import FeatureTransformationCache
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook


def distinct_features(ids, weights):
    """The entries of a sparse column, those of a feature that an example has twice as one with their sum.

    Features below 0, which stand for categories that are not known, are left out.
    """
    if weights is not None:
        weights = ops.reshape(weights.values, [-1])
    else:
        weights = ops.ones([ops.shape(ids.indices)[0]], dtypes.float32)
    examples = ops.reshape(ids.indices[:, 0], [-1])
    features = ops.cast(ops.reshape(ids.values, [-1]), dtypes.int64)
    is_known = ops.greater_equal(features, 0)
    features, examples, weights = (ops.boolean_mask(each, is_known) for each in (features, examples, weights))
    width = ops.reduce_max(features) + 1
    places, numbers = ops.unique(width * examples + features)
    count = ops.shape(places)[0]
    examples = ops.unsorted_segment_min(examples, numbers, count)
    sums = ops.reshape(ops.unsorted_segment_sum(weights, numbers, count), [-1])
    return SparseFeatureColumn(examples, places - width * examples, sums)


@public("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """What a LinearClassifier or a LinearRegressor takes as optimizer to be trained by dual coordinate ascent.

    The examples are named by a feature, by which their states are kept. Categories of an example are summed; there
    are two classes, or a label is one number.

    Args:
      example_id_column: the feature with the names, a string vector.
      num_loss_partitions: how many training steps run at the same time.
      num_table_shards: how many tables keep the states.
      symmetric_l1_regularization: at least 0.
      symmetric_l2_regularization: more than 0, of the order of the squared norm of examples.
      adaptive: whether examples that matter more are taken more often.
    """

    def __init__(
        self, example_id_column, num_loss_partitions=1, num_table_shards=None, symmetric_l1_regularization=0.0,
        symmetric_l2_regularization=1.0, adaptive=False,
    ):  # fmt: skip
        self._example_id_column = example_id_column
        self._options = {
            "symmetric_l1_regularization": symmetric_l1_regularization,
            "symmetric_l2_regularization": symmetric_l2_regularization,
            "adaptive": adaptive,
            "num_loss_partitions": num_loss_partitions,
            "num_table_shards": num_table_shards,
        }

    def get_train_step(
        self, state_manager, weight_column_name, loss_type, feature_columns, features, targets, bias_var, global_step
    ):
        """(the model, an operation that trains it).

        Args:
          state_manager: has the "weights" of each column.
          weight_column_name: the feature with the weights of examples, or None.
          loss_type: "logistic_loss", "squared_loss", ...
          feature_columns: categorical columns, and dense columns of vectors.
          features: {name: tensor}.
          targets: the labels.
          bias_var: the bias.
          global_step: the variable that counts steps.

        Raises ValueError for other columns.
        """
        batch_size = ops.shape(targets)[0]
        cache = FeatureTransformationCache(features)
        dense: list = []
        dense_weights: list = []
        sparse: list = []
        sparse_weights: list = []
        for column in sorted(feature_columns, key=lambda column: column.name):
            kind = type(column).__name__
            if isinstance(column, CategoricalColumn):
                pair = column.get_sparse_tensors(cache, state_manager)
                sparse.append(distinct_features(pair.id_tensor, pair.weight_tensor))
                sparse_weights.append(state_manager.get_variable(column, "weights"))
            elif isinstance(column, DenseColumn):
                if column.variable_shape.ndims != 1:
                    raise ValueError(f"Column {kind} has rank {column.variable_shape.ndims}, larger than 1.")
                dense.append(column.get_dense_tensor(cache, state_manager))
                dense_weights.append(state_manager.get_variable(column, "weights"))
            else:
                raise ValueError(f"LinearSDCA does not support column type {kind}.")
        dense.append(ops.ones([batch_size, 1]))
        dense_weights.append(bias_var)
        if weight_column_name:
            example_weights = ops.reshape(features[weight_column_name], [-1])
        else:
            example_weights = ops.ones([batch_size])
        model = SdcaModel(
            {
                "sparse_features": sparse,
                "dense_features": dense,
                "example_labels": ops.to_float(ops.reshape(targets, [-1])),
                "example_weights": example_weights,
                "example_ids": features[self._example_id_column],
            },
            {"sparse_features_weights": sparse_weights, "dense_features_weights": dense_weights},
            {**self._options, "loss_type": loss_type},
        )
        return model, model.minimize(global_step=global_step)


class UpdateWeights(SessionRunHook):
    """Gives the model its weights in each step."""

    def __init__(self, model, train_op):
        self._model = model
        self._train_op = train_op

    def begin(self):
        self._update_op = self._model.update_weights(self._train_op)

    def before_run(self, run_context):
        return SessionRunArgs(self._update_op)


def check_sdca(optimizer, feature_columns, sparse_combiner, is_scalar, message):
    """Raises ValueError if an optimizer is a LinearSDCA that cannot train such a model."""
    if not isinstance(optimizer, LinearSDCA):
        return
    if sparse_combiner != "sum":
        raise ValueError('sparse_combiner must be "sum" when optimizer is a LinearSDCA object.')
    if not is_feature_column_v2(feature_columns):
        raise ValueError("V2 feature columns required when optimizer is a LinearSDCA object.")
    if not is_scalar:
        raise ValueError(message)


def sdca_spec(features, labels, mode, head, feature_columns, optimizer, summarize, name="linear_model"):
    """The EstimatorSpec of a linear model with a LinearSDCA.

    Args:
      features, labels, mode, head: as model functions and heads have them.
      feature_columns: the columns.
      optimizer: the LinearSDCA.
      summarize: a function of the model that adds summaries.
      name: the name of the linear model.

    Raises ValueError for a head that is neither of two classes nor of numbers.
    """
    if isinstance(head, (BinaryGraphHead, BinaryClassHead)):
        loss_type = "logistic_loss"
    elif isinstance(head, (RegressionGraphHead, RegressionHead)) and head.logits_dimension == 1:
        loss_type = "squared_loss"
    else:
        raise ValueError(f"Unsupported head type: {head}")
    model = LinearModel(feature_columns, units=1, sparse_combiner="sum", name=name)
    logits = model(features)
    summarize(model)
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, logits=logits)
    sdca, train_op = optimizer.get_train_step(
        model.layer._state_manager, head._weight_column, loss_type, feature_columns, features, labels, model.bias,
        get_global_step(),
    )  # fmt: skip
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=lambda loss: train_op, logits=logits
    )
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, UpdateWeights(sdca, train_op)))
