"""Batch normalization in one op, its gradient and the gradient of that: sizes, versions, types, misfits."""

import numpy as np

from programs.values import case

GRID = [(2, 3, 4, 3), (1, 1, 1, 2), (3, 5, 5, 17), (1, 4, 5, 40), (5, 1, 2, 1)]
VERSIONS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")


def images(*shape):
    random = np.random.RandomState(sum(shape))
    return random.standard_normal(shape) * 3 + random.standard_normal(shape[-1]) * 2


def channels(count, seed):
    return np.random.RandomState(seed).uniform(0.5, 2, count)


def cases(tf):
    found = {}
    for shape in GRID:
        for dtype in ("float32", "float16") if shape == GRID[2] else ("float32",):
            _add(tf, found, "{}_{}".format("x".join(map(str, shape)), dtype), shape, dtype)
    for version in VERSIONS:
        for i in range(5):
            build = _output(getattr(tf.raw_ops, version), i)
            found["{}_{}".format(version, i)] = case(
                build, ("float32", images(2, 3, 3, 4)), ("float32", channels(4, 1))
            )
            found["empty_{}_{}".format(version, i)] = case(
                build, ("float32", images(0, 2, 2, 3)), ("float32", channels(3, 1))
            )
    _add_second_gradients(tf, found)
    _add_misfits(tf, found)
    return found


def _output(operation, i):
    def build(x, scale):
        return operation(
            x=x,
            scale=scale,
            offset=scale,
            mean=[],
            variance=[],
            epsilon=0.01,
            data_format="NHWC",
            is_training=True,
        )[i]

    return build


def _add(tf, found, name, shape, dtype):
    count = shape[-1]
    x, grad = (dtype, images(*shape)), (dtype, images(*shape)[::-1])
    scale, offset = ("float32", channels(count, 1)), ("float32", channels(count, 2))
    mean, variance = ("float32", channels(count, 3)), ("float32", channels(count, 4))

    def training(i):
        return lambda x, s, o: tf.nn.fused_batch_norm(x, s, o)[i]

    def training_gradient(i):
        return lambda x, s, o, g: tf.gradients(tf.nn.fused_batch_norm(x, s, o)[0], [x, s, o], g)[i]

    def inference(x, s, o, m, v):
        return tf.nn.fused_batch_norm(x, s, o, m, v, is_training=False)[0]

    def inference_gradient(i):
        return lambda x, s, o, m, v, g: tf.gradients(inference(x, s, o, m, v), [x, s, o], g)[i]

    for i, output in enumerate(("y", "mean", "variance")):
        found["training_{}_{}".format(output, name)] = case(training(i), x, scale, offset)
    found["inference_" + name] = case(inference, x, scale, offset, mean, variance)
    for i, by in enumerate(("x", "scale", "offset")):
        found["training_by_{}_{}".format(by, name)] = case(training_gradient(i), x, scale, offset, grad)
        found["inference_by_{}_{}".format(by, name)] = case(
            inference_gradient(i), x, scale, offset, mean, variance, grad
        )


def _add_second_gradients(tf, found):
    x, grad = ("float32", images(2, 3, 4, 3)), ("float32", images(2, 3, 4, 3)[::-1])
    scale, mean, variance = (("float32", channels(3, seed)) for seed in (1, 3, 4))

    def second(x, s, g, *given):
        is_training = not given
        y = tf.nn.fused_batch_norm(x, s, s, *given, is_training=is_training)[0]
        first = tf.gradients(y, [x, s], g)
        return tf.gradients([tf.sin(first[0]), tf.sin(first[1])], [x, s, g])

    def part(i):
        return lambda *arguments: second(*arguments)[i]

    for i, by in enumerate(("x", "scale", "grad")):
        found["second_training_by_" + by] = case(part(i), x, scale, grad)
        if i > 0:  # TensorFlow's sum over rows of x is empty here
            found["second_inference_by_" + by] = case(part(i), x, scale, grad, mean, variance)


def _add_misfits(tf, found):
    def norm(name, x, scale, mean, is_training):
        for known in (True, False):
            found["bad_{}_{}".format(name, known)] = case(
                lambda x, s, m: tf.raw_ops.FusedBatchNormV3(
                    x=x,
                    scale=s,
                    offset=s,
                    mean=m,
                    variance=m,
                    epsilon=0.01,
                    data_format="NHWC",
                    is_training=is_training,
                ).y,
                ("float32", np.zeros(x)),
                ("float32", np.ones(scale)),
                ("float32", np.ones(mean)),
                known=known,
            )

    norm("rank", (2, 3, 3), (3,), (0,), True)
    norm("scale_rank", (2, 3, 3, 3), (3, 1), (0,), True)
    norm("mean_of_training", (2, 3, 3, 3), (3,), (3,), True)
    norm("mean_rank", (2, 3, 3, 3), (3,), (3, 1), False)
    found["bad_scale"] = case(
        lambda x, s: tf.nn.fused_batch_norm(x, s, s)[0], ("float32", np.zeros((2, 3, 3, 3))), ("float32", np.ones(4))
    )
    found["bad_both"] = case(
        lambda x, s: tf.nn.fused_batch_norm(x, s, s, s, s)[0],
        ("float32", np.zeros((2, 3, 3, 3))),
        ("float32", np.ones(3)),
    )
