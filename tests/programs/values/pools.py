"""Pools of images, their gradients and the gradients of these: sizes, strides, paddings, types, misfits."""

import numpy as np

from programs.values import case

# (images, window, strides, padding)
GRID = [
    ((1, 1, 1, 1), (1, 1), (1, 1), "VALID"),
    ((2, 4, 6, 3), (2, 2), (2, 2), "VALID"),
    ((2, 5, 6, 3), (3, 2), (2, 1), "SAME"),
    ((2, 5, 6, 17), (3, 3), (2, 2), "SAME"),
    ((1, 7, 7, 64), (3, 3), (1, 1), "VALID"),
    ((1, 5, 9, 2), (2, 1), (3, 4), "SAME"),
    ((1, 4, 4, 20), (4, 4), (1, 1), "VALID"),
    ((2, 3, 3, 2), (5, 7), (2, 3), "SAME"),
    ((0, 4, 4, 2), (2, 2), (2, 2), "SAME"),
    ((2, 4, 4, 0), (2, 2), (2, 2), "SAME"),
    ((2, 2, 2, 2), (3, 3), (4, 4), "VALID"),
]
GRID_3D = [
    ((1, 2, 4, 6, 3), (2, 2, 2), (2, 2, 2), "VALID"),
    ((2, 3, 5, 4, 2), (2, 3, 2), (1, 2, 3), "SAME"),
    ((1, 3, 3, 3, 17), (3, 2, 1), (1, 1, 1), "VALID"),
]
REALS = ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16")


def mixed(*shape):
    """Whole numbers in no order, some of them equal."""
    return np.arange(int(np.prod(shape))).reshape(shape) * 37 % 101 % 23 - 9.0


