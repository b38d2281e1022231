"""Convolutions of images and their gradients: sizes, strides, dilations, paddings, types, misfits."""

import numpy as np

from programs.values import case

# (images, filters, strides, dilations, padding)
GRID = [
    ((1, 1, 1, 1), (1, 1, 1, 1), 1, 1, "SAME"),
    ((2, 5, 6, 3), (1, 1, 3, 4), 1, 1, "VALID"),
    ((2, 5, 6, 3), (1, 1, 3, 4), 2, 1, "SAME"),
    ((2, 5, 6, 3), (3, 3, 3, 5), 1, 1, "SAME"),
    ((2, 5, 6, 3), (3, 3, 3, 5), 1, 1, "VALID"),
    ((2, 5, 6, 3), (3, 2, 3, 5), (2, 1), 1, "SAME"),
    ((1, 7, 9, 2), (2, 4, 2, 3), (2, 3), 1, "VALID"),
    ((1, 7, 9, 2), (2, 4, 2, 3), (3, 2), 1, "SAME"),
    ((1, 11, 9, 2), (3, 3, 2, 3), 1, (2, 3), "SAME"),
    ((1, 11, 9, 2), (3, 3, 2, 3), 1, 2, "VALID"),
    ((1, 11, 9, 2), (3, 3, 2, 3), 2, 2, "SAME"),
    ((2, 4, 4, 17), (4, 4, 17, 18), 1, 1, "VALID"),
    ((2, 4, 5, 1), (3, 3, 1, 1), 1, 1, "SAME"),
    ((3, 2, 2, 33), (5, 5, 33, 2), 1, 1, "SAME"),
    ((1, 9, 20, 16), (1, 5, 16, 34), (1, 2), 1, "SAME"),
    ((0, 5, 5, 2), (3, 3, 2, 4), 1, 1, "SAME"),
    ((2, 0, 5, 2), (3, 3, 2, 4), 1, 1, "SAME"),
    ((2, 5, 5, 2), (3, 3, 2, 0), 1, 1, "SAME"),
    ((2, 3, 4, 2), (3, 3, 2, 3), 4, 1, "SAME"),
    ((2, 8, 8, 2), (1, 2, 2, 3), 3, 1, "VALID"),
]
PADDINGS = [[[0, 0], [1, 2], [0, 3], [0, 0]], [[0, 0], [2, 0], [1, 1], [0, 0]], [[0, 0]] * 4]


def whole(*shape):
    """Small whole numbers, whose sums are exact in every type and order."""
    return np.arange(int(np.prod(shape))).reshape(shape) * 5 % 7 - 3.0


