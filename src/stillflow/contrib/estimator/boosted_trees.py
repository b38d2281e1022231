"""Boosted trees that are trained at once, of examples in memory."""

from __future__ import annotations

from stillflow.canned.boosted_trees.estimators import (
    ONE_LOGIT,
    BoostedTrees,
    classification_head_and_derivatives,
    model_fn_of,
    one_number_head,
)
from stillflow.canned.boosted_trees.growers import TreeParams
from stillflow.datasets.dataset import DatasetV2
from stillflow.names import public


def _repeated(train_input_fn):
    """An input function whose data set begins anew when it has ended."""

    def input_fn():
        data = train_input_fn()
        return data.repeat() if isinstance(data, DatasetV2) else data

    return input_fn


@public("contrib.estimator.boosted_trees_classifier_train_in_memory")
def boosted_trees_classifier_train_in_memory(
    train_input_fn, feature_columns, model_dir=None, n_classes=ONE_LOGIT, weight_column=None, label_vocabulary=None,
    n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0,
    min_node_weight=0.0, config=None, train_hooks=None, center_bias=False, pruning_mode="none",
    quantile_sketch_epsilon=0.01,
):  # fmt: skip
    """A trained classifier of two classes.

    Args:
      train_input_fn: returns a data set whose first element is all examples, or (features, labels).
      train_hooks: hooks of the training.
      feature_columns, ...: as for tf.estimator.BoostedTreesClassifier.

    Raises ValueError for other arguments.
    """
    n_classes = 2 if n_classes is ONE_LOGIT else n_classes
    head, derivatives = classification_head_and_derivatives(n_classes, weight_column, label_vocabulary)
    params = TreeParams(
        n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        center_bias, pruning_mode, quantile_sketch_epsilon,
    )  # fmt: skip
    function = model_fn_of(
        head, feature_columns, params, 1, closed_form_grad_and_hess_fn=derivatives, train_in_memory=True
    )
    estimator = BoostedTrees(
        function, model_dir, config, feature_columns, head, center_bias, True, quantile_sketch_epsilon
    )
    estimator.train(input_fn=_repeated(train_input_fn), hooks=train_hooks)
    return estimator


@public("contrib.estimator.boosted_trees_regressor_train_in_memory")
def boosted_trees_regressor_train_in_memory(
    train_input_fn, feature_columns, model_dir=None, label_dimension=ONE_LOGIT, weight_column=None, n_trees=100,
    max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0, tree_complexity=0.0,
    min_node_weight=0.0, config=None, train_hooks=None, center_bias=False, pruning_mode="none",
    quantile_sketch_epsilon=0.01,
):  # fmt: skip
    """A trained regressor of one number; see boosted_trees_classifier_train_in_memory."""
    head = one_number_head(1 if label_dimension is ONE_LOGIT else label_dimension, weight_column)
    params = TreeParams(
        n_trees, max_depth, learning_rate, l1_regularization, l2_regularization, tree_complexity, min_node_weight,
        center_bias, pruning_mode, quantile_sketch_epsilon,
    )  # fmt: skip
    function = model_fn_of(head, feature_columns, params, 1, train_in_memory=True)
    estimator = BoostedTrees(
        function, model_dir, config, feature_columns, head, center_bias, False, quantile_sketch_epsilon
    )
    estimator.train(input_fn=_repeated(train_input_fn), hooks=train_hooks)
    return estimator
