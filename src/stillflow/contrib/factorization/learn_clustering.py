"""k-means as an Estimator of contrib.learn."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.canned.estimators.k_means import InitializeCenters, StopWhenLossSettles, points_of
from stillflow.composites import k_means, summaries
from stillflow.composites.k_means_centers import COSINE_DISTANCE, KMEANS_PLUS_PLUS_INIT, RANDOM_INIT
from stillflow.contrib.factorization.clustering import KMeans
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.modes import ModelFnOps
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign_add


def _model_fn_of(settings, relative_tolerance):
    def model_fn(features, labels, mode, config):
        assert labels is None, labels
        all_distances, nearest, losses, is_initialized, init_op, train_op = KMeans(
            points_of(features, None), **settings
        ).training_graph()
        next_step = assign_add(get_global_step(), 1)
        loss = ops.reduce_sum(losses, name=KMeansClustering.LOSS_OP_NAME)
        summaries.scalar("loss/raw", loss)
        hooks: list = [InitializeCenters(init_op, is_initialized, config.is_chief)]
        if relative_tolerance is not None:
            hooks.append(StopWhenLossSettles(loss, relative_tolerance))
        return ModelFnOps(
            mode=mode,
            predictions={
                KMeansClustering.ALL_SCORES: all_distances[0],
                KMeansClustering.CLUSTER_IDX: nearest[0],
            },
            eval_metric_ops={KMeansClustering.SCORES: (loss, ops.no_op())},
            loss=loss,
            train_op=with_dependencies([train_op, next_step], loss),
            training_hooks=hooks,
        )

    return model_fn


@public("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """k-means.

    Args:
      num_clusters: how many clusters there are.
      model_dir, config: as tf.contrib.learn.Estimator has them.
      initial_clusters: a matrix of centers, a function that makes it, "random" or "kmeans_plus_plus".
      distance_metric: "squared_euclidean" or "cosine".
      random_seed: of the initialization.
      use_mini_batch: whether a step moves centers by a batch, instead of setting them by all points.
      mini_batch_steps_per_iteration: after how many steps moved centers are used.
      kmeans_plus_plus_num_retries: how many points are tried for each center.
      relative_tolerance: training stops when the loss changes by less than this share.
    """

    SQUARED_EUCLIDEAN_DISTANCE = k_means.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self, num_clusters, model_dir=None, initial_clusters=RANDOM_INIT,
        distance_metric=k_means.SQUARED_EUCLIDEAN_DISTANCE, random_seed=0, use_mini_batch=True,
        mini_batch_steps_per_iteration=1, kmeans_plus_plus_num_retries=2, relative_tolerance=None, config=None,
    ):  # fmt: skip
        settings = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "random_seed": random_seed,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
        }
        super().__init__(model_fn=_model_fn_of(settings, relative_tolerance), model_dir=model_dir, config=config)

    def predict_cluster_idx(self, input_fn=None):
        """Yields the index of each point's nearest center."""
        for result in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield result[self.CLUSTER_IDX]

    def score(self, input_fn=None, steps=None):
        """The sum of the distances from the nearest centers, of a batch after the last step."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn=None, as_iterable=False):
        """The distances of each point from all centers, {"all_scores": them} of each point if it is an iterable."""
        results = self.predict(input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable)
        return results if as_iterable else results[self.ALL_SCORES]

    def clusters(self):
        """The centers in the newest checkpoint."""
        return self.get_variable_value(self.CLUSTERS)
