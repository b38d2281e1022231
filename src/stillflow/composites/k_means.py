"""The graph of k-means: full batches (Lloyd) and mini-batches (Sculley 2010)."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.k_means_centers import (
    COSINE_DISTANCE,
    KMC2_INIT,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    InitialCenters,
)
from stillflow.composites.normalization import l2_normalize
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.seeds import get_seed
from stillflow.variables.assignments import assign, assign_sub, scatter_add
from stillflow.variables.variable import Variable

SQUARED_EUCLIDEAN_DISTANCE = public(
    "contrib.factorization.SQUARED_EUCLIDEAN_DISTANCE",
    "contrib.factorization.python.ops.clustering_ops.SQUARED_EUCLIDEAN_DISTANCE",
    "python.ops.clustering_ops.SQUARED_EUCLIDEAN_DISTANCE",
)("squared_euclidean")
CLUSTERS_VAR_NAME = public("python.ops.clustering_ops.CLUSTERS_VAR_NAME")("clusters")


def check_settings(initial_clusters, distance_metric, methods):
    """Raises ValueError for a name of neither a method in `methods` nor a metric."""
    if isinstance(initial_clusters, str) and initial_clusters not in methods:
        raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
    if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
        raise ValueError(f"Unsupported distance metric '{distance_metric}'")


@public("python.ops.clustering_ops.KMeans")
class KMeans:
    """Makes the graph of k-means.

    Args:
      inputs: a matrix, a point a row, or a list of them; the points should be in random order.
      num_clusters: how many clusters there are; not used where initial_clusters is a tensor or array.
      initial_clusters: "random", "kmeans_plus_plus", "kmc2", a function f(inputs, k) that returns up to k centers,
        or the centers themselves.
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: whether a step sees a part of the points only.
      mini_batch_steps_per_iteration: after how many steps the centers that steps update become those that points
        are assigned to.
      random_seed: of what is drawn.
      kmeans_plus_plus_num_retries: how many more points k-means++ tries for each center; negative: O(log k).
      kmc2_chain_length: how many points k-MC2 walks over for a center.

    Raises:
      ValueError: for another method or metric.
    """

    def __init__(
        self,
        inputs,
        num_clusters,
        initial_clusters=RANDOM_INIT,
        distance_metric=SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch=False,
        mini_batch_steps_per_iteration=1,
        random_seed=0,
        kmeans_plus_plus_num_retries=2,
        kmc2_chain_length=200,
    ):
        check_settings(initial_clusters, distance_metric, (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT))
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._distance_metric = distance_metric
        self._use_mini_batch = use_mini_batch
        self._mini_batch_steps_per_iteration = int(mini_batch_steps_per_iteration)
        self._seed = self._seed_of_initialization(random_seed)
        self._kmeans_plus_plus_num_retries = kmeans_plus_plus_num_retries
        self._kmc2_chain_length = kmc2_chain_length

    def _seed_of_initialization(self, random_seed):
        return get_seed(random_seed)[0]

    def _no_centers(self):
        """What the variable of the centers begins with."""
        return ops.placeholder_with_default([], shape=None)

    def training_graph(self):
        """Makes the graph.

        Returns:
          (all_scores, cluster_idx, scores, cluster_centers_initialized, init_op, training_op): for each of the inputs
          the distances [points, clusters], the nearest cluster [points] and how far it is; whether the centers are
          there; the operation to run until they are; and that of a step.
        """
        if isinstance(self._initial_clusters, str) or callable(self._initial_clusters):
            initial_clusters = self._initial_clusters
            num_clusters = convert_to_tensor(self._num_clusters)
        else:
            initial_clusters = convert_to_tensor(self._initial_clusters)
            num_clusters = ops.shape(initial_clusters)[0]
        inputs = self._inputs
        centers_variable, is_initialized, counts, updated, steps_left = self._create_variables(num_clusters)
        init_op = InitialCenters(
            inputs, num_clusters, initial_clusters, self._distance_metric, self._seed,
            self._kmeans_plus_plus_num_retries, self._kmc2_chain_length, centers_variable, updated, is_initialized,
        ).op()  # fmt: skip
        centers = centers_variable
        if self._distance_metric == COSINE_DISTANCE:
            inputs = self._normalized(inputs)
            if not self._keeps_centers_normalized():
                centers = l2_normalize(centers, axis=1)
        all_scores, scores, cluster_idx = self._infer_graph(inputs, centers)
        if self._use_mini_batch:
            sync = self._sync_op(steps_left, centers_variable, updated, counts)
            with control_dependencies([sync]):
                training_op = self._mini_batch_training_op(inputs, cluster_idx, updated, counts)
        else:
            training_op = self._full_batch_training_op(inputs, num_clusters, cluster_idx, centers_variable)
        return all_scores, cluster_idx, scores, is_initialized, init_op, training_op

    def _keeps_centers_normalized(self):
        return self._distance_metric == COSINE_DISTANCE and (
            not self._use_mini_batch or self._mini_batch_steps_per_iteration > 1
        )

    def _create_variables(self, num_clusters):
        no_centers = self._no_centers()
        centers = Variable(no_centers, name=CLUSTERS_VAR_NAME, validate_shape=False)
        is_initialized = Variable(False, dtype=dtypes.bool_, name="initialized")
        if self._use_mini_batch and self._mini_batch_steps_per_iteration > 1:
            updated = Variable(no_centers, name="clusters_updated", validate_shape=False)
            steps_left = Variable(self._mini_batch_steps_per_iteration, dtype=dtypes.int64, name="update_in_steps")
            counts = Variable(ops.zeros([num_clusters], dtype=dtypes.int64))
            return centers, is_initialized, counts, updated, steps_left
        if self._use_mini_batch:
            counts = Variable(ops.ones([num_clusters], dtype=dtypes.int64))
            return centers, is_initialized, counts, centers, None
        return centers, is_initialized, None, centers, None

    def _normalized(self, inputs):
        output = []
        for points in inputs:
            with colocate_with(points, ignore_existing=True):
                output.append(l2_normalize(points, axis=1))
        return output

    # ---- Distances -----------------------------------------------------------------------------------------------

    def _infer_graph(self, inputs, centers):
        """For all inputs together: distances to all centers, distances to the nearest, and which that is."""
        scores = [self._distances(points, centers) for points in inputs]
        if self._distance_metric == COSINE_DISTANCE and not self._keeps_centers_normalized():
            with colocate_with(centers, ignore_existing=True):
                centers = l2_normalize(centers, axis=1)
        output = []
        for points, score in zip(inputs, scores, strict=True):
            with colocate_with(points, ignore_existing=True):
                indices, distances = ops.nearest_neighbors(points, centers, 1)
                if self._distance_metric == COSINE_DISTANCE:
                    distances *= 0.5
                output.append((score, ops.squeeze(distances, [-1]), ops.squeeze(indices, [-1])))
        return zip(*output, strict=True)

    def _distances(self, points, centers):
        with colocate_with(points, ignore_existing=True):
            if self._distance_metric == COSINE_DISTANCE:
                return 1 - ops.matmul(points, centers, transpose_b=True)
            point_norms = ops.reduce_sum(ops.square(points), 1, keepdims=True)
            products = ops.matmul(points, centers, transpose_b=True)
            difference = point_norms - 2 * products
            return difference + ops.transpose(ops.reduce_sum(ops.square(centers), 1, keepdims=True))

    # ---- A step --------------------------------------------------------------------------------------------------

    def _sync_op(self, steps_left, centers, updated, counts):
        """Every so many steps, makes the updated centers those that points are assigned to."""
        if steps_left is None:
            return ops.no_op()
        with colocate_with(steps_left, ignore_existing=True):

            def sync():
                start_again = assign(steps_left, self._mini_batch_steps_per_iteration - 1)
                with control_dependencies([start_again]):
                    with colocate_with(updated, ignore_existing=True):
                        cosine = self._distance_metric == COSINE_DISTANCE
                        new_centers = l2_normalize(updated, axis=1) if cosine else updated
                    with colocate_with(centers, ignore_existing=True):
                        assigned = assign(centers, new_centers)
                        with control_dependencies([assigned]), colocate_with(None, ignore_existing=True):
                            no_counts = assign(counts, ops.zeros_like(counts))
                            with control_dependencies([no_counts]):
                                return ops.identity(steps_left)

            return cond(steps_left <= 0, sync, lambda: assign_sub(steps_left, 1))

    def _mini_batch_training_op(self, inputs, cluster_idx_list, centers, counts):
        updates = []
        for points, cluster_idx in zip(inputs, cluster_idx_list, strict=True):
            with colocate_with(points, ignore_existing=True):
                cluster_idx = ops.reshape(cluster_idx, [-1])
                ids, places = ops.unique(cluster_idx)
                id_count = ops.size(ids)
                with colocate_with(counts, ignore_existing=True):
                    old_counts = ops.gather(counts, ids)
                with colocate_with(centers, ignore_existing=True):
                    old_centers = ops.gather(centers, ids)
                ones = ops.ones_like(places, dtype=counts.dtype.base_dtype)
                new_counts = ops.unsorted_segment_sum(ones, places, id_count)
                moves = ops.unsorted_segment_sum(points, places, id_count)
                leading = ops.reshape(id_count, [1])
                trailing = ops.ones(ops.reshape(ops.rank(points) - 1, [1]), dtype=dtypes.int32)
                shape = ops.concat([leading, trailing], 0)
                moves -= ops.cast(ops.reshape(new_counts, shape), points.dtype) * old_centers
                rate = ops.reciprocal(ops.cast(old_counts + new_counts, points.dtype))
                moves *= ops.reshape(rate, shape)
            updates += [scatter_add(counts, ids, new_counts), scatter_add(centers, ids, moves)]
        return group(*updates)

    def _full_batch_training_op(self, inputs, num_clusters, cluster_idx_list, centers):
        sums, counts = [], []
        epsilon = ops.constant(1e-6, dtype=inputs[0].dtype)
        for points, cluster_idx in zip(inputs, cluster_idx_list, strict=True):
            with colocate_with(points, ignore_existing=True):
                sums.append(ops.unsorted_segment_sum(points, cluster_idx, num_clusters))
                ones = ops.ones(ops.reshape(ops.shape(points)[0], [-1]))
                column = ops.reshape(ones, [-1, 1])
                counts.append(ops.unsorted_segment_sum(column, cluster_idx, num_clusters))
        with colocate_with(centers, ignore_existing=True):
            new_centers = ops.add_n(sums) / (ops.cast(ops.add_n(counts), sums[0].dtype) + epsilon)
            if self._keeps_centers_normalized():
                new_centers = l2_normalize(new_centers, axis=1)
        return assign(centers, new_centers)
