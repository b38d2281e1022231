"""Images: ONNX wants channels first. Channels are moved there and back; two moves in a row undo each other."""

from __future__ import annotations


def channels_first(call, value, rank, data_format):
    """The image with its channels at axis 1."""
    if data_format.startswith("NC"):
        return value
    return call.add("Transpose", value, perm=[0, rank - 1, *range(1, rank - 1)])


def as_before(call, value, rank, data_format):
    """The image with its channels where the op has them."""
    if data_format.startswith("NC"):
        return value
    return call.add("Transpose", value, perm=[0, *range(2, rank), 1])


def spatial(values, data_format):
    """Of a number for each dimension those of the spatial ones."""
    return [int(value) for value in (values[2:] if data_format.startswith("NC") else values[1:-1])]


def window_pads(call, sizes, window, strides, dilations):
    """ONNX's attributes that pad as TensorFlow does.

    Of SAME the padding follows from sizes, where strides are 1 from the window alone; else ONNX works it out.
    """
    padding = call.attr("padding")
    if padding == "VALID":
        return {}
    if padding == "EXPLICIT":
        pairs = spatial_pairs(call)
        return {"pads": [before for before, _ in pairs] + [behind for _, behind in pairs]}
    totals = []
    for size, width, stride, dilation in zip(sizes, window, strides, dilations, strict=True):
        reach = (width - 1) * dilation + 1
        if stride == 1:
            totals.append(reach - 1)
        elif size is None:
            return {"auto_pad": "SAME_UPPER"}
        else:
            totals.append(max((-(-size // stride) - 1) * stride + reach - size, 0))
    return {"pads": [total // 2 for total in totals] + [total - total // 2 for total in totals]}


def spatial_pairs(call):
    """How much EXPLICIT padding is before and behind each spatial axis; nothing for other paddings."""
    if call.attr("padding") != "EXPLICIT":
        return []
    numbers = [int(number) for number in call.attr("explicit_paddings")]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
    return pairs[2:] if call.attr("data_format").startswith("NC") else pairs[1:-1]
