"""Pools: the largest, or the mean, of the inputs in each window."""

from __future__ import annotations

from stillflow.composites.pool import pool as pool_windows
from stillflow.contrib.framework.argument_scopes import add_arg_scope
from stillflow.contrib.layers.named_outputs import as_keras_format, collect_named_outputs, n_positive_integers
from stillflow.graph.name_scope import name_scope
from stillflow.layers import pooling as layers
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor

_IMAGES, _VOLUMES = ("NCHW", "NHWC"), ("NCDHW", "NDHWC")


def _pooled(layer_class, scope_name, inputs, window, data_format, outputs_collections, scope):
    kernel_size, stride, padding = window
    with name_scope(scope, scope_name, [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        layer = layer_class(
            pool_size=kernel_size, strides=stride, padding=padding, data_format=data_format, _scope=sc
        )
        return collect_named_outputs(outputs_collections, sc, layer.apply(inputs))


@public("contrib.layers.avg_pool2d")
@add_arg_scope
def avg_pool2d(
    inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None
):
    """The mean of the inputs in each window, along two dimensions.

    Args:
      inputs: a tensor of four dimensions.
      kernel_size, stride: integers, or sequences of two.
      padding: "VALID" or "SAME".
      data_format: "NHWC" or "NCHW".
      outputs_collections: collections for the outputs.
      scope: the name scope.

    Raises:
      ValueError: for another format.
    """
    data_format = as_keras_format(data_format, *_IMAGES)
    window = kernel_size, stride, padding
    return _pooled(layers.AveragePooling2D, "AvgPool2D", inputs, window, data_format, outputs_collections, scope)


@public("contrib.layers.avg_pool3d")
@add_arg_scope
def avg_pool3d(
    inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None, scope=None
):
    """The mean of the inputs in each window, along three dimensions; see `avg_pool2d`."""
    data_format = as_keras_format(data_format, *_VOLUMES)
    window = kernel_size, stride, padding
    return _pooled(layers.AveragePooling3D, "AvgPool3D", inputs, window, data_format, outputs_collections, scope)


@public("contrib.layers.max_pool2d")
@add_arg_scope
def max_pool2d(
    inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None
):
    """The largest of the inputs in each window, along two dimensions; see `avg_pool2d`."""
    data_format = as_keras_format(data_format, *_IMAGES)
    window = kernel_size, stride, padding
    return _pooled(layers.MaxPooling2D, "MaxPool2D", inputs, window, data_format, outputs_collections, scope)


@public("contrib.layers.max_pool3d")
@add_arg_scope
def max_pool3d(
    inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None, scope=None
):
    """The largest of the inputs in each window, along three dimensions; see `avg_pool2d`."""
    data_format = as_keras_format(data_format, *_VOLUMES)
    window = kernel_size, stride, padding
    return _pooled(layers.MaxPooling3D, "MaxPool3D", inputs, window, data_format, outputs_collections, scope)


@public("contrib.slim.pool", "contrib.layers.python.layers.layers.pool")
@add_arg_scope
def pool(
    inputs, kernel_size, pooling_type, padding="VALID", data_format=None, dilation_rate=1, stride=1,
    outputs_collections=None, scope=None,
):  # fmt: skip
    """tf.nn.pool, along all dimensions but those of the batch and the channels.

    Args:
      inputs: a tensor of at least three dimensions.
      kernel_size, dilation_rate, stride: integers, or sequences.
      pooling_type: "MAX" or "AVG".
      padding, data_format: see tf.nn.pool.
      outputs_collections: collections for the outputs.
      scope: the name scope.

    Raises:
      ValueError: for inputs of a lower rank, or of an unknown one.
    """
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.rank
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        outputs = pool_windows(
            input=inputs, window_shape=n_positive_integers(rank - 2, kernel_size), pooling_type=pooling_type,
            padding=padding, data_format=data_format,
            dilation_rate=n_positive_integers(rank - 2, dilation_rate),
            strides=n_positive_integers(rank - 2, stride), name=sc,
        )  # fmt: skip
        return collect_named_outputs(outputs_collections, sc, outputs)
