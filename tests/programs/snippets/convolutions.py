"""Convolutions in one to three dimensions, with gaps, transposed, of channels by themselves; and their gradients."""

import numpy as np


def _numbers(tf, *shape, **options):
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) * 5 % 11 - 5
    return tf.constant(values, name=options.get("name", "numbers"))


def convolutions(tf):
    x, f = _numbers(tf, 2, 5, 6, 3), _numbers(tf, 3, 2, 3, 4, name="filter")
    return [
        tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME"),
        tf.nn.conv2d(x, filters=f, strides=2, padding="VALID", name="named"),
        tf.nn.conv2d(x, f, [2, 1], [[0, 0], [1, 0], [2, 1], [0, 0]]),
        tf.nn.conv2d(x, f, strides=1, padding="SAME", dilations=[1, 2]),
    ]


def gradients_of_conv2d(tf):
    x, f = _numbers(tf, 2, 5, 6, 3), _numbers(tf, 3, 2, 3, 4, name="filter")
    y = tf.nn.conv2d(x, f, [1, 2, 1, 1], "SAME")
    first = tf.gradients(y * y, [x, f])
    return [y] + first + tf.gradients([first[0] * first[0], first[1]], [x, f])


def gradients_of_conv2d_of_unknown_sizes(tf):
    x = tf.placeholder_with_default(_numbers(tf, 2, 5, 6, 3), [None, None, None, 3])
    f = _numbers(tf, 3, 2, 3, 4, name="filter")
    y = tf.nn.conv2d(x, f, [1, 1, 1, 1], "SAME", use_cudnn_on_gpu=False)
    return [y] + tf.gradients(y, [x, f])


def backprops_of_conv2d(tf):
    x, f = _numbers(tf, 2, 5, 6, 3), _numbers(tf, 3, 2, 3, 4, name="filter")
    g = _numbers(tf, 2, 5, 6, 4, name="grad")
    return [
        tf.nn.conv2d_backprop_input([2, 5, 6, 3], f, g, [1, 1, 1, 1], "SAME"),
        tf.nn.conv2d_backprop_filter(x, [3, 2, 3, 4], g, [1, 1, 1, 1], "SAME"),
        tf.nn.conv2d_backprop_input(
            tf.shape(x), f, g, [1, 1, 1, 1], [[0, 0], [1, 1], [0, 1], [0, 0]], name="explicit"
        ),
    ]


def transposes(tf):
    x, f = _numbers(tf, 2, 3, 4, 3), _numbers(tf, 3, 2, 5, 3, name="filter")
    fixed = tf.nn.conv2d_transpose(x, f, [2, 6, 8, 5], [1, 2, 2, 1])
    counted = tf.nn.conv2d_transpose(x, f, tf.stack([tf.shape(x)[0], 7, 8, 5]), 2, padding="VALID", name="named")
    small = tf.nn.conv2d_transpose(x, f, tf.constant([2, 5, 4, 5]), [2, 1])
    cubes, cube_filter = _numbers(tf, 1, 2, 3, 2, 2), _numbers(tf, 2, 1, 2, 3, 2, name="cube_filter")
    deep = tf.nn.conv3d_transpose(cubes, cube_filter, [1, 4, 3, 4, 3], [1, 2, 1, 2, 1])
    rows = tf.nn.conv1d_transpose(x[0], f[0], [3, 8, 5], 2)
    listed = tf.nn.conv_transpose(x, f, [2, 6, 8, 5], 2)
    return [fixed, small, deep, rows, listed, counted] + tf.gradients(fixed * fixed, [x, f])


def in_one_dimension(tf):
    x, f = _numbers(tf, 2, 7, 3), _numbers(tf, 3, 3, 4, name="filter")
    y = tf.nn.conv1d(x, f, 2, "SAME")
    return [y, tf.nn.conv1d(x, f, stride=1, padding="VALID", dilations=2, name="named")] + tf.gradients(y, [x, f])


def in_three_dimensions(tf):
    x, f = _numbers(tf, 1, 3, 4, 5, 2), _numbers(tf, 2, 2, 3, 2, 3, name="filter")
    y = tf.nn.conv3d(x, f, [1, 1, 2, 1, 1], "SAME")
    first = tf.gradients(y * y, [x, f])
    return [y, tf.nn.conv3d(x, f, [1] * 5, "VALID", name="named")] + first + tf.gradients(first[0], f)


