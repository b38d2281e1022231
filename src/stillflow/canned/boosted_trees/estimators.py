"""tf.estimator.BoostedTreesClassifier and its kin: gradient boosted trees (Friedman, 2001), grown layer by layer."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.boosted_trees.columns import names_of_features
from stillflow.canned.boosted_trees.explanations import explained, importances_by_name
from stillflow.canned.boosted_trees.growers import TreeParams
from stillflow.canned.boosted_trees.model import DEBUG_KEY, explanations_fn, model_fn
from stillflow.canned.graph_heads.binary import BinaryGraphHead, binary_head
from stillflow.canned.graph_heads.multi_class import MultiClassGraphHead
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.canned.head_checks import checked_labels
from stillflow.estimator.estimator import Estimator
from stillflow.graph import dtypes
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.saver.checkpoint_reader import load_checkpoint
from stillflow.variables.defaults import enable_resource_variables

# Stands for the only number of classes, or of labels, that there can be.
ONE_LOGIT = object()


@public("python.estimator.canned.boosted_trees._create_classification_head")
def classification_head(n_classes, weight_column=None, label_vocabulary=None):
    """The head of a classifier. Raises ValueError unless there are two classes."""
    if n_classes != 2:
        raise ValueError(f"For now only binary classification is supported.n_classes given as {n_classes}")
    return binary_head(
        weight_column=weight_column,
        label_vocabulary=label_vocabulary,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    )


def _derivatives_of_log_loss(logits, labels):
    """(gradients, hessians) of the mean of the cross entropy."""
    predictions = ops.reciprocal(ops.exp(-logits) + 1.0)
    share = ops.reciprocal(ops.cast(ops.size(predictions), dtypes.float32))
    labels = checked_labels(ops.cast(labels, dtypes.float32), logits, 1)
    return (predictions - labels) * share, predictions * (1.0 - predictions) * share


@public("python.estimator.canned.boosted_trees._create_classification_head_and_closed_form")
def classification_head_and_derivatives(n_classes, weight_column, label_vocabulary):
    """(head, a function of logits and labels that returns gradients and hessians, or None)."""
    head = classification_head(n_classes, weight_column, label_vocabulary)
    is_plain = weight_column is None and label_vocabulary is None
    return head, _derivatives_of_log_loss if is_plain else None


@public("python.estimator.canned.boosted_trees._create_regression_head")
def one_number_head(label_dimension, weight_column=None):
    """The head of a regressor. Raises ValueError unless labels are one number."""
    if label_dimension != 1:
        raise ValueError(
            f"For now only 1 dimension regression is supported.label_dimension given as {label_dimension}"
        )
    return regression_head(
        label_dimension=label_dimension,
        weight_column=weight_column,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    )


def _is_identity(function):
    return function is None or getattr(function, "__name__", "") == "identity"


@public("python.estimator.canned.boosted_trees._BoostedTreesBase")
class BoostedTrees(Estimator):
    """What all Estimators of boosted trees have in common.

    Args:
      model_fn, model_dir, config: as for tf.estimator.Estimator.
      feature_columns: indicator, bucketized and numeric columns.
      head: the head.
      center_bias: whether there is a bias, which explanations need.
      is_classification: whether predictions are probabilities.
      quantile_sketch_epsilon: how well numbers are put into buckets.
    """

    def __init__(
        self, model_fn, model_dir, config, feature_columns, head, center_bias, is_classification,
        quantile_sketch_epsilon,
    ):  # fmt: skip
        enable_resource_variables()  # the global step is one, too
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)
        self._sorted_feature_columns = sorted(feature_columns, key=lambda column: column.name)
        self._head = head
        self._feature_col_names = names_of_features(self._sorted_feature_columns)
        self._center_bias = center_bias
        self._is_classification = is_classification
        self._quantile_sketch_epsilon = quantile_sketch_epsilon

    def experimental_feature_importances(self, normalize=False):
        """{name of a column: what its splits have gained}, the largest first.

        Args:
          normalize: whether as shares of 1.

        Raises:
          AssertionError: for shares of what is negative, or of nothing.
          ValueError: if there is no ensemble yet.
        """
        serialized = load_checkpoint(self._model_dir).get_tensor("boosted_trees:0_serialized")
        if not serialized:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble.You should only call this method after training."
            )
        return importances_by_name(serialized, self._feature_col_names, normalize)

    def experimental_predict_with_explanations(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None):
        """Predictions, each with its "bias" and its "dfc": {name of a column: what it adds to the prediction}.

        Args:
          input_fn, predict_keys, hooks, checkpoint_path: as for predict.

        Raises ValueError unless the bias was centered, or for a regressor that changes what it predicts.
        """
        if not self._center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        if not self._is_classification and not _is_identity(self._head._inverse_link_fn):
            raise ValueError(
                "For now only identity inverse_link_fn in regression_head is supported for "
                "experimental_predict_with_explanations."
            )

        def explaining_model_fn(features, labels, mode):
            return explanations_fn(features, self._head, self._sorted_feature_columns, self._quantile_sketch_epsilon)

        estimator = Estimator(
            model_fn=explaining_model_fn,
            model_dir=self.model_dir,
            config=self.config,
            warm_start_from=self._warm_start_settings,
        )
        predictions = estimator.predict(
            input_fn,
            predict_keys=None if predict_keys is None else {*predict_keys, DEBUG_KEY},
            hooks=hooks,
            checkpoint_path=checkpoint_path,
            yield_single_examples=True,
        )
        for prediction in predictions:
            serialized = prediction.pop(DEBUG_KEY)
            prediction["bias"], prediction["dfc"] = explained(
                serialized, self._feature_col_names, self._is_classification
            )
            yield prediction


def model_fn_of(head, feature_columns, params, n_batches_per_layer, **settings):
    """The model function of an Estimator."""

    def boosted_trees_model_fn(features, labels, mode, config):
        return model_fn(
            features, labels, mode, head, feature_columns, params, n_batches_per_layer, config, **settings
        )

    return boosted_trees_model_fn


@public("estimator.BoostedTreesClassifier")
class BoostedTreesClassifier(BoostedTrees):
    """A classifier of two classes.

    Args:
      feature_columns: indicator, bucketized and numeric columns.
      n_batches_per_layer: after how many batches a layer grows.
      model_dir: the folder of its checkpoints.
      n_classes: 2.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      n_trees: how many trees there are; training stops when they are grown.
      max_depth: how many layers each has.
      learning_rate: how much of a leaf's best weight it gets.
      l1_regularization, l2_regularization: what weights of leaves cost.
      tree_complexity: what a leaf costs, with pruning.
      min_node_weight: the least hessian of a node that is split.
      config: a tf.estimator.RunConfig.
      center_bias: whether the first node learns the mean before trees grow.
      pruning_mode: "none", "pre" or "post".
      quantile_sketch_epsilon: numbers are put into 1 / epsilon buckets.
      train_in_memory: whether a batch is all there is, and always the same.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, n_batches_per_layer, model_dir=None, n_classes=ONE_LOGIT, weight_column=None,
        label_vocabulary=None, n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0,
        l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None, center_bias=False,
        pruning_mode="none", quantile_sketch_epsilon=0.01, train_in_memory=False,
    ):  # fmt: skip
        if n_classes is ONE_LOGIT:
            n_classes = 2
        elif n_classes > 2 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi class.")
        head, derivatives = classification_head_and_derivatives(n_classes, weight_column, label_vocabulary)
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        function = model_fn_of(
            head, feature_columns, params, n_batches_per_layer, closed_form_grad_and_hess_fn=derivatives,
            weight_column=weight_column, train_in_memory=train_in_memory,
        )  # fmt: skip
        super().__init__(
            function, model_dir, config, feature_columns, head, center_bias, True, quantile_sketch_epsilon
        )


