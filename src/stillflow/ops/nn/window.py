"""How many places a window has along an axis, and the arguments that say how it goes: what convolutions and pools share."""

from __future__ import annotations

from collections.abc import Sized

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
