"""cluster_loss: embeddings whose best clusters should be the labels' (Song et al., "Deep metric learning via facility
location", 2017)."""

from __future__ import annotations

import importlib

import numpy as np

from stillflow import ops
from stillflow.composites.py_func import py_func
from stillflow.composites.summaries import scalar
from stillflow.contrib.losses.metric_learning.distances import pairwise_distance
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.strings.print import Print

# How often medoids and what belongs to them are chosen in turn.
_ROUNDS = 5
_SCORES = {
    "nmi": "normalized_mutual_info_score",
    "ami": "adjusted_mutual_info_score",
    "ari": "adjusted_rand_score",
    "vmeasure": "v_measure_score",
}


def _score_function(margin_type):
    """A function of labels and clusters, from 0 to 1: how well they agree, whatever the clusters are called."""
    try:
        metrics = importlib.import_module("sklearn.metrics")
    except ImportError:
        raise ImportError("Cluster loss depends on sklearn.") from None
    if margin_type == "const":
        return lambda labels, clusters: float(np.array_equal(labels, clusters))
    if margin_type not in _SCORES:
        raise ValueError(f"Unrecognized margin_type: {margin_type}")
    score = getattr(metrics, _SCORES[margin_type])
    return lambda labels, clusters: max(float(score(labels, clusters)), 0.0)


class _Clusters:
    """Searches for the medoids that violate the margin most."""

    def __init__(self, score, refines):
        self._score, self._refines = score, refines

    def find(self, distances, labels, margin):
        """(int32 [clusters] of medoids, float32 score of their clusters against the labels)."""
        medoids: list[int] = []
        for _ in np.unique(labels):
            medoids.append(self._next_medoid(distances, labels, medoids, margin))
        for _ in range(_ROUNDS if self._refines else 0):
            self._refine(distances, labels, medoids, margin)
        return np.array(medoids, np.int32), np.float32(self._score(labels, _assigned(distances, medoids)))

    def _margin(self, distances, labels, medoids, margin):
        return margin * np.float32(1 - self._score(labels, _assigned(distances, medoids)))

    def _next_medoid(self, distances, labels, medoids, margin):
        others = np.setdiff1d(np.arange(len(distances)), medoids)
        nearest = distances[medoids].min(axis=0) if medoids else np.full(len(distances), np.inf, np.float32)
        ratings = [
            -np.minimum(nearest, distances[i]).sum() + self._margin(distances, labels, [*medoids, i], margin)
            for i in others
        ]
        return int(others[np.argmax(ratings)])

    def _refine(self, distances, labels, medoids, margin):
        """Puts in place of each medoid the member of its cluster that rates highest."""
        clusters = _assigned(distances, medoids)
        for place in range(len(medoids)):
            members = np.flatnonzero(clusters == place)
            inner = -distances[np.ix_(members, members)].sum(axis=0)
            ratings = []
            for member, rating in zip(members, inner, strict=True):
                changed = [*medoids[:place], int(member), *medoids[place + 1 :]]
                ratings.append(rating + self._margin(distances, labels, changed, margin))
            medoids[place] = int(members[np.argmax(ratings)])


def _assigned(distances, medoids):
    """The cluster of each point: that of the nearest medoid, and of a medoid its own, whatever rounding says."""
    clusters = np.argmin(distances[medoids], axis=0)
    clusters[medoids] = np.arange(len(medoids))
    return clusters


def _energy_of_labels(distances, labels):
    """How near the points of each label are to the best one of them: the negative sum of distances."""

    def medoids(labels, distances):
        groups = (np.flatnonzero(labels == label) for label in np.unique(labels))
        best = np.zeros_like(labels, dtype=np.int32)
        for group in groups:
            best[group] = group[np.argmin(distances[np.ix_(group, group)].sum(axis=0))]
        return best

    (best,) = py_func(medoids, [labels, distances], [dtypes.int32], name="medoids_of_labels")
    best = ops.reshape(best, [-1])
    places = ops.stack([best, ops.range(ops.size(best))], axis=1)
    return -1.0 * ops.reduce_sum(ops.gather_nd(distances, places))


@public("contrib.losses.metric_learning.cluster_loss")
def cluster_loss(
    labels, embeddings, margin_multiplier, enable_pam_finetuning=True, margin_type="nmi", print_losses=False
):
    """How much better the best wrong clusters of embeddings are than the labels', plus a margin.

    Summaries `losses/score_pred`, `losses/<margin_type>` and `losses/score_gt` show its parts.

    Args:
      labels: integers [batch, 1] or [batch].
      embeddings: unit vectors, float32 [batch, dimensions].
      margin_multiplier: what the margin, 1 - score, counts.
      enable_pam_finetuning: whether medoids are refined after they were chosen.
      margin_type: which score of scikit-learn compares clusters: "nmi" (normalized mutual information), "ami",
        "ari" (Rand), "vmeasure"; or "const", which is 1 for clusters that equal the labels.
      print_losses: whether each run prints the loss.

    Returns:
      A float32 scalar, at least 0.

    Raises:
      ImportError: without scikit-learn.
      ValueError: for another margin_type.
    """
    clusters = _Clusters(_score_function(margin_type), enable_pam_finetuning)
    distances = pairwise_distance(embeddings)
    labels = ops.squeeze(labels)
    margin = ops.cast(margin_multiplier, dtypes.float32)
    medoids, score = py_func(
        clusters.find, [distances, labels, margin], [dtypes.int32, dtypes.float32], name=margin_type
    )
    medoids = ops.reshape(medoids, [-1])
    found = -1.0 * ops.reduce_sum(ops.reduce_min(ops.gather(distances, medoids), axis=0))
    wanted = _energy_of_labels(distances, labels)
    score.set_shape([])
    loss = ops.maximum(found + margin * (1.0 - score) - wanted, 0.0, name="clustering_loss")
    if print_losses:
        loss = Print(loss, ["clustering_loss: ", loss, ops.shape(loss)])
    scalar("losses/score_pred", found)
    scalar(f"losses/{margin_type}", score)
    scalar("losses/score_gt", wanted)
    return loss