@public("estimator.BoostedTreesRegressor")
class BoostedTreesRegressor(BoostedTrees):
    """A regressor of one number, by the squared error.

    Args:
      label_dimension: 1.
      feature_columns, n_batches_per_layer, ...: as for BoostedTreesClassifier.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, n_batches_per_layer, model_dir=None, label_dimension=ONE_LOGIT, weight_column=None,
        n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0,
        tree_complexity=0.0, min_node_weight=0.0, config=None, center_bias=False, pruning_mode="none",
        quantile_sketch_epsilon=0.01, train_in_memory=False,
    ):  # fmt: skip
        if label_dimension is ONE_LOGIT:
            label_dimension = 1
        elif label_dimension > 1 and pruning_mode is not None:
            raise ValueError("For now pruning is not supported with multi-dimensionregression.")
        head = one_number_head(label_dimension, weight_column)
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        function = model_fn_of(
            head, feature_columns, params, n_batches_per_layer, weight_column=weight_column,
            train_in_memory=train_in_memory,
        )  # fmt: skip
        super().__init__(
            function, model_dir, config, feature_columns, head, center_bias, False, quantile_sketch_epsilon
        )


@public("estimator.BoostedTreesEstimator")
class BoostedTreesEstimator(BoostedTrees):
    """Boosted trees with any head of one logit.

    Args:
      head: the head.
      weight_column: not used.
      feature_columns, n_batches_per_layer, ...: as for BoostedTreesClassifier.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, n_batches_per_layer, head, model_dir=None, weight_column=None, n_trees=100,
        max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0,
        min_node_weight=0.0, config=None, center_bias=False, pruning_mode="none", quantile_sketch_epsilon=0.01,
    ):  # fmt: skip
        params = TreeParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
            center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        function = model_fn_of(head, feature_columns, params, n_batches_per_layer)
        is_classification = isinstance(head, (BinaryGraphHead, MultiClassGraphHead))
        super().__init__(
            function, model_dir, config, feature_columns, head, center_bias, is_classification,
            quantile_sketch_epsilon,
        )  # fmt: skip
