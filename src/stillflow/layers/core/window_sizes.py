"""Arguments and sizes of convolutions: tensorflow.python.layers.utils and keras.utils.conv_utils."""

from __future__ import annotations

from stillflow.names import public


@public("python.layers.utils.normalize_tuple", "python.keras.utils.conv_utils.normalize_tuple")
def normalize_tuple(value, n, name):
    """An int n times, or n ints, as a tuple. Raises ValueError, worded with the name of the argument, for others."""
    if isinstance(value, int):
        return (value,) * n
    text = f"The `{name}` argument must be a tuple of {n} integers. Received: {value}"
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(text) from None
    if len(found) != n:
        raise ValueError(text)
    for single in found:
        try:
            int(single)
        except (ValueError, TypeError):
            raise ValueError(f"{text} including element {single} of type {type(single)}") from None
    return found


@public("python.layers.utils.normalize_data_format", "python.keras.utils.conv_utils.normalize_data_format")
def normalize_data_format(value):
    """ "channels_first" or "channels_last", the default, in lower case. Raises ValueError for others."""
    found = "channels_last" if value is None else value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". Received: ' + str(value)
        )
    return found


@public("python.layers.utils.normalize_padding", "python.keras.utils.conv_utils.normalize_padding")
def normalize_padding(value):
    """ "valid", "same" or "causal", in lower case. Raises ValueError for others; lists are left as they are."""
    if isinstance(value, (list, tuple)):
        return value
    found = value.lower()
    if found not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", only for `Conv1D). '
            "Received: " + str(found)
        )
    return found


@public("python.layers.utils.convert_data_format", "python.keras.utils.conv_utils.convert_data_format")
def convert_data_format(data_format, ndim):
    """ "NHWC" and its kin for "channels_last" and inputs of `ndim` dimensions. Raises ValueError for others."""
    letters = {3: "W", 4: "HW", 5: "DHW"}
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format: " + str(data_format))
    if ndim not in letters:
        raise ValueError("Input rank not supported: " + str(ndim))
    return f"N{letters[ndim]}C" if data_format == "channels_last" else f"NC{letters[ndim]}"


@public("python.layers.utils.conv_output_length", "python.keras.utils.conv_utils.conv_output_length")
def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The length of what a convolution makes of a length; None of None."""
    if input_length is None:
        return None
    window = filter_size + (filter_size - 1) * (dilation - 1)
    lost = {"same": 0, "causal": 0, "valid": window - 1, "full": 1 - window}[padding]
    return (input_length - lost + stride - 1) // stride


@public("python.layers.utils.conv_input_length", "python.keras.utils.conv_utils.conv_input_length")
def conv_input_length(output_length, filter_size, padding, stride):
    """The length that a convolution makes a length of; None of None."""
    if output_length is None:
        return None
    margin = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[padding]
    return (output_length - 1) * stride - 2 * margin + filter_size


@public("python.layers.utils.deconv_output_length")
def deconv_output_length(input_length, filter_size, padding, stride):
    """The length of what a transposed convolution makes of a length; None of None."""
    if input_length is None:
        return None
    return input_length * stride + {"valid": max(filter_size - stride, 0), "full": 2 - stride - filter_size}.get(
        padding, 0
    )
