"""Neural nets, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.nn.window import sequence
from stillflow.random.seeds import get_seed


@public("compat.v2.nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None
):
    """tf.nn.batch_norm_with_global_normalization."""
    return tf.nn.batch_norm_with_global_normalization(
        input=input,
        mean=mean,
        variance=variance,
        beta=beta,
        gamma=gamma,
        variance_epsilon=variance_epsilon,
        scale_after_normalization=scale_after_normalization,
        name=name,
    )


@public("compat.v2.nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):
    """tf.nn.conv1d."""
    return tf.nn.conv1d(
        input=input,
        filters=filters,
        stride=stride,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):
    """tf.nn.conv2d."""
    return tf.nn.conv2d(
        input=input,
        filters=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.conv2d_transpose")
def conv2d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None, name=None
):
    """tf.nn.conv2d_transpose."""
    return tf.nn.conv2d_transpose(
        input=input,
        filters=filters,
        output_shape=output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):
    """tf.nn.conv3d."""
    return tf.nn.conv3d(
        input=input,
        filters=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.conv3d_transpose")
def conv3d_transpose(
    input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None, name=None
):
    """tf.nn.conv3d_transpose."""
    return tf.nn.conv3d_transpose(
        input,
        filters,
        output_shape=output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.convolution")
def convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None):
    """tf.nn.convolution."""
    return tf.nn.convolution(
        input=input,
        filter=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.crelu")
def crelu(features, axis=-1, name=None):
    """tf.nn.crelu."""
    return tf.nn.crelu(features=features, axis=axis, name=name)


@public("compat.v2.nn.depthwise_conv2d")
def depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None):
    """tf.nn.depthwise_conv2d."""
    return tf.nn.depthwise_conv2d(
        input=input,
        filter=filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """tf.nn.dropout."""
    return tf.nn.dropout(x=x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)


@public("compat.v2.nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input,
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype=dtypes.int64,
    include_batch_in_index=False,
    name=None,
):
    """tf.nn.max_pool_with_argmax."""
    return tf.nn.max_pool_with_argmax(
        input=input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        data_format=data_format,
        output_dtype=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


@public("compat.v2.nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """tf.nn.moments."""
    return tf.nn.moments(x=x, axes=axes, shift=shift, keepdims=keepdims, name=name)


@public("compat.v2.nn.pool")
def pool(
    input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None
):
    """tf.nn.pool."""
    return tf.nn.pool(
        input=input,
        window_shape=window_shape,
        pooling_type=pooling_type,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.separable_conv2d")
def separable_conv2d(
    input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None, name=None
):
    """tf.nn.separable_conv2d."""
    return tf.nn.separable_conv2d(
        input=input,
        depthwise_filter=depthwise_filter,
        pointwise_filter=pointwise_filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


@public("compat.v2.nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """tf.nn.sufficient_statistics."""
    return tf.nn.sufficient_statistics(x=x, axes=axes, shift=shift, keepdims=keepdims, name=name)


@public("compat.v2.nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """tf.nn.weighted_moments."""
    return tf.nn.weighted_moments(x=x, axes=axes, frequency_weights=frequency_weights, keepdims=keepdims, name=name)


def _fractional_pool(pool, value, pooling_ratio, pseudo_random, overlapping, seed, name):
    seeds = get_seed(seed) if seed else (0, 0)
    return pool(
        value, pooling_ratio, pseudo_random, overlapping, deterministic=bool(seed), seed=seeds[0], seed2=seeds[1],
        name=name,
    )  # fmt: skip


@public("compat.v2.nn.fractional_avg_pool")
def fractional_avg_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """tf.nn.fractional_avg_pool, with the same regions in each run if there is a seed."""
    return _fractional_pool(tf.nn.fractional_avg_pool, value, pooling_ratio, pseudo_random, overlapping, seed, name)


@public("compat.v2.nn.fractional_max_pool")
def fractional_max_pool(value, pooling_ratio, pseudo_random=False, overlapping=False, seed=0, name=None):
    """tf.nn.fractional_max_pool, with the same regions in each run if there is a seed.

    `pooling_ratio` may also be a number, or two, for the sizes of images.
    """
    ratios = sequence(pooling_ratio, 2, 3, "pooling_ratio")
    return _fractional_pool(tf.nn.fractional_max_pool, value, ratios, pseudo_random, overlapping, seed, name)
