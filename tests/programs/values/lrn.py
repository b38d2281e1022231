"""Local response normalization and its gradient: radii, channels, types, misfits."""

import numpy as np

from programs.values import case

# (images, radius, bias, alpha, beta)
GRID = [
    ((1, 1, 1, 1), 5, 1.0, 1.0, 0.5),
    ((2, 3, 2, 7), 2, 1.0, 0.5, 0.75),
    ((1, 2, 3, 40), 5, 2.0, 1e-2, 1.0),
    ((2, 2, 2, 96), 4, 1.0, 0.001 / 9.0, 0.75),
    ((1, 2, 2, 5), 0, 1.0, 1.0, 0.5),
    ((1, 2, 2, 3), 100, 0.5, 1.0, 0.25),
    ((0, 2, 2, 3), 1, 1.0, 1.0, 0.5),
]


def _numbers(*shape):
    return np.arange(int(np.prod(shape))).reshape(shape) * 37 % 101 / 20.0 - 2.5


def cases(tf):
    found = {}
    for i, arguments in enumerate(GRID):
        _add(tf, found, str(i), "float32", *arguments)
    _add(tf, found, "float16", "float16", *GRID[1])
    for known in (True, False):
        found["bad_rank_{}".format(known)] = case(
            lambda x: tf.nn.local_response_normalization(x), ("float32", np.ones((2, 3, 4))), known=known
        )
        found["bad_grad_shape_{}".format(known)] = case(
            lambda g, x: tf.raw_ops.LRNGrad(input_grads=g, input_image=x, output_image=x),
            ("float32", np.ones((1, 2, 3, 4))),
            ("float32", np.ones((1, 2, 3, 5))),
            known=known,
        )
    found["bad_radius"] = case(lambda x: tf.nn.lrn(x, depth_radius=2**31), ("float32", np.ones((1, 2, 3, 4))))
    return found


def _add(tf, found, name, dtype, images, radius, bias, alpha, beta):
    attrs = {"depth_radius": radius, "bias": bias, "alpha": alpha, "beta": beta}
    image = (dtype, _numbers(*images))
    found["forward_" + name] = case(lambda x: tf.nn.lrn(x, **attrs), image)
    found["grad_" + name] = case(
        lambda x, g: tf.gradients(tf.nn.lrn(x, **attrs), x, g)[0],
        image,
        (dtype, _numbers(*images)[..., ::-1] + 0.125),
    )
