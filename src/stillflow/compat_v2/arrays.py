"""Arrays and their shapes, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.graph import dtypes
from stillflow.names import public


@public("compat.v2.batch_to_space")
def batch_to_space(input, block_shape, crops, name=None):
    """tf.batch_to_space_nd."""
    return tf.batch_to_space_nd(input, block_shape, crops, name)


@public("compat.v2.boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """tf.boolean_mask."""
    return tf.boolean_mask(tensor=tensor, mask=mask, axis=axis, name=name)


@public("compat.v2.expand_dims")
def expand_dims(input, axis, name=None):
    """tf.expand_dims."""
    return tf.expand_dims(input=input, axis=axis, name=name)


@public("compat.v2.gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """tf.gather."""
    return tf.gather(
        params=params, indices=indices, validate_indices=validate_indices, axis=axis, batch_dims=batch_dims, name=name
    )


@public("compat.v2.gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None):
    """tf.gather_nd."""
    return tf.gather_nd(params=params, indices=indices, batch_dims=batch_dims, name=name)


@public("compat.v2.ones_like")
def ones_like(input, dtype=None, name=None):
    """tf.ones_like."""
    return tf.ones_like(tensor=input, dtype=dtype, name=name)


@public("compat.v2.zeros_like")
def zeros_like(input, dtype=None, name=None):
    """tf.zeros_like."""
    return tf.zeros_like(tensor=input, dtype=dtype, name=name)


@public("compat.v2.pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """tf.pad."""
    return tf.pad(tensor=tensor, paddings=paddings, mode=mode, constant_values=constant_values, name=name)


@public("compat.v2.reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """tf.reverse_sequence."""
    return tf.reverse_sequence(
        input=input, seq_lengths=seq_lengths, seq_axis=seq_axis, batch_axis=batch_axis, name=name
    )


@public("compat.v2.shape")
def shape(input, out_type=dtypes.int32, name=None):
    """tf.shape."""
    return tf.shape(input=input, out_type=out_type, name=name)


@public("compat.v2.size")
def size(input, out_type=dtypes.int32, name=None):
    """tf.size."""
    return tf.size(input=input, out_type=out_type, name=name)


@public("compat.v2.space_to_batch", "compat.v2.nn.space_to_batch")
def space_to_batch(input, block_shape, paddings, name=None):
    """tf.space_to_batch_nd."""
    return tf.space_to_batch_nd(input, block_shape, paddings, name)


@public("compat.v2.nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """tf.nn.depth_to_space."""
    return tf.nn.depth_to_space(input=input, block_size=block_size, data_format=data_format, name=name)


@public("compat.v2.nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """tf.nn.space_to_depth."""
    return tf.nn.space_to_depth(input=input, block_size=block_size, data_format=data_format, name=name)


@public("compat.v2.squeeze")
def squeeze(input, axis=None, name=None):
    """tf.squeeze."""
    return tf.squeeze(input=input, axis=axis, name=name)


@public("compat.v2.transpose")
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """tf.transpose."""
    return tf.transpose(a=a, perm=perm, conjugate=conjugate, name=name)
