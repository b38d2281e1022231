"""Estimators of tf.contrib.linear_optimizer: linear models of classes or numbers, trained by an SDCAOptimizer."""

from __future__ import annotations

from stillflow.contrib.learn.dual_ascent import dual_ascent_model_fn
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import multi_class_head, regression_head
from stillflow.contrib.learn.modes import PredictionKey
from stillflow.contrib.learn.run_settings import RunConfig
from stillflow.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer
from stillflow.names import public


class _DualAscentModel(Estimator):
    def __init__(
        self, head, example_id_column, feature_columns, l1_regularization, l2_regularization, num_loss_partitions,
        partitioner, model_dir, config,
    ):  # fmt: skip
        workers = (RunConfig() if config is None else config).num_worker_replicas
        optimizer = SDCAOptimizer(
            example_id_column=example_id_column,
            num_loss_partitions=num_loss_partitions or max(1, workers),
            symmetric_l1_regularization=l1_regularization,
            symmetric_l2_regularization=l2_regularization,
            partitioner=partitioner,
        )
        params = {"head": head, "feature_columns": tuple(feature_columns), "optimizer": optimizer}
        super().__init__(dual_ascent_model_fn, model_dir, config, params)

    def _of_key(self, key, input_fn):
        return (row[key] for row in self.predict(input_fn=input_fn, outputs=[key]))


@public("contrib.linear_optimizer.python.sdca_estimator.SDCALogisticClassifier")
class SDCALogisticClassifier(_DualAscentModel):
    """A linear model of two classes.

    Args:
      example_id_column: the feature with the names of examples, a string vector.
      feature_columns: of tf.contrib.layers.
      weight_column_name: the feature that is the weight of examples, or None.
      model_dir, config: see Estimator.
      l1_regularization, l2_regularization: see SDCAOptimizer.
      num_loss_partitions: how many training steps run at the same time; by default as many as there are workers.
      feature_engineering_fn: not used, as in TensorFlow.
      partitioner: how variables are cut, or None.
    """

    def __init__(
        self, example_id_column, feature_columns, weight_column_name=None, model_dir=None, l1_regularization=0.0,
        l2_regularization=1.0, num_loss_partitions=None, config=None, feature_engineering_fn=None, partitioner=None,
    ):  # fmt: skip
        super().__init__(
            multi_class_head(n_classes=2, weight_column_name=weight_column_name), example_id_column, feature_columns,
            l1_regularization, l2_regularization, num_loss_partitions, partitioner, model_dir, config,
        )  # fmt: skip

    def predict_classes(self, input_fn=None):
        """The classes of examples, one after the other."""
        return self._of_key(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn=None):
        """The probabilities of the classes of examples, one after the other."""
        return self._of_key(PredictionKey.PROBABILITIES, input_fn)


@public("contrib.linear_optimizer.python.sdca_estimator.SDCALinearRegressor")
class SDCALinearRegressor(_DualAscentModel):
    """A linear model of numbers. Args: see SDCALogisticClassifier."""

    def __init__(
        self, example_id_column, feature_columns, weight_column_name=None, model_dir=None, l1_regularization=0.0,
        l2_regularization=1.0, num_loss_partitions=None, config=None, feature_engineering_fn=None, partitioner=None,
    ):  # fmt: skip
        super().__init__(
            regression_head(weight_column_name=weight_column_name), example_id_column, feature_columns,
            l1_regularization, l2_regularization, num_loss_partitions, partitioner, model_dir, config,
        )  # fmt: skip

    def predict_scores(self, input_fn):
        """The numbers of examples, one after the other."""
        return self._of_key(PredictionKey.SCORES, input_fn)
