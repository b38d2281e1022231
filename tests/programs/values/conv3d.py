"""Convolutions in three dimensions and their gradients: sizes, strides, paddings, types, misfits."""

import numpy as np

from programs.values import case
from programs.values.conv2d import whole

# (images, filters, strides, padding)
GRID = [
    ((1, 1, 1, 1, 1), (1, 1, 1, 1, 1), (1, 1, 1), "SAME"),
    ((2, 3, 4, 5, 2), (2, 3, 2, 2, 3), (1, 1, 1), "SAME"),
    ((1, 3, 4, 5, 3), (2, 2, 3, 3, 4), (1, 2, 1), "VALID"),
    ((1, 4, 5, 6, 2), (3, 2, 2, 2, 17), (2, 1, 3), "SAME"),
    ((2, 2, 2, 3, 16), (1, 1, 1, 16, 2), (1, 1, 1), "VALID"),
    ((0, 3, 4, 5, 2), (2, 3, 2, 2, 3), (1, 1, 1), "SAME"),
]


def _output_sizes(images, filters, strides, padding):
    sizes = []
    for size, window, stride in zip(images[1:4], filters, strides):
        sizes.append(-(-size // stride) if padding == "SAME" else (size - window) // stride + 1)
    return (images[0],) + tuple(sizes) + (filters[4],)


def cases(tf):
    found = {}
    for i, arguments in enumerate(GRID):
        _add(tf, found, str(i), "float32", *arguments)
    for dtype in ("float16", "float64"):
        _add(tf, found, dtype, dtype, *GRID[2])
    _add_misfits(tf, found)
    return found


def _add(tf, found, name, dtype, images, filters, strides, padding):
    grads = _output_sizes(images, filters, strides, padding)
    strides = [1] + list(strides) + [1]
    found["forward_" + name] = case(
        lambda x, f: tf.nn.conv3d(x, f, strides, padding), (dtype, whole(*images)), (dtype, whole(*filters))
    )
    found["input_" + name] = case(
        lambda f, g: tf.nn.conv3d_transpose(g, f, images, strides, padding),
        (dtype, whole(*filters)),
        (dtype, whole(*grads)),
    )
    found["filter_" + name] = case(
        lambda x, g: tf.nn.conv3d_backprop_filter(x, filters, g, strides, padding),
        (dtype, whole(*images)),
        (dtype, whole(*grads)),
    )


def _add_misfits(tf, found):
    def conv(name, images, filters, strides=(1, 1, 1, 1, 1), padding="SAME"):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x, f: tf.nn.conv3d(x, f, strides, padding),
                ("float32", whole(*images)),
                ("float32", whole(*filters)),
                known=known,
            )

    conv("rank", (2, 3, 4, 2), (1, 1, 1, 2, 2))
    conv("filter_rank", (2, 3, 4, 4, 2), (1, 1, 2, 2))
    conv("depth", (1, 4, 4, 4, 3), (2, 2, 2, 2, 4))
    conv("size", (1, 2, 2, 2, 3), (4, 3, 3, 3, 1), padding="VALID")
    conv("stride", (1, 4, 4, 4, 3), (2, 2, 2, 3, 4), (1, 0, 1, 1, 1))
    conv("depth_stride", (1, 4, 4, 4, 3), (2, 2, 2, 3, 4), (1, 1, 1, 1, 2))
    conv("strides", (1, 4, 4, 4, 3), (2, 2, 2, 3, 4), (1, 2, 3, 1))
    for name, images, filters, grads in (
        ("size", (1, 4, 4, 4, 3), (2, 2, 2, 3, 2), (1, 4, 3, 4, 2)),
        ("batch", (1, 4, 4, 4, 3), (2, 2, 2, 3, 2), (2, 4, 4, 4, 2)),
        ("out_depth", (1, 4, 4, 4, 3), (2, 2, 2, 3, 2), (1, 4, 4, 4, 3)),
    ):
        for known in (True, False):
            found["bad_input_{}_{}".format(name, known)] = case(
                lambda s, f, g: tf.nn.conv3d_transpose(g, f, s, 1),
                ("int32", np.array(images)),
                ("float32", whole(*filters)),
                ("float32", whole(*grads)),
                known=known,
            )
            found["bad_filter_{}_{}".format(name, known)] = case(
                lambda x, s, g: tf.nn.conv3d_backprop_filter(x, s, g, [1] * 5, "SAME"),
                ("float32", whole(*images)),
                ("int32", np.array(filters)),
                ("float32", whole(*grads)),
                known=known,
            )
