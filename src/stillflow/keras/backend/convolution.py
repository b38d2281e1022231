"""Convolutions and pooling of the backend, and convolutions whose kernel is another one at each place."""

from __future__ import annotations

import itertools

from stillflow import ops
from stillflow.composites.convolution import atrous_conv2d_transpose, convolution
from stillflow.composites.separable_convolution import separable_conv2d as separable_convolution
from stillflow.keras.backend.arithmetic import batch_dot
from stillflow.keras.backend.shaping import concatenate, permute_dimensions, temporal_padding
from stillflow.keras.backend.values import int_shape
from stillflow.layers.core.settings import image_data_format
from stillflow.names import public


def _checked_format(data_format):
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def _checked_padding(padding):
    if padding not in ("same", "valid"):
        raise ValueError(f"Invalid padding: {padding}")
    return padding.upper()


def _last(x, data_format):
    """x with its channels last, which is what TensorFlow has kernels for on CPUs."""
    if data_format == "channels_last":
        return x
    rank = len(x.shape)
    return ops.transpose(x, (0, *range(2, rank), 1))


def _back(x, data_format, rank):
    if data_format == "channels_last":
        return x
    return ops.transpose(x, (0, rank - 1, *range(1, rank - 1)))


_LAST = {3: "NWC", 4: "NHWC", 5: "NDHWC"}


def _convolved(x, kernel, strides, padding, data_format, dilation_rate, rank):
    x = _last(x, data_format)
    outputs = convolution(
        input=x, filter=kernel, dilation_rate=dilation_rate, strides=strides, padding=_checked_padding(padding),
        data_format=_LAST[rank],
    )  # fmt: skip
    return _back(outputs, data_format, rank)


@public("keras.backend.conv1d")
def conv1d(x, kernel, strides=1, padding="valid", data_format=None, dilation_rate=1):
    """A convolution of sequences.

    Args:
      x: a tensor of three dimensions.
      kernel: a tensor [length, channels, outputs].
      strides, dilation_rate: integers.
      padding: "valid", "same" or "causal".
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format or padding.
    """
    data_format = _checked_format(data_format)
    if padding == "causal":
        x = temporal_padding(x, (dilation_rate * (kernel.shape.as_list()[0] - 1), 0))
        padding = "valid"
    strides, dilation_rate = ((value,) if isinstance(value, int) else value for value in (strides, dilation_rate))
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 3)


@public("keras.backend.conv2d")
def conv2d(x, kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)):
    """A convolution of images; see `conv1d`. Strides and rates are pairs."""
    return _convolved(x, kernel, strides, padding, _checked_format(data_format), dilation_rate, 4)


@public("keras.backend.conv3d")
def conv3d(x, kernel, strides=(1, 1, 1), padding="valid", data_format=None, dilation_rate=(1, 1, 1)):
    """A convolution of volumes; see `conv1d`. Strides and rates are of three numbers."""
    return _convolved(x, kernel, strides, padding, _checked_format(data_format), dilation_rate, 5)


