"""Morphological dilation and erosion, and the gradients: strides, rates, paddings, types, misfits."""

import numpy as np

from programs.values import case

# (images, filters, stride, rate, padding)
GRID = [
    ((1, 1, 1, 1), (1, 1, 1), 1, 1, "SAME"),
    ((2, 5, 6, 3), (3, 2, 3), 1, 1, "VALID"),
    ((2, 5, 6, 3), (3, 3, 3), 2, 1, "SAME"),
    ((1, 7, 9, 35), (2, 3, 35), 1, 2, "SAME"),
    ((1, 3, 3, 2), (2, 2, 2), 1, 4, "SAME"),
    ((0, 5, 6, 3), (3, 2, 3), 1, 1, "VALID"),
]
TYPES = ("float16", "float64", "int8", "uint8", "int16", "uint16", "int32", "int64")


def _mixed(*shape):
    return np.arange(int(np.prod(shape))).reshape(shape) * 37 % 101 % 23


def _sizes(images, filters, stride, rate, padding):
    sizes = []
    for size, window in zip(images[1:3], filters):
        extent = (window - 1) * rate + 1
        sizes.append(-(-size // stride) if padding == "SAME" else (size - extent) // stride + 1)
    return (images[0],) + tuple(sizes) + (images[3],)


def cases(tf):
    found = {}
    for i, arguments in enumerate(GRID):
        _add(tf, found, str(i), "float32", *arguments)
    for dtype in TYPES:
        _add(tf, found, dtype, dtype, *GRID[2])
    _add_misfits(tf, found)
    return found


def _add(tf, found, name, dtype, images, filters, stride, rate, padding):
    sizes = {"strides": [1, stride, stride, 1], "rates": [1, rate, rate, 1], "padding": padding}
    operands = (dtype, _mixed(*images)), (dtype, _mixed(*filters) % 7)
    grads = (dtype, _mixed(*_sizes(images, filters, stride, rate, padding)))
    found["forward_" + name] = case(lambda x, f: tf.nn.dilation2d(x, f, **sizes), *operands)
    if not dtype.startswith("u"):
        found["erosion_" + name] = case(lambda x, f: tf.nn.erosion2d(x, f, **sizes), *operands)
    if images[0] == 0:
        return
    found["input_" + name] = case(
        lambda x, f, g: tf.raw_ops.Dilation2DBackpropInput(input=x, filter=f, out_backprop=g, **sizes),
        *(operands + (grads,)),
    )
    found["filter_" + name] = case(
        lambda x, f, g: tf.raw_ops.Dilation2DBackpropFilter(input=x, filter=f, out_backprop=g, **sizes),
        *(operands + (grads,)),
    )


def _add_misfits(tf, found):
    def add(name, images, filters, strides=(1, 1, 1, 1), rates=(1, 1, 1, 1), padding="SAME"):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x, f: tf.nn.dilation2d(x, f, strides, rates, padding),
                ("float32", _mixed(*images)),
                ("float32", _mixed(*filters)),
                known=known,
            )

    add("rank", (5, 6, 3), (3, 2, 3))
    add("filter_rank", (1, 5, 6, 3), (3, 2, 3, 1))
    add("depth", (1, 5, 6, 3), (3, 2, 4))
    add("size", (1, 2, 2, 3), (3, 2, 3), padding="VALID")
    add("stride", (1, 5, 6, 3), (3, 2, 3), strides=(1, 0, 1, 1))
    add("batch_stride", (1, 5, 6, 3), (3, 2, 3), strides=(2, 1, 1, 1))
    add("depth_rate", (1, 5, 6, 3), (3, 2, 3), rates=(1, 1, 1, 2))
    add("strides", (1, 5, 6, 3), (3, 2, 3), strides=(1, 1, 1, 1, 1))
    add("rates", (1, 5, 6, 3), (3, 2, 3), rates=(1, 1, 1, 1, 1))
    found["bad_grad"] = case(
        lambda x, f, g: tf.raw_ops.Dilation2DBackpropInput(
            input=x, filter=f, out_backprop=g, strides=[1] * 4, rates=[1] * 4, padding="SAME"
        ),
        ("float32", _mixed(1, 4, 4, 2)),
        ("float32", _mixed(2, 2, 2)),
        ("float32", _mixed(1, 4, 3, 2)),
    )
