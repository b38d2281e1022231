"""Ops of k-means: the centers nearest to points, and initial centers."""

from __future__ import annotations

from stillflow.ops.registry import define_op


def _unknown(context):
    """TensorFlow infers no shape here either."""
    return


nearest_neighbors = define_op(
    "NearestNeighbors(points: float32, centers: float32, k: int64) -> "
    "(nearest_center_indices: int64, nearest_center_distances: float32)",
    kernel="nearest_neighbors(points, centers, k)",
    public="python.ops.gen_clustering_ops.nearest_neighbors python.ops.clustering_ops.nearest_neighbors "
    "contrib.factorization.python.ops.clustering_ops.nearest_neighbors",
    differentiable=False,
)
kmeans_plus_plus_initialization = define_op(
    "KmeansPlusPlusInitialization(points: float32, num_to_sample: int64, seed: int64, "
    "num_retries_per_sample: int64) -> (samples: float32)",
    kernel="kmeans_plus_plus_initialization(points, num_to_sample, seed, num_retries_per_sample)",
    public="python.ops.gen_clustering_ops.kmeans_plus_plus_initialization "
    "python.ops.clustering_ops.kmeans_plus_plus_initialization",
    differentiable=False,
)
kmc2_chain_initialization = define_op(
    "KMC2ChainInitialization(distances: float32, seed: int64) -> (index: int64)",
    kernel="kmc2_chain_initialization(distances, seed)",
    public="python.ops.gen_clustering_ops.kmc2_chain_initialization "
    "python.ops.clustering_ops.kmc2_chain_initialization",
    differentiable=False,
)

for _op in (nearest_neighbors, kmeans_plus_plus_initialization):
    _op.shape_rule(_unknown)


@kmc2_chain_initialization.shape_rule
def _(context):
    return ()
