"""Sparse tensors and sparse segments, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.sparse.add")
def add(a, b, threshold=0):
    """tf.sparse.add."""
    return tf.sparse.add(a=a, b=b, threshold=threshold)


@public("compat.v2.sparse.concat")
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """tf.sparse.concat."""
    return tf.sparse.concat(axis=axis, sp_inputs=sp_inputs, expand_nonconcat_dims=expand_nonconcat_dims, name=name)


@public("compat.v2.sparse.segment_mean")
def segment_mean(data, indices, segment_ids, num_segments=None, name=None):
    """tf.sparse.segment_mean."""
    return tf.sparse.segment_mean(
        data=data, indices=indices, segment_ids=segment_ids, num_segments=num_segments, name=name
    )


@public("compat.v2.sparse.segment_sqrt_n")
def segment_sqrt_n(data, indices, segment_ids, num_segments=None, name=None):
    """tf.sparse.segment_sqrt_n."""
    return tf.sparse.segment_sqrt_n(
        data=data, indices=indices, segment_ids=segment_ids, num_segments=num_segments, name=name
    )


@public("compat.v2.sparse.segment_sum")
def segment_sum(data, indices, segment_ids, num_segments=None, name=None):
    """tf.sparse.segment_sum."""
    return tf.sparse.segment_sum(
        data=data, indices=indices, segment_ids=segment_ids, num_segments=num_segments, name=name
    )


@public("compat.v2.sparse.split")
def split(sp_input=None, num_split=None, axis=None, name=None):
    """tf.sparse.split."""
    return tf.sparse.split(sp_input=sp_input, num_split=num_split, axis=axis, name=name)


@public("compat.v2.sparse.reduce_max")
def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """tf.sparse.reduce_max, or tf.sparse.reduce_max_sparse where the result is to be sparse."""
    with tf.name_scope(name):
        function = tf.sparse.reduce_max_sparse if output_is_sparse else tf.sparse.reduce_max
        return function(sp_input, axis, keepdims)


@public("compat.v2.sparse.reduce_sum")
def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """tf.sparse.reduce_sum, or tf.sparse.reduce_sum_sparse where the result is to be sparse."""
    with tf.name_scope(name):
        function = tf.sparse.reduce_sum_sparse if output_is_sparse else tf.sparse.reduce_sum
        return function(sp_input, axis, keepdims)
