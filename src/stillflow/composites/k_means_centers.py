"""The operation that picks the initial centers of k-means."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_greater_equal, assert_positive
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.normalization import l2_normalize
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.random.sampling import random_uniform
from stillflow.variables.assignments import assign

COSINE_DISTANCE = public(
    "contrib.factorization.COSINE_DISTANCE",
    "contrib.factorization.python.ops.clustering_ops.COSINE_DISTANCE",
    "python.ops.clustering_ops.COSINE_DISTANCE",
)("cosine")
RANDOM_INIT = public(
    "contrib.factorization.RANDOM_INIT",
    "contrib.factorization.python.ops.clustering_ops.RANDOM_INIT",
    "python.ops.clustering_ops.RANDOM_INIT",
)("random")
KMEANS_PLUS_PLUS_INIT = public(
    "contrib.factorization.KMEANS_PLUS_PLUS_INIT",
    "contrib.factorization.python.ops.clustering_ops.KMEANS_PLUS_PLUS_INIT",
    "python.ops.clustering_ops.KMEANS_PLUS_PLUS_INIT",
)("kmeans_plus_plus")
KMC2_INIT = public(
    "contrib.factorization.python.ops.clustering_ops.KMC2_INIT", "python.ops.clustering_ops.KMC2_INIT"
)("kmc2")


class InitialCenters:
    """Adds centers to a variable until it has as many as there are clusters; one run adds what a batch can give.

    Args:
      inputs: a list of matrices, a point a row.
      num_clusters: an int32 scalar.
      method: "random", "kmeans_plus_plus", "kmc2", a function of (inputs, how many) that returns them, or a tensor.
      metric: "squared_euclidean" or "cosine".
      seed: of what is drawn.
      retries, chain_length: how many more points k-means++ tries, and how many k-MC2 walks over.
      centers, centers_updated, is_initialized: the variables; the first two may be one.
    """

    def __init__(
        self, inputs, num_clusters, method, metric, seed, retries, chain_length, centers, centers_updated,
        is_initialized,
    ):  # fmt: skip
        self._inputs = inputs
        self._num_clusters = num_clusters
        self._method = method
        self._metric = metric
        self._seed = seed
        self._retries = retries
        self._chain_length = chain_length
        self._centers = centers
        self._centers_updated = centers_updated
        self._is_initialized = is_initialized
        self._num_selected = ops.shape(centers)[0]
        self._num_remaining = num_clusters - self._num_selected
        self._num_data = ops.add_n([ops.shape(points)[0] for points in inputs])

    def op(self):
        """The operation; once all centers are there, it checks that they are marked so."""
        return cond(
            ops.equal(self._num_remaining, 0),
            lambda: assert_equal(self._is_initialized, True),
            self._initialize,
        )

    def _initialize(self):
        with control_dependencies([assert_positive(self._num_remaining)]):
            if isinstance(self._method, str) and self._method == KMC2_INIT:
                left = self._walk_chains()
            else:
                left = self._add_centers()
            return cond(ops.equal(left, 0), lambda: assign(self._is_initialized, True), ops.no_op)

    def _normalized(self, points):
        return l2_normalize(points, axis=1) if self._metric == COSINE_DISTANCE else points

    def _assign(self, centers):
        assigned = assign(self._centers, centers, validate_shape=False)
        if self._centers_updated is not self._centers:
            assigned = assign(self._centers_updated, assigned, validate_shape=False)
        return assigned

    def _add_centers(self):
        """How many centers are missing after some have been added."""
        chosen = self._normalized(self._choose())
        centers = cond(
            ops.equal(self._num_selected, 0),
            lambda: chosen,
            lambda: ops.concat([self._centers, chosen], 0),
        )
        assigned = self._assign(centers)
        return self._num_clusters - ops.shape(assigned)[0]

    def _choose(self):
        if isinstance(self._method, str):
            if self._method == RANDOM_INIT:
                return cond(self._num_data <= self._num_remaining, lambda: ops.concat(self._inputs, 0), self._random)
            with control_dependencies([assert_greater_equal(self._num_data, self._num_remaining)]):
                return self._kmeans_plus_plus()
        if callable(self._method):
            return self._method(self._inputs, self._num_remaining)
        with control_dependencies([assert_equal(self._num_remaining, ops.shape(self._method)[0])]):
            return self._method

    def _random(self):
        indices = random_uniform(
            ops.reshape(self._num_remaining, [-1]),
            minval=0,
            maxval=ops.cast(self._num_data, dtypes.int64),
            seed=self._seed,
            dtype=dtypes.int64,
        )
        return embedding_lookup(self._inputs, indices, partition_strategy="div")

    def _kmeans_plus_plus(self):
        points = self._normalized(self._inputs[0])
        remaining = ops.cast(self._num_remaining, dtypes.int64)
        return ops.kmeans_plus_plus_initialization(points, remaining, self._seed, self._retries)

    def _walk_chains(self):
        """How many centers are missing after k-MC2 has added one for each `chain_length` points of the batch."""
        points = self._inputs[0]
        batch_size = ops.shape(points)[0]
        most = ops.cast(batch_size / self._chain_length, dtype=dtypes.int32)
        count = ops.maximum(ops.minimum(self._num_remaining, most), 1)

        def first_point():
            return self._normalized(ops.reshape(points[0], [1, -1]))

        def with_new_center(i):
            start = i * self._chain_length
            subset = points[start : start + self._chain_length]
            _, distances = ops.nearest_neighbors(subset, self._centers, 1)
            index = ops.kmc2_chain_initialization(ops.squeeze(distances), self._seed)
            center = self._normalized(ops.reshape(subset[index], [1, -1]))
            return ops.concat([self._centers, center], 0)

        def body(i, _):
            centers = cond(ops.equal(self._num_selected, 0), first_point, lambda: with_new_center(i))
            assigned = self._assign(centers)
            return i + 1, self._num_clusters - ops.shape(assigned)[0]

        _, left = while_loop(lambda i, _: ops.less(i, count), body, [0, 0])
        return left