@public("keras.backend.conv2d_transpose")
def conv2d_transpose(
    x, kernel, output_shape, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """What a convolution of images does to gradients.

    Args:
      x: a tensor of four dimensions.
      kernel: a tensor [height, width, outputs, channels].
      output_shape: the shape of the result; the batch may be None.
      strides, dilation_rate: pairs of integers.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format or padding, or two rates that differ.
    """
    data_format = _checked_format(data_format)
    x = _last(x, data_format)
    if data_format == "channels_first":
        output_shape = (output_shape[0], output_shape[2], output_shape[3], output_shape[1])
    if output_shape[0] is None:
        output_shape = (ops.shape(x)[0], *output_shape[1:])
    if isinstance(output_shape, (tuple, list)):
        output_shape = ops.stack(list(output_shape))
    padding = _checked_padding(padding)
    if dilation_rate == (1, 1):
        outputs = ops.conv2d_transpose(x, kernel, output_shape, (1, *strides, 1), padding=padding)
    else:
        if dilation_rate[0] != dilation_rate[1]:
            raise ValueError(f"Both numbers of dilation_rate have to be the same, not {dilation_rate}")
        outputs = atrous_conv2d_transpose(x, kernel, output_shape, rate=dilation_rate[0], padding=padding)
    return _back(outputs, data_format, 4)


@public("keras.backend.separable_conv2d")
def separable_conv2d(
    x, depthwise_kernel, pointwise_kernel, strides=(1, 1), padding="valid", data_format=None, dilation_rate=(1, 1)
):
    """A convolution of each channel of images on its own, and then one of single pixels; see `conv2d`."""
    data_format = _checked_format(data_format)
    if len(strides) != 2:
        raise ValueError("`strides` must be a tuple of 2 integers.")
    outputs = separable_convolution(
        _last(x, data_format), depthwise_kernel, pointwise_kernel, strides=(1, *strides, 1),
        padding=_checked_padding(padding), rate=dilation_rate, data_format="NHWC",
    )  # fmt: skip
    return _back(outputs, data_format, 4)


def _pooled(pools, x, pool_size, strides, padding, data_format, pool_mode, rank):
    data_format = _checked_format(data_format)
    x = _last(x, data_format)
    padding = _checked_padding(padding)
    if pool_mode not in pools:
        raise ValueError(f"Invalid pooling mode: {pool_mode}")
    outputs = pools[pool_mode](x, (1, *pool_size, 1), (1, *strides, 1), padding=padding, data_format=_LAST[rank])
    return _back(outputs, data_format, rank)


@public("keras.backend.pool2d")
def pool2d(x, pool_size, strides=(1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest, or the mean, of each window of images.

    Args:
      x: a tensor of four dimensions.
      pool_size, strides: pairs of integers.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".
      pool_mode: "max" or "avg".

    Raises:
      ValueError: for another format, padding or mode, and if sizes are no pairs.
    """
    for name, value in (("pool_size", pool_size), ("strides", strides)):
        if len(value) != 2:
            raise ValueError(f"`{name}` must be a tuple of 2 integers.")
    pools = {"max": ops.max_pool, "avg": ops.avg_pool}
    return _pooled(pools, x, pool_size, strides, padding, data_format, pool_mode, 4)


@public("keras.backend.pool3d")
def pool3d(x, pool_size, strides=(1, 1, 1), padding="valid", data_format=None, pool_mode="max"):
    """The largest, or the mean, of each window of volumes; see `pool2d`."""
    pools = {"max": ops.max_pool3d, "avg": ops.avg_pool3d}
    return _pooled(pools, x, pool_size, strides, padding, data_format, pool_mode, 5)


# ---- Another kernel at each place ---------------------------------------------------------------------------


@public("python.keras.backend.local_conv")
def local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """A convolution without padding whose kernel is another one at each place.

    Args:
      inputs: a tensor [batch, ..., channels], or [batch, channels, ...].
      kernel: a tensor [places, inputs of each, outputs].
      kernel_size, strides, output_shape: a number for each spatial axis.
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: for another format.
    """
    data_format = _checked_format(data_format)
    _, features, filters = int_shape(kernel)
    rank = len(output_shape)
    windows = []
    for place in itertools.product(*(range(int(size)) for size in output_shape)):
        starts = [at * stride for at, stride in zip(place, strides, strict=True)]
        window = [slice(start, start + size) for start, size in zip(starts, kernel_size, strict=True)]
        whole = slice(None)
        window = [whole, whole, *window] if data_format == "channels_first" else [whole, *window, whole]
        windows.append(ops.reshape(inputs[tuple(window)], (1, -1, features)))
    outputs = batch_dot(concatenate(windows, axis=0), kernel)
    outputs = ops.reshape(outputs, (*output_shape, -1, filters))
    spatial = list(range(rank))
    is_first = data_format == "channels_first"
    order = [rank, rank + 1, *spatial] if is_first else [rank, *spatial, rank + 1]
    return permute_dimensions(outputs, order)


@public("keras.backend.local_conv1d")
def local_conv1d(inputs, kernel, kernel_size, strides, data_format=None):
    """A convolution of sequences whose kernel [steps, inputs of each, outputs] is another one at each step."""
    return local_conv(inputs, kernel, kernel_size, strides, (kernel.shape.as_list()[0],), data_format)


@public("keras.backend.local_conv2d")
def local_conv2d(inputs, kernel, kernel_size, strides, output_shape, data_format=None):
    """A convolution of images whose kernel [places, inputs of each, outputs] is another one at each place."""
    return local_conv(inputs, kernel, kernel_size, strides, output_shape, data_format)
