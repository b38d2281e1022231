"""k-means as contrib.factorization has it: seeds are taken as they are, centers begin with a constant."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.estimators import k_means as estimators
from stillflow.composites import k_means
from stillflow.composites.k_means_centers import RANDOM_INIT
from stillflow.graph import dtypes
from stillflow.names import public


@public("contrib.factorization.KMeans", "contrib.factorization.python.ops.clustering_ops.KMeans")
class KMeans(k_means.KMeans):
    __doc__ = k_means.KMeans.__doc__

    def _seed_of_initialization(self, random_seed):
        return random_seed

    def _no_centers(self):
        return ops.constant([], dtype=dtypes.float32)


@public("contrib.factorization.KMeansClustering")
class KMeansClustering(estimators.KMeansClustering):
    __doc__ = estimators.KMeansClustering.__doc__

    def __init__(
        self,
        num_clusters,
        model_dir=None,
        initial_clusters=RANDOM_INIT,
        distance_metric=k_means.SQUARED_EUCLIDEAN_DISTANCE,
        random_seed=0,
        use_mini_batch=True,
        mini_batch_steps_per_iteration=1,
        kmeans_plus_plus_num_retries=2,
        relative_tolerance=None,
        config=None,
        feature_columns=None,
    ):
        super().__init__(
            num_clusters,
            model_dir=model_dir,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            seed=random_seed,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )

    def _graph_class(self):
        return KMeans

    def transform(self, input_fn):
        """Yields for each point its distances from all centers; Euclidean ones are squared."""
        yield from self._predict_one_key(input_fn, self.ALL_DISTANCES)
