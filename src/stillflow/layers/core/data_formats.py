"""Arguments of layers that see images: sizes of windows, paddings, where channels are.

In TensorFlow they are in tensorflow.python.layers.utils and tensorflow.python.keras.utils.conv_utils.
"""

from __future__ import annotations

from stillflow.layers.core.settings import image_data_format
from stillflow.names import public


@public("python.layers.utils.normalize_data_format", "python.keras.utils.conv_utils.normalize_data_format")
def normalized_data_format(value):
    """ "channels_first" or "channels_last", in any case; None is what the settings say. Raises ValueError."""
    found = (image_data_format() if value is None else value).lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(
            f'The `data_format` argument must be one of "channels_first", "channels_last". Received: {value}'
        )
    return found


@public("python.layers.utils.normalize_tuple", "python.keras.utils.conv_utils.normalize_tuple")
def normalized_tuple(value, n, name):
    """A tuple of n integers, of one that is an integer for all. Raises ValueError for anything else."""
    if isinstance(value, int):
        return (value,) * n
    error = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        items = tuple(value)
    except TypeError:
        raise ValueError(error) from None
    if len(items) != n:
        raise ValueError(error)
    for item in items:
        try:
            int(item)
        except (TypeError, ValueError):
            raise ValueError(f"{error} including element {item} of type {type(item)}") from None
    return items


@public("python.layers.utils.normalize_padding", "python.keras.utils.conv_utils.normalize_padding")
def normalized_padding(value):
    """A list, or "valid", "same" or "causal", in any case. Raises ValueError for anything else."""
    if isinstance(value, (list, tuple)):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            f"Received: {padding}"
        )
    return padding


_FORMATS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


@public("python.layers.utils.convert_data_format", "python.keras.utils.conv_utils.convert_data_format")
def format_of_op(data_format, rank):
    """What ops call it for that many dimensions: "NHWC". Raises ValueError for other formats and ranks."""
    if data_format not in _FORMATS:
        raise ValueError("Invalid data_format:", data_format)
    if rank not in _FORMATS[data_format]:
        raise ValueError("Input rank not supported:", rank)
    return _FORMATS[data_format][rank]


@public("python.layers.utils.conv_output_length", "python.keras.utils.conv_utils.conv_output_length")
def output_length(input_length, filter_size, padding, stride, dilation=1):
    """How many places a window has along an axis of that length; None if that is not known."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    if padding == "valid":
        input_length = input_length - window + 1
    elif padding == "full":
        input_length = input_length + window - 1
    return (input_length + stride - 1) // stride


@public("python.layers.utils.conv_input_length", "python.keras.utils.conv_utils.conv_input_length")
def input_length(output_length, filter_size, padding, stride):
    """The length along which a window has so many places; None if that is not known."""
    if output_length is None:
        return None
    margin = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * margin + filter_size


@public("python.keras.utils.conv_utils.deconv_output_length")
def transposed_output_length(input_length, filter_size, padding, output_padding=None, stride=0, dilation=1):
    """The length that has `input_length` places for a window; None if that is not known.

    Several have; without `output_padding` it is the shortest for "valid" and the longest for "same".
    """
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    if output_padding is not None:
        margin = {"same": window // 2, "valid": 0, "full": window - 1}[padding]
        return (input_length - 1) * stride + window - 2 * margin + output_padding
    if padding == "valid":
        return input_length * stride + max(window - stride, 0)
    if padding == "full":
        return input_length * stride - (stride + window - 2)
    return input_length * stride


@public("python.layers.utils.deconv_output_length")
def plain_transposed_output_length(input_length, filter_size, padding, stride):
    """As `transposed_output_length`, of a window without gaps."""
    return transposed_output_length(input_length, filter_size, padding, stride=stride)
