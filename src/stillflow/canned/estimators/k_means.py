"""k-means as an Estimator."""

from __future__ import annotations

import time

import numpy as np

from stillflow import ops
from stillflow.composites import k_means, summaries
from stillflow.composites.k_means_centers import COSINE_DISTANCE, KMEANS_PLUS_PLUS_INIT, RANDOM_INIT
from stillflow.estimator.estimator import Estimator
from stillflow.estimator.spec import EstimatorSpec
from stillflow.feature_columns.input_layer import input_layer
from stillflow.graph.contexts import colocate_with
from stillflow.graph.default_graph import get_default_graph
from stillflow.metrics.means import mean
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.saver.saved_model.export_outputs import PredictOutput
from stillflow.saver.saved_model.names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from stillflow.training.global_step import get_global_step
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.variables.assignments import assign_add

_SECONDS_BETWEEN_LOOKS = 1


class StopWhenLossSettles(SessionRunHook):
    """Stops when the loss changes by less than a share of itself."""

    def __init__(self, loss, tolerance):
        self._loss = loss
        self._tolerance = tolerance
        self._last = None

    def before_run(self, run_context):
        return SessionRunArgs(self._loss)

    def after_run(self, run_context, run_values):
        loss = run_values.results
        if self._last:
            change = abs(loss - self._last) / (1 + abs(self._last))
            if change < self._tolerance:
                run_context.request_stop()
        self._last = loss


class InitializeCenters(SessionRunHook):
    """Runs the initialization until all centers are there; workers wait for the chief to do so."""

    def __init__(self, init_op, is_initialized, is_chief):
        self._init_op = init_op
        self._is_initialized = is_initialized
        self._is_chief = is_chief

    def after_create_session(self, session, coord):
        assert self._init_op.graph is get_default_graph()
        while not session.run(self._is_initialized):
            if self._is_chief:
                session.run(self._init_op)
            else:
                time.sleep(_SECONDS_BETWEEN_LOOKS)


def points_of(features, feature_columns):
    """A matrix of all features, in order of their names or as feature columns make it; other features as they are."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return input_layer(features, feature_columns)
    keys = sorted(features)
    with colocate_with(features[keys[0]]):
        return ops.concat([features[key] for key in keys], axis=1)


def _model_fn(make_k_means, settings, relative_tolerance, feature_columns):
    def model_fn(features, mode, config):
        points = points_of(features, feature_columns)
        all_distances, nearest, losses, is_initialized, init_op, train_op = make_k_means(
            inputs=points, **settings
        ).training_graph()
        loss = ops.reduce_sum(losses)
        summaries.scalar("loss/raw", loss)
        step = assign_add(get_global_step(), 1)
        train_op = with_dependencies([train_op, step], loss)
        hooks: list[SessionRunHook] = [InitializeCenters(init_op, is_initialized, config.is_chief)]
        if relative_tolerance is not None:
            hooks.append(StopWhenLossSettles(loss, relative_tolerance))
        return EstimatorSpec(
            mode=mode,
            predictions={
                KMeansClustering.ALL_DISTANCES: all_distances[0],
                KMeansClustering.CLUSTER_INDEX: nearest[0],
            },
            loss=loss,
            train_op=train_op,
            eval_metric_ops={KMeansClustering.SCORE: mean(loss)},
            training_hooks=hooks,
            export_outputs={
                KMeansClustering.ALL_DISTANCES: PredictOutput(all_distances[0]),
                KMeansClustering.CLUSTER_INDEX: PredictOutput(nearest[0]),
                DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(nearest[0]),
            },
        )

    return model_fn


@public("estimator.experimental.KMeans")
class KMeansClustering(Estimator):
    """An Estimator of the centers of clusters. Its input functions return points, without labels.

    With use_mini_batch=False a step is an iteration of Lloyd's algorithm and must see all points; else a step sees a
    batch, and the points are assigned to centers that change every mini_batch_steps_per_iteration steps.

    Args:
      num_clusters: how many clusters there are.
      model_dir, config: see Estimator.
      initial_clusters: "random" or "kmeans_plus_plus", a function f(inputs, k) that returns up to k centers, or the
        centers themselves.
      distance_metric: "squared_euclidean" or "cosine".
      seed: of how centers are picked.
      use_mini_batch, mini_batch_steps_per_iteration: see above.
      kmeans_plus_plus_num_retries: how many more points k-means++ tries for each center.
      relative_tolerance: training ends when the loss changes by a smaller share; None: not for that.
      feature_columns: what is taken of the features; None: all of them, in order of their names.

    Raises:
      ValueError: for another method or metric.
    """

    SQUARED_EUCLIDEAN_DISTANCE = k_means.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = k_means.CLUSTERS_VAR_NAME

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        initial_clusters=RANDOM_INIT,
        distance_metric=k_means.SQUARED_EUCLIDEAN_DISTANCE,
        seed=None,
        use_mini_batch=True,
        mini_batch_steps_per_iteration=1,
        kmeans_plus_plus_num_retries=2,
        relative_tolerance=None,
        config=None,
        feature_columns=None,
    ):
        settings = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "random_seed": seed,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
        }
        k_means.check_settings(initial_clusters, distance_metric, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT))
        self._distance_metric = distance_metric
        super().__init__(
            model_fn=_model_fn(self._graph_class(), settings, relative_tolerance, feature_columns),
            model_dir=model_dir,
            config=config,
        )

    def _graph_class(self):
        return k_means.KMeans

    def _predict_one_key(self, input_fn, key):
        for result in self.predict(input_fn=input_fn, predict_keys=[key]):
            yield result[key]

    def predict_cluster_index(self, input_fn):
        """Yields for each point the cluster whose center is nearest."""
        yield from self._predict_one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn):
        """The sum of the distances of the points of one batch from their nearest centers."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn):
        """Yields for each point its distances from all centers; Euclidean ones are not squared."""
        is_squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
        for distances in self._predict_one_key(input_fn, self.ALL_DISTANCES):
            yield np.sqrt(distances) if is_squared else distances

    def cluster_centers(self):
        """The centers [clusters, dimensions]."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)
