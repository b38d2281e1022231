"""Convolutions of each channel by itself, and their gradients: sizes, strides, paddings, types, misfits."""

import numpy as np

from programs.values import case
from programs.values.conv2d import whole

# (images, filters, stride, padding)
GRID = [
    ((1, 1, 1, 1), (1, 1, 1, 1), 1, "SAME"),
    ((2, 5, 6, 3), (3, 3, 3, 1), 1, "SAME"),
    ((2, 5, 6, 3), (3, 2, 3, 2), 1, "VALID"),
    ((2, 7, 6, 17), (3, 3, 17, 1), 2, "SAME"),
    ((1, 5, 4, 16), (2, 3, 16, 3), 3, "VALID"),
    ((1, 9, 8, 2), (5, 5, 2, 4), 2, "SAME"),
    ((2, 3, 2, 35), (4, 5, 35, 1), 1, "SAME"),
    ((0, 5, 5, 2), (3, 3, 2, 2), 1, "SAME"),
]


def _output_sizes(images, filters, stride, padding):
    sizes = []
    for size, window in zip(images[1:3], filters):
        sizes.append(-(-size // stride) if padding == "SAME" else (size - window) // stride + 1)
    return (images[0], sizes[0], sizes[1], filters[2] * filters[3])


def cases(tf):
    found = {}
    for i, arguments in enumerate(GRID):
        _add(tf, found, str(i), "float32", *arguments)
    for dtype in ("float16", "float64"):
        _add(tf, found, dtype, dtype, *GRID[2])
    for padding in ("SAME", "VALID"):
        _add_gaps(tf, found, padding)
    _add_misfits(tf, found)
    return found


def _add(tf, found, name, dtype, images, filters, stride, padding):
    grads = _output_sizes(images, filters, stride, padding)
    strides = [1, stride, stride, 1]
    found["forward_" + name] = case(
        lambda x, f: tf.nn.depthwise_conv2d(x, f, strides, padding),
        (dtype, whole(*images)),
        (dtype, whole(*filters)),
    )
    found["input_" + name] = case(
        lambda f, g: tf.nn.depthwise_conv2d_native_backprop_input(images, f, g, strides, padding),
        (dtype, whole(*filters)),
        (dtype, whole(*grads)),
    )
    if images[0] == 0:
        return  # TensorFlow's gradient of the filter is what was in memory before
    found["filter_" + name] = case(
        lambda x, g: tf.nn.depthwise_conv2d_native_backprop_filter(x, filters, g, strides, padding),
        (dtype, whole(*images)),
        (dtype, whole(*grads)),
    )


def _add_gaps(tf, found, padding):
    found["gaps_" + padding] = case(
        lambda x, f: tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], padding, rate=[2, 3]),
        ("float32", whole(2, 9, 8, 3)),
        ("float32", whole(3, 2, 3, 2)),
    )
    found["separable_" + padding] = case(
        lambda x, f, p: tf.nn.separable_conv2d(x, f, p, [1, 1, 1, 1], padding, rate=[2, 2]),
        ("float32", whole(2, 9, 8, 3)),
        ("float32", whole(3, 3, 3, 2)),
        ("float32", whole(1, 1, 6, 5)),
    )


def _add_misfits(tf, found):
    def conv(name, images, filters, strides=(1, 1, 1, 1), padding="SAME", **options):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x, f: tf.nn.depthwise_conv2d_native(x, f, strides, padding, **options),
                ("float32", whole(*images)),
                ("float32", whole(*filters)),
                known=known,
            )

    conv("rank", (2, 3, 4), (1, 1, 4, 2))
    conv("filter_rank", (2, 3, 4, 2), (1, 4, 2))
    conv("depth", (1, 4, 4, 3), (2, 2, 2, 4))
    conv("size", (1, 2, 2, 3), (4, 3, 3, 1), padding="VALID")
    conv("stride", (1, 4, 4, 3), (2, 2, 3, 4), (1, 0, 0, 1))
    conv("unequal_strides", (1, 4, 4, 3), (2, 2, 3, 4), (1, 1, 2, 1))
    conv("depth_stride", (1, 4, 4, 3), (2, 2, 3, 4), (1, 1, 1, 2))
    conv("strides", (1, 4, 4, 3), (2, 2, 3, 4), (1, 2, 3))

    def backprop(name, images, filters, grads):
        for known in (True, False):
            found["bad_input_{}_{}".format(name, known)] = case(
                lambda s, f, g: tf.nn.depthwise_conv2d_native_backprop_input(s, f, g, [1, 1, 1, 1], "SAME"),
                ("int32", np.array(images)),
                ("float32", whole(*filters)),
                ("float32", whole(*grads)),
                known=known,
            )
            found["bad_filter_{}_{}".format(name, known)] = case(
                lambda x, s, g: tf.nn.depthwise_conv2d_native_backprop_filter(x, s, g, [1, 1, 1, 1], "SAME"),
                ("float32", whole(*images)),
                ("int32", np.array(filters)),
                ("float32", whole(*grads)),
                known=known,
            )

    backprop("size", (1, 4, 4, 3), (2, 2, 3, 2), (1, 4, 3, 6))
    backprop("batch", (1, 4, 4, 3), (2, 2, 3, 2), (2, 4, 4, 6))
    backprop("out_depth", (1, 4, 4, 3), (2, 2, 3, 2), (1, 4, 4, 5))
    backprop("depth", (1, 4, 4, 3), (2, 2, 2, 2), (1, 4, 4, 4))
    backprop("rank", (4, 4, 3), (2, 2, 3, 2), (1, 4, 4, 6))
    backprop("grad_rank", (1, 4, 4, 3), (2, 2, 3, 2), (4, 4, 6))
