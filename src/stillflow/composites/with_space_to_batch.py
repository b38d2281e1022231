"""tf.nn.with_space_to_batch: dilated windows as dense windows over images rearranged by SpaceToBatch."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.space_blocks import required_space_to_batch_paddings
from stillflow.graph import dtypes
from stillflow.graph.shape import as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("nn.with_space_to_batch")
def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Applies `op`, which moves a window over images, as if the window had gaps.

    Pixels that are `dilation_rate` apart become an image of their own, of a larger batch; then op(images, number of
    spatial dimensions, "VALID") is applied, and the pixels of the results are put back in their order. If all rates
    are 1, this is op(input, number of spatial dimensions, padding).

    Args:
      input: a tensor of more dimensions than the last of `spatial_dims`.
      dilation_rate: an int32 vector, of known size, with a rate for each spatial dimension.
      padding: "SAME" or "VALID".
      op: a function of (images, number of spatial dimensions, padding).
      filter_shape: the window's sizes, for "SAME".
      spatial_dims: the dimensions that the window goes along, ascending; from 1 on by default, or from 2 on if
        `data_format` begins with "NC".

    Raises:
      ValueError: for arguments that do not fit.
    """
    input = convert_to_tensor(input, name="input")

    def make(count, padding):
        return lambda images: op(images, count, padding)

    return apply_with_gaps(input, dilation_rate, padding, make, filter_shape, spatial_dims, data_format)


def apply_with_gaps(input, rates, padding, make, window_shape, spatial_dims=None, data_format=None, channels=None):
    """with_space_to_batch of make(number of spatial dimensions, padding), which is a function of images.

    `channels` are those of the result, if they are known.
    """
    rates = convert_to_tensor(rates, dtypes.int32, name="dilation_rate")
    count = _rate_count(rates)
    channels_first = data_format is not None and data_format.startswith("NC")
    spatial_dims = _checked_dims(spatial_dims, count, 2 if channels_first else 1)
    least_rank = spatial_dims[-1] + (0 if channels_first else 1)
    rank = as_shape(input.shape).rank  # An array becomes a node where it is used.
    if rank is not None and rank < least_rank:
        raise ValueError(f"input tensor must have rank {least_rank} at least")
    known_rates = constant_value(rates)
    if known_rates is not None:
        if np.any(known_rates < 1):
            raise ValueError("dilation_rate must be positive")
        if np.all(known_rates == 1):
            return make(count, padding)(input)
    base_paddings = _base_paddings(padding, window_shape, count, rates if known_rates is None else known_rates)
    apply = make(count, "VALID")
    sizes = _spatial_sizes(input, spatial_dims)
    paddings, crops = required_space_to_batch_paddings(sizes, rates, base_paddings)
    rates, paddings, crops = (
        _for_all_dims(values, fill, spatial_dims) for values, fill in ((rates, 1), (paddings, 0), (crops, 0))
    )
    result = apply(ops.space_to_batch_nd(input, rates, paddings))
    result = ops.batch_to_space_nd(result, rates, crops)
    if channels_first and channels is not None and result.shape.dims[1].value is None:
        dims = result.shape.as_list()
        dims[1] = channels
        result.set_shape(dims)
    return result


def _rate_count(rates):
    if rates.shape.rank not in (None, 1):
        raise ValueError("rate must be rank 1")
    if not rates.shape.is_fully_defined():
        raise ValueError("rate must have known shape")
    return rates.shape.dims[0].value


def _checked_dims(spatial_dims, count, first):
    given = list(range(first, count + first) if spatial_dims is None else spatial_dims)
    ascending = sorted({int(axis) for axis in given})
    if ascending != given or any(axis < 1 for axis in ascending):
        raise ValueError("spatial_dims must be a montonically increasing sequence of positive integers")
    return ascending


def _base_paddings(padding, window_shape, count, rates):
    """What makes a window that is padded to "SAME" one that is not."""
    if padding == "VALID":
        return np.zeros([count, 2], np.int32)
    if padding != "SAME":
        raise ValueError(f"Invalid padding method {padding!r}")
    if window_shape is None:
        raise ValueError("filter_shape must be specified for SAME padding")
    window_shape = convert_to_tensor(window_shape, name="filter_shape")
    known = constant_value(window_shape)
    sizes = (window_shape if known is None else known)[:count]
    missing = sizes + (sizes - 1) * (rates - 1) - 1
    before = missing // 2
    after = missing - before
    return ops.stack([[before[i], after[i]] for i in range(count)])


def _spatial_sizes(input, spatial_dims):
    """The sizes of those dimensions: numbers, or a tensor where they are not known."""
    shape = as_shape(input.shape)
    if shape.rank is not None:
        dims = shape.as_list()
        sizes = [dims[axis] for axis in spatial_dims]
        if None not in sizes:
            return sizes
    shape = ops.shape(input)
    return ops.stack([shape[axis] for axis in spatial_dims])


def _for_all_dims(values, fill, spatial_dims):
    """Rows for all dimensions from 1 on: of those of `values`, and `fill` for the others."""
    known = constant_value(values)
    rows = values if known is None else known
    row_shape, dtype = values.shape.as_list()[1:], values.dtype.as_numpy_dtype
    parts = []
    last = 0
    i = 0
    while i < len(spatial_dims):
        start = i
        if spatial_dims[start] > 1:
            parts.append(np.full([spatial_dims[start] - 1 - last, *row_shape], fill, dtype))
        while i + 1 < len(spatial_dims) and spatial_dims[i + 1] == spatial_dims[i] + 1:
            i += 1
        parts.append(rows[start : i + 1])
        last = spatial_dims[i]
        i += 1
    return ops.concat(parts, 0) if known is None else np.concatenate(parts)