def by_number_of_dimensions(tf):
    found = []
    for count in (1, 2, 3):
        x, f = _numbers(tf, 1, *[5, 6, 4][:count] + [2]), _numbers(tf, *[3, 2, 2][:count] + [2, 3])
        found.append(tf.nn.convolution(x, f, "SAME"))
        found.append(tf.nn.convolution(x, f, "VALID", strides=[2, 1, 2][:count], name="named"))
    return found


def with_gaps(tf):
    found = []
    for count in (1, 2, 3):
        x, f = _numbers(tf, 1, *[7, 6, 8][:count] + [2]), _numbers(tf, *[3, 2, 2][:count] + [2, 3])
        rates = [2, 3, 2][:count]
        y = tf.nn.convolution(x, f, "SAME", dilation_rate=rates)
        found += [y, tf.nn.convolution(x, f, padding="VALID", dilation_rate=rates, name="named")]
        found += tf.gradients(y, [x, f])
    return found


def with_gaps_of_unknown_sizes(tf):
    x = tf.placeholder_with_default(_numbers(tf, 1, 7, 8, 2), [None, None, None, 2])
    f = _numbers(tf, 3, 2, 2, 3)
    y = tf.nn.convolution(x, f, "SAME", dilation_rate=[2, 1])
    return [y, tf.nn.atrous_conv2d(x, f, 3, "VALID")] + tf.gradients(y, [x, f])


def atrous(tf):
    x, f = _numbers(tf, 2, 7, 8, 2), _numbers(tf, 3, 2, 2, 3, name="filter")
    g = _numbers(tf, 3, 2, 4, 2, name="transposed")
    return [
        tf.nn.atrous_conv2d(x, f, 2, "SAME"),
        tf.nn.atrous_conv2d(x, f, 1, "VALID", name="named"),
        tf.nn.atrous_conv2d_transpose(x, g, [2, 7, 8, 4], 2, "SAME"),
        tf.nn.atrous_conv2d_transpose(x, g, tf.constant([2, 11, 10, 4]), 2, "VALID", name="transposed_named"),
        tf.nn.atrous_conv2d_transpose(x, g, [2, 7, 8, 4], 1, "SAME"),
    ]


def channels_apart(tf):
    x, f = _numbers(tf, 2, 7, 8, 3), _numbers(tf, 3, 2, 3, 2, name="filter")
    point = _numbers(tf, 1, 1, 6, 4, name="point")
    y = tf.nn.depthwise_conv2d(x, f, [1, 2, 2, 1], "SAME")
    first = tf.gradients(y * y, [x, f])
    z = tf.nn.separable_conv2d(x, f, point, [1, 1, 1, 1], "VALID")
    return (
        [y, z, tf.nn.depthwise_conv2d(x, f, [1, 1, 1, 1], "SAME", rate=[2, 2], name="gaps")]
        + [tf.nn.separable_conv2d(x, f, point, [1, 1, 1, 1], "SAME", rate=[2, 3], name="separable_gaps")]
        + first
        + tf.gradients(first[0], f)
        + tf.gradients(z, [x, f, point])
        + [tf.nn.depthwise_conv2d_native(x, f, [1, 1, 1, 1], "VALID")]
    )


def dealt_out(tf):
    x = _numbers(tf, 2, 4, 6, 2)

    def negative(images, count, padding):
        return -images

    return [
        tf.nn.with_space_to_batch(x, [2, 2], "VALID", negative),
        tf.nn.with_space_to_batch(x, [1, 1], "SAME", negative),
        tf.nn.with_space_to_batch(x, [2], "SAME", negative, filter_shape=[1], spatial_dims=[2]),
    ]


def convolutions_of_arrays(tf):
    x = np.linspace(-1, 1, 90, dtype=np.float32).reshape(1, 5, 6, 3)
    f = np.linspace(-1, 2, 24, dtype=np.float32).reshape(2, 2, 3, 2)
    return [
        tf.nn.convolution(x, f, "SAME", name="plain"),
        tf.nn.atrous_conv2d(x, f, 2, "SAME"),
        tf.nn.convolution(x, f, "VALID", dilation_rate=[2, 1]),
    ]