def places(images, windows, strides, padding):
    sizes = []
    for size, window, stride in zip(images[1:-1], windows, strides):
        sizes.append(-(-size // stride) if padding == "SAME" else max((size - window + stride) // stride, 0))
    return (images[0],) + tuple(sizes) + (images[-1],)


def wrapped(sizes):
    return [1] + list(sizes) + [1]


def cases(tf):
    found = {}
    for i, (images, windows, strides, padding) in enumerate(GRID):
        _add(tf, found, str(i), images, windows, strides, padding, "float32")
    for dtype in REALS:
        _add(tf, found, dtype, *GRID[2], dtype=dtype)
    for i, (images, windows, strides, padding) in enumerate(GRID_3D):
        _add_3d(tf, found, str(i), images, windows, strides, padding)
    _add_special(tf, found)
    _add_misfits(tf, found)
    return found


def _add(tf, found, name, images, windows, strides, padding, dtype):
    attrs = {"ksize": wrapped(windows), "strides": wrapped(strides), "padding": padding}
    pooled = (dtype, mixed(*places(images, windows, strides, padding)))
    image = (dtype, mixed(*images))
    found["max_" + name] = case(lambda x: tf.nn.max_pool(x, **attrs), image)
    found["max_grad_" + name] = case(
        lambda x, g: tf.raw_ops.MaxPoolGrad(orig_input=x, orig_output=g, grad=g, data_format="NHWC", **attrs),
        image,
        pooled,
    )
    if 0 not in pooled[1].shape:
        found["max_grad_grad_" + name] = case(
            lambda x, g: tf.raw_ops.MaxPoolGradGrad(
                orig_input=x, orig_output=tf.nn.max_pool(x, **attrs), grad=g, data_format="NHWC", **attrs
            ),
            image,
            (dtype, np.arange(image[1].size).reshape(images) % 120),
        )
    found["argmax_" + name] = case(lambda x: tf.nn.max_pool_with_argmax(x, **attrs)[1], image)
    if dtype.startswith("float"):
        found["avg_" + name] = case(lambda x: tf.nn.avg_pool(x, **attrs), image)
        found["avg_grad_" + name] = case(
            lambda g: tf.raw_ops.AvgPoolGrad(orig_input_shape=list(images), grad=g, data_format="NHWC", **attrs),
            pooled,
        )


def _add_3d(tf, found, name, images, windows, strides, padding):
    attrs = {"ksize": wrapped(windows), "strides": wrapped(strides), "padding": padding}
    pooled = ("float32", mixed(*places(images, windows, strides, padding)))
    image = ("float32", mixed(*images))
    found["max3d_" + name] = case(lambda x: tf.nn.max_pool3d(x, **attrs), image)
    found["avg3d_" + name] = case(lambda x: tf.nn.avg_pool3d(x, **attrs), image)
    found["max3d_grad_" + name] = case(
        lambda x, g: tf.raw_ops.MaxPool3DGrad(
            orig_input=x, orig_output=tf.nn.max_pool3d(x, **attrs), grad=g, data_format="NDHWC", **attrs
        ),
        image,
        pooled,
    )
    found["avg3d_grad_" + name] = case(
        lambda g: tf.raw_ops.AvgPool3DGrad(orig_input_shape=list(images), grad=g, data_format="NDHWC", **attrs),
        pooled,
    )


def _add_special(tf, found):
    nan, inf = np.nan, np.inf
    sizes = [1, 2, 2, 1]
    for i, row in enumerate([[nan, 1, 2, 3], [1, nan, 3, 2], [-inf] * 4, [nan] * 4, [inf, nan, 1, inf]]):
        image = ("float32", np.reshape(row, (1, 2, 2, 1)))
        found["special_{}".format(i)] = case(lambda x: tf.nn.max_pool(x, 2, 2, "VALID"), image)
        found["special_grad_{}".format(i)] = case(
            lambda x: tf.gradients(tf.nn.max_pool(x, 2, 2, "VALID"), x)[0], image
        )
        found["special_argmax_{}".format(i)] = case(
            lambda x: tf.nn.max_pool_with_argmax(x, sizes, sizes, "VALID")[1], image
        )
    found["over_2_channels"] = case(
        lambda x: tf.nn.max_pool(x, [1, 1, 1, 2], [1, 1, 1, 2], "SAME"), ("float32", mixed(2, 3, 4, 6))
    )
    found["over_3_channels"] = case(
        lambda x: tf.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "SAME"), ("float32", mixed(2, 3, 4, 6))
    )
    found["v2"] = case(
        lambda x, k, s: tf.raw_ops.MaxPoolV2(input=x, ksize=k, strides=s, padding="SAME", data_format="NHWC"),
        ("float32", mixed(2, 5, 6, 3)),
        ("int32", np.array([1, 3, 2, 1])),
        ("int32", np.array([1, 2, 1, 1])),
    )
    found["with_batch_in_index"] = case(
        lambda x: tf.nn.max_pool_with_argmax(x, sizes, sizes, "SAME", include_batch_in_index=True)[1],
        ("float32", mixed(2, 5, 6, 3)),
    )


def _add_misfits(tf, found):
    def add(name, function, images, ksize, strides, padding="VALID"):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x: function(x, ksize, strides, padding), ("float32", mixed(*images)), known=known
            )

    for kind, function in (("max", tf.nn.max_pool), ("avg", tf.nn.avg_pool)):
        add(kind + "_rank", function, (2, 3, 4), 2, 2)
        add(kind + "_size", function, (1, 2, 5, 1), 4, 1)
        add(kind + "_stride", function, (1, 4, 4, 1), 2, 0)
        add(kind + "_batch", function, (2, 4, 4, 1), [2, 2, 2, 1], 1)
        add(kind + "_depth", function, (2, 4, 4, 4), [1, 2, 2, 2], [1, 2, 2, 2])
        add(kind + "_only_depth", function, (2, 4, 4, 4), [1, 1, 1, 2], [1, 1, 1, 2])
        add(kind + "_depth_divide", function, (1, 2, 2, 4), [1, 1, 1, 3], [1, 1, 1, 3])
        add(kind + "_depth_equal", function, (1, 2, 2, 4), [1, 1, 1, 2], [1, 1, 1, 1])
        add(kind + "_count", function, (2, 4, 4, 1), [1, 2, 2], 1)
        add(kind + "_padding", function, (2, 4, 4, 1), 2, 1, "EXPLICIT")
    add("max_zero", tf.nn.max_pool, (2, 4, 4, 1), 0, 1)
    for kind, function in (("max3d", tf.nn.max_pool3d), ("avg3d", tf.nn.avg_pool3d)):
        add(kind, function, (1, 2, 2, 2, 2), [1, 2, 2, 2, 2], [1, 1, 1, 1, 1])
        add(kind + "_rank", function, (1, 2, 2, 2), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1])
    for known in (True, False):
        found["bad_max_grad_depth_{}".format(known)] = case(
            lambda x, g: tf.raw_ops.MaxPoolGrad(
                orig_input=x,
                orig_output=g,
                grad=g,
                ksize=[1, 1, 1, 2],
                strides=[1, 1, 1, 2],
                padding="VALID",
                data_format="NHWC",
            ),
            ("float32", mixed(1, 2, 2, 4)),
            ("float32", mixed(1, 2, 2, 2)),
            known=known,
        )
