"""Window arithmetic of convolutions and pools: output sizes, and checks of strides, paddings and data formats."""

from __future__ import annotations

from collections.abc import Sized

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError

DATA_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
DATA_FORMAT_3D = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
PADDING = "padding: {'SAME', 'VALID'}"
FLOATS = "T: {float16, bfloat16, float32, float64}"


def is_channels_first(attrs):
    return attrs["data_format"].startswith(b"NC")


def spatial_axes(rank, channels_first):
    """The axes of images of that rank that are neither the batch nor the channels."""
    return range(2, rank) if channels_first else range(1, rank - 1)


def place_count(size, window, stride, padding, dilation=1, paddings=(0, 0)):
    """How many places a window has along an axis, or None. `padding` is b"SAME", b"VALID" or b"EXPLICIT"."""
    if stride <= 0:
        raise ShapeError(f"Stride must be > 0, but got {stride}")
    if dilation < 1:
        raise ShapeError(f"Dilation rate must be >= 1, but got {dilation}")
    if size is None:
        return None
    if padding == b"SAME":
        return (size + stride - 1) // stride
    if window is None:
        return None
    extent = (window - 1) * dilation + 1
    padded = size + sum(paddings) if padding == b"EXPLICIT" else size
    if extent > padded:
        raise ShapeError(f"Negative dimension size caused by subtracting {extent} from {padded}")
    return (padded - extent + stride) // stride


def numbers_of(context, name, count, text):
    """An attribute that is a list of a number for each dimension; `text` says what is wrong with another count."""
    values = context.attrs[name]
    if len(values) != count:
        raise ShapeError(f"{text} {count} values, but got: {len(values)}")
    return values


def sequence(value, count, channel_axis, name):
    """An argument of one number, one for each of `count` spatial axes, or one for each dimension, as the last."""
    if value is None:
        value = [1]
    elif not isinstance(value, Sized):
        value = [value]
    given = len(value)
    if given == count + 2:
        return value
    if given == 1:
        value = list((value[0],) * count)
    elif given == count:
        value = list(value)
    else:
        raise ValueError(f"{name} should be of length 1, {count} or {count + 2} but was {given}")
    return [1, 1, *value] if channel_axis == 1 else [1, *value, 1]


# ---- Pools ------------------------------------------------------------------------------------------------


def pooled_dims(images, windows, strides, padding, channels_first, pools_channels=False):
    """The shape of pooled images; `pools_channels` says whether windows over channels have places too."""
    rank = len(images)
    result = list(images)
    axes = list(spatial_axes(rank, channels_first))
    if pools_channels:
        axes.append(1 if channels_first else rank - 1)
    for axis in axes:
        result[axis] = place_count(images[axis], windows[axis], strides[axis], padding)
    return tuple(result)


def pool_attrs(op):
    """The attributes that a pool's gradient has of it."""
    return {name: op.get_attr(name) for name in ("ksize", "strides", "padding", "data_format")}


def pool_arguments(ksize, strides, count, data_format):
    """(ksize, strides) as lists of a number for each dimension."""
    axis = 1 if data_format.startswith("NC") else count + 1
    return sequence(ksize, count, axis, "ksize"), sequence(strides, count, axis, "strides")


def spatial_rank(input, data_format):
    """How many axes images have that windows go along: as many as `input` has, or as the format spells."""
    if input.shape is not None:
        count = len(input.shape) - 2
    elif data_format is not None:
        count = len(data_format) - 2
    else:
        raise ValueError("The input must have a rank or a data format must be given.")
    if not 1 <= count <= 3:
        raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}.")
    return count


def along_axes(count, pool, input, ksize, strides, padding, data_format, name):
    """A pool in `count` dimensions, two or three, by its op."""
    data_format = ("NHWC" if count == 2 else "NDHWC") if data_format is None else data_format
    ksize, strides = pool_arguments(ksize, strides, count, data_format)
    return pool(input, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)


def along_one_axis(pool, input, ksize, strides, padding, data_format, name):
    """A pool in two dimensions of images with one, as a row."""
    data_format = "NWC" if data_format is None else data_format
    channel_axis = 1 if data_format.startswith("NC") else 2
    ksize = [1, *sequence(ksize, 1, channel_axis, "ksize")]
    strides = [1, *sequence(strides, 1, channel_axis, "strides")]
    axis = 1 if data_format == "NWC" else 2
    data_format = "NHWC" if data_format == "NWC" else "NCHW"
    rows = ops.expand_dims(input, axis)
    pooled = pool(rows, ksize=ksize, strides=strides, padding=padding, data_format=data_format, name=name)
    return ops.squeeze(pooled, axis)
