"""tf.*, of which some names are tf.math.* or tf.sparse.* too: rows put together, dealt out, reduced by segment."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes

__all__ = [
    "dynamic_partition",
    "dynamic_stitch",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "setdiff1d",
    "sparse_segment_mean",
    "sparse_segment_sqrt_n",
    "sparse_segment_sum",
    "unique",
    "unique_with_counts",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]


def dynamic_stitch(indices, data, name=None):
    """Rows put together: row indices[k][i] of the result is data[k][i]; of several, the last one counts."""
    return ops.dynamic_stitch(indices, data, name=name)


def dynamic_partition(data, partitions, num_partitions, name=None):
    """A list of `num_partitions` tensors; the k-th holds the rows of `data` whose `partitions` is k."""
    return ops.dynamic_partition(data, partitions, num_partitions=num_partitions, name=name)


def unique(x, out_idx=dtypes.int32, name=None):
    """(y, idx): the different elements of a vector as they come first, and where in y each of x is."""
    return ops.unique(x, out_idx=out_idx, name=name)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """Like `unique`, with a third result: how often each element of y occurs."""
    return ops.unique_with_counts(x, out_idx=out_idx, name=name)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """(out, idx): the elements of the vector x that are not in y, and their places in x."""
    return ops.setdiff1d(x, y, index_dtype, name)


def segment_sum(data, segment_ids, name=None):
    """Sums of the rows of each segment; `segment_ids` must not decrease."""
    return ops.segment_sum(data, segment_ids, name=name)


def segment_mean(data, segment_ids, name=None):
    """Means of the rows of each segment; `segment_ids` must not decrease."""
    return ops.segment_mean(data, segment_ids, name=name)


def segment_prod(data, segment_ids, name=None):
    """Products of the rows of each segment; `segment_ids` must not decrease."""
    return ops.segment_prod(data, segment_ids, name=name)


def segment_min(data, segment_ids, name=None):
    """Minima of the rows of each segment; `segment_ids` must not decrease."""
    return ops.segment_min(data, segment_ids, name=name)


def segment_max(data, segment_ids, name=None):
    """Maxima of the rows of each segment; `segment_ids` must not decrease."""
    return ops.segment_max(data, segment_ids, name=name)


def unsorted_segment_sum(data, segment_ids, num_segments, name=None):
    """Sums of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    return ops.unsorted_segment_sum(data, segment_ids, num_segments, name=name)


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """Means of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    return ops.unsorted_segment_mean(data, segment_ids, num_segments, name)


def unsorted_segment_prod(data, segment_ids, num_segments, name=None):
    """Products of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    return ops.unsorted_segment_prod(data, segment_ids, num_segments, name=name)


def unsorted_segment_min(data, segment_ids, num_segments, name=None):
    """Minima of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    return ops.unsorted_segment_min(data, segment_ids, num_segments, name=name)


def unsorted_segment_max(data, segment_ids, num_segments, name=None):
    """Maxima of the rows of each of `num_segments` segments; rows with negative ids are left out."""
    return ops.unsorted_segment_max(data, segment_ids, num_segments, name=name)


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """Sums of the rows of each of `num_segments` segments, divided by the roots of their numbers."""
    return ops.unsorted_segment_sqrt_n(data, segment_ids, num_segments, name)


def sparse_segment_sum(data, indices, segment_ids, name=None, num_segments=None):
    """Sums of the rows of `data` at `indices`, by segment; `segment_ids` must not decrease."""
    return ops.sparse_segment_sum(data, indices, segment_ids, name, num_segments)


def sparse_segment_mean(data, indices, segment_ids, name=None, num_segments=None):
    """Means of the rows of `data` at `indices`, by segment; `segment_ids` must not decrease."""
    return ops.sparse_segment_mean(data, indices, segment_ids, name, num_segments)


def sparse_segment_sqrt_n(data, indices, segment_ids, name=None, num_segments=None):
    """Sums of the rows of `data` at `indices` by segment, divided by the roots of their numbers."""
    return ops.sparse_segment_sqrt_n(data, indices, segment_ids, name, num_segments)