def _output_sizes(images, filters, strides, dilations, padding):
    sizes = []
    for i, (size, window) in enumerate(zip(images[1:3], filters)):
        stride, dilation = (x if isinstance(x, int) else x[i] for x in (strides, dilations))
        extent = (window - 1) * dilation + 1
        if isinstance(padding, list):
            sizes.append((size + sum(padding[i + 1]) - extent) // stride + 1)
        else:
            sizes.append(-(-size // stride) if padding == "SAME" else (size - extent) // stride + 1)
    return (images[0], sizes[0], sizes[1], filters[3])


def cases(tf):
    found = {}

    def add(name, images, filters, strides, dilations, padding, dtype="float32"):
        grads = _output_sizes(images, filters, strides, dilations, padding)
        pair = [1, strides, strides, 1] if isinstance(strides, int) else [1, strides[0], strides[1], 1]
        found["forward_" + name] = case(
            lambda x, f: tf.nn.conv2d(x, f, strides, padding, dilations=dilations),
            (dtype, whole(*images)),
            (dtype, whole(*filters)),
        )
        if dilations != 1 or 0 in filters:
            return  # TensorFlow's CPU has no gradients of these
        found["input_" + name] = case(
            lambda f, g: tf.nn.conv2d_backprop_input(images, f, g, pair, padding),
            (dtype, whole(*filters)),
            (dtype, whole(*grads)),
        )
        found["filter_" + name] = case(
            lambda x, g: tf.nn.conv2d_backprop_filter(x, filters, g, pair, padding),
            (dtype, whole(*images)),
            (dtype, whole(*grads)),
        )

    for i, arguments in enumerate(GRID):
        add(str(i), *arguments)
    for i, padding in enumerate(PADDINGS):
        add("explicit_{}".format(i), (2, 5, 6, 3), (3, 2, 3, 4), (1, 2), 1, padding)
    for dtype in ("float16", "float64", "bfloat16"):
        add(dtype, *GRID[3], dtype=dtype)
        add("strided_" + dtype, *GRID[5], dtype=dtype)
    _add_misfits(tf, found)
    return found


def _add_misfits(tf, found):
    def conv(name, images, filters, strides=1, padding="SAME", **options):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x, f: tf.nn.conv2d(x, f, strides, padding, **options),
                ("float32", whole(*images)),
                ("float32", whole(*filters)),
                known=known,
            )

    conv("rank", (2, 3, 4), (1, 1, 4, 2))
    conv("filter_rank", (2, 3, 4, 2), (1, 4, 2))
    conv("depth", (1, 4, 4, 3), (2, 2, 2, 4))
    conv("size", (1, 2, 2, 3), (4, 3, 3, 4), padding="VALID")
    conv("dilated_size", (1, 4, 4, 3), (3, 3, 3, 4), padding="VALID", dilations=2)
    conv("stride", (1, 4, 4, 3), (2, 2, 3, 4), strides=0)
    conv("depth_stride", (1, 4, 4, 3), (2, 2, 3, 4), strides=[1, 1, 1, 2])
    conv("batch_stride", (1, 4, 4, 3), (2, 2, 3, 4), strides=[2, 1, 1, 1])
    conv("dilation", (1, 4, 4, 3), (2, 2, 3, 4), dilations=0)
    conv("depth_dilation", (1, 4, 4, 3), (2, 2, 3, 4), dilations=[1, 1, 1, 2])
    conv("strides", (1, 4, 4, 3), (2, 2, 3, 4), strides=[1, 2, 3])
    conv("padding", (1, 4, 4, 3), (2, 2, 3, 4), padding="HALF")
    conv("explicit_name", (1, 4, 4, 3), (2, 2, 3, 4), padding="EXPLICIT")
    conv("explicit_count", (1, 4, 4, 3), (2, 2, 3, 4), padding=[[0, 0], [1, 1], [1, 1]])
    conv("explicit_pair", (1, 4, 4, 3), (2, 2, 3, 4), padding=[[0, 0], [1, 1], [1], [0, 0]])
    conv("explicit_scalar", (1, 4, 4, 3), (2, 2, 3, 4), padding=[[0, 0], 1, [1, 1], [0, 0]])
    conv("explicit_depth", (1, 4, 4, 3), (2, 2, 3, 4), padding=[[0, 0], [1, 1], [1, 1], [1, 0]])
    conv("explicit_negative", (1, 4, 4, 3), (2, 2, 3, 4), padding=[[0, 0], [-1, 1], [1, 1], [0, 0]])

    def backprop(name, images, filters, grads, strides=(1, 1, 1, 1), padding="SAME"):
        for known in (True, False):
            found["bad_input_{}_{}".format(name, known)] = case(
                lambda s, f, g: tf.nn.conv2d_backprop_input(s, f, g, strides, padding),
                ("int32", np.array(images)),
                ("float32", whole(*filters)),
                ("float32", whole(*grads)),
                known=known,
            )
            found["bad_filter_{}_{}".format(name, known)] = case(
                lambda x, s, g: tf.nn.conv2d_backprop_filter(x, s, g, strides, padding),
                ("float32", whole(*images)),
                ("int32", np.array(filters)),
                ("float32", whole(*grads)),
                known=known,
            )

    backprop("size", (1, 4, 4, 3), (2, 2, 3, 4), (1, 4, 3, 4))
    backprop("batch", (1, 4, 4, 3), (2, 2, 3, 4), (2, 4, 4, 4))
    backprop("out_depth", (1, 4, 4, 3), (2, 2, 3, 4), (1, 4, 4, 5))
    backprop("depth", (1, 4, 4, 3), (2, 2, 2, 4), (1, 4, 4, 4))
    backprop("stride", (1, 4, 4, 3), (2, 2, 3, 4), (1, 4, 4, 4), strides=(1, 1, 1, 2))
    backprop("rank", (4, 4, 3), (2, 2, 3, 4), (1, 4, 4, 4))
    backprop("grad_rank", (1, 4, 4, 3), (2, 2, 3, 4), (4, 4, 4))
