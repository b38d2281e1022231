"""Which inputs a convolution's outputs are computed from."""

from __future__ import annotations

import itertools

import numpy as np

from stillflow.layers.core.data_formats import output_length
from stillflow.names import public


@public("python.keras.utils.conv_utils.conv_output_shape")
def conv_output_shape(input_shape, kernel_shape, strides, padding):
    """The sizes of a convolution's outputs, as a tuple; where there are no inputs, there are no outputs."""
    found = zip(input_shape, kernel_shape, strides, strict=False)
    return tuple(0 if length == 0 else output_length(length, size, padding, stride) for length, size, stride in found)


def _starts(size, count, stride, padding):
    """Where the windows along an axis begin; padding lies before 0."""
    return np.arange(count) * stride - (size // 2 if padding == "same" else 0)


@public("python.keras.utils.conv_utils.conv_connected_inputs")
def conv_connected_inputs(input_shape, kernel_shape, output_position, strides, padding):
    """The inputs that one output is computed from: a range for each axis."""
    found = []
    for length, size, place, stride in zip(input_shape, kernel_shape, output_position, strides, strict=True):
        start = int(_starts(size, place + 1, stride, padding)[-1])
        found.append(range(max(0, start), min(length, start + size)))
    return found


def _sizes(input_shape, kernel_shape, strides, padding):
    """(kernel's sizes, strides), a number for all axes as one for each."""
    if padding not in ("same", "valid"):
        raise NotImplementedError(f'Padding type {padding} not supported. Only "valid" and "same" are implemented.')
    rank = len(input_shape)
    kernel_shape, strides = ((each,) * rank if isinstance(each, int) else each for each in (kernel_shape, strides))
    if not len(kernel_shape) == len(strides) == rank:
        raise ValueError(
            "Number of strides, input and kernel dimensions must all match. Received: "
            f"{len(strides)}, {rank}, {len(kernel_shape)}."
        )
    return kernel_shape, strides


@public("python.keras.utils.conv_utils.conv_kernel_mask")
def conv_kernel_mask(input_shape, kernel_shape, strides, padding):
    """Whether an input lies in the window of an output.

    Args:
      input_shape: the sizes of the inputs' spatial axes.
      kernel_shape, strides: a number for each, or one for all.
      padding: "same" or "valid".

    Returns:
      Bools [*sizes of the inputs, *sizes of the outputs].

    Raises:
      NotImplementedError: for another padding.
      ValueError: for numbers of axes that differ.
    """
    kernel_shape, strides = _sizes(input_shape, kernel_shape, strides, padding)
    counts = conv_output_shape(input_shape, kernel_shape, strides, padding)
    rank = len(input_shape)
    found = np.ones((1,) * (2 * rank), bool)
    for axis, (length, size, stride, count) in enumerate(
        zip(input_shape, kernel_shape, strides, counts, strict=True)
    ):
        offsets = np.arange(length)[:, None] - _starts(size, count, stride, padding)
        shape = [1] * (2 * rank)
        shape[axis], shape[rank + axis] = length, count
        found = found & ((offsets >= 0) & (offsets < size)).reshape(shape)
    return found


@public("python.keras.utils.conv_utils.conv_kernel_idxs")
def conv_kernel_idxs(input_shape, kernel_shape, strides, padding, filters_in, filters_out, data_format):
    """Pairs (output, input) of connected places, as indices into flattened images, output by output.

    Args:
      input_shape, kernel_shape, strides, padding: as for `conv_kernel_mask`.
      filters_in, filters_out: the numbers of channels.
      data_format: "channels_last" or "channels_first".

    Raises:
      NotImplementedError, ValueError: as there, and for another format.
    """
    kernel_shape, strides = _sizes(input_shape, kernel_shape, strides, padding)
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            f'Data format {data_format} not recignized.`data_format` must be "channels_first" or "channels_last".'
        )

    def ordered(places, channel):
        return (channel, *places) if data_format == "channels_first" else (*places, channel)

    counts = conv_output_shape(input_shape, kernel_shape, strides, padding)
    for place in itertools.product(*map(range, counts)):
        window = conv_connected_inputs(input_shape, kernel_shape, place, strides, padding)
        for source in itertools.product(*window):
            for channel, out_channel in itertools.product(range(filters_in), range(filters_out)):
                yield (
                    np.ravel_multi_index(ordered(place, out_channel), ordered(counts, filters_out)),
                    np.ravel_multi_index(ordered(source, channel), ordered(input_shape, filters_in)),
                )
