"""Gradients of convolutions, pools and normalizations compute in onnxruntime what they compute here."""

import pytest
from onnx_export.running import check

import stillflow as tf

IMAGES = ([2, 9, 8, 6], tf.float32)


def weighted(y):
    """A scalar of which each element of y has another gradient."""
    numbers = tf.cast(tf.range(tf.size(y)), tf.float32)
    return tf.reduce_sum(y * tf.reshape(tf.sin(numbers), tf.shape(y)))


def both_gradients(y, x):
    """The gradient by x, and the gradient of that by the gradient of y."""
    beginning = tf.cos(y)
    (gradient,) = tf.gradients(y, x, beginning)
    return [gradient, *tf.gradients(weighted(gradient), beginning)]


@pytest.mark.parametrize("dims", [[2, 9, 8, 6], [None, 9, 8, 6]])
@pytest.mark.parametrize(
    ("strides", "dilations", "padding"),
    [
        (1, 1, "SAME"),
        (2, 1, "SAME"),
        (2, 1, "VALID"),
        (1, 2, "SAME"),
        (1, 2, "VALID"),
        (2, 1, [[0, 0], [1, 2], [0, 1], [0, 0]]),
    ],
)
@pytest.mark.parametrize("depth", [6, 3])  # one group of channels, and two
def test_convolution(tmp_path, strides, dilations, padding, dims, depth):
    def build(x, w):
        y = tf.nn.conv2d(x, w, strides, padding, dilations=dilations)
        return tf.gradients(weighted(y), [x, w])

    check(tmp_path, build, (dims, tf.float32), ([3, 2, depth, 4], tf.float32), atol=1e-4)


def test_convolution_of_channels_first_and_second_gradients(tmp_path):
    def build(x, w):
        y = tf.nn.conv2d(x, w, 2, "SAME", data_format="NCHW")
        first = tf.gradients(weighted(y), [x, w])
        return [*first, *tf.gradients(weighted(tf.square(first[0])), [w]), *tf.gradients(weighted(first[1]), [x])]

    check(tmp_path, build, ([2, 3, 7, 8], tf.float32), ([3, 3, 3, 4], tf.float32), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("strides", "padding"), [(1, "SAME"), (2, "VALID")])
def test_depthwise_convolution(tmp_path, strides, padding):
    def build(x, w):
        y = tf.nn.depthwise_conv2d(x, w, [1, strides, strides, 1], padding)
        return tf.gradients(weighted(y), [x, w])

    check(tmp_path, build, IMAGES, ([3, 2, 6, 2], tf.float32), atol=1e-4)


@pytest.mark.parametrize(("strides", "padding"), [(1, "VALID"), (2, "SAME")])
def test_convolution_of_volumes(tmp_path, strides, padding):
    def build(x, w):
        y = tf.nn.conv3d(x, w, [1, strides, strides, strides, 1], padding)
        return tf.gradients(weighted(y), [x, w])

    check(tmp_path, build, ([2, 5, 6, 4, 3], tf.float32), ([2, 3, 2, 3, 4], tf.float32), atol=1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [1, 2])
def test_pools(tmp_path, padding, strides):
    def build(x):
        made = []
        for pool in (tf.nn.max_pool, tf.nn.avg_pool):
            made += both_gradients(pool(tf.nn.relu(x), 3, strides, padding), x)
        return made

    check(tmp_path, build, ([None, 9, 8, 6], tf.float32), atol=1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pools_of_volumes(tmp_path, padding):
    def build(x):
        made = []
        for pool in (tf.nn.max_pool3d, tf.nn.avg_pool3d):
            made += both_gradients(pool(x, 3, 2, padding), x)
        return made

    check(tmp_path, build, ([2, 5, 6, 7, 3], tf.float32), atol=1e-4)


def test_pools_of_channels_first_and_over_channels(tmp_path):
    def build(x):
        turned = tf.transpose(x, [0, 3, 1, 2])
        made = [tf.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "SAME")]
        for pool in (tf.nn.max_pool, tf.nn.avg_pool):
            made += tf.gradients(weighted(pool(turned, 2, 2, "VALID", data_format="NCHW")), turned)
        return made

    check(tmp_path, build, IMAGES)


@pytest.mark.parametrize("in_batch", [False, True])
def test_max_pool_with_argmax(tmp_path, in_batch):
    def build(x):
        y = tf.nn.max_pool_with_argmax(x, [1, 2, 3, 1], [1, 2, 2, 1], "SAME", include_batch_in_index=in_batch)[0]
        (gradient,) = tf.gradients(weighted(y), x)
        places = gradient.op.inputs[2]
        options = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
        options["include_batch_in_index"] = in_batch
        taken = tf.raw_ops.MaxPoolGradGradWithArgmax(input=x, grad=tf.sin(x), argmax=places, **options)
        return [gradient, taken]

    check(tmp_path, build, IMAGES)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("pseudo_random", [False, True])
def test_fractional_pools(tmp_path, overlapping, pseudo_random):
    options = {"overlapping": overlapping, "pseudo_random": pseudo_random, "deterministic": True, "seed": 3}

    def build(x):
        made = []
        for pool in (tf.nn.fractional_max_pool, tf.nn.fractional_avg_pool):
            pooled, rows, columns = pool(x, [1.0, 1.4, 1.7, 1.0], seed2=4, **options)
            made += [pooled, rows, columns, *tf.gradients(weighted(pooled), x)]
        return made

    check(tmp_path, build, IMAGES)


@pytest.mark.parametrize(("strides", "rates", "padding"), [(1, 1, "SAME"), (2, 1, "VALID"), (1, 2, "SAME")])
def test_dilation(tmp_path, strides, rates, padding):
    def build(x, w):
        y = tf.nn.dilation2d(x, w, [1, strides, strides, 1], [1, rates, rates, 1], padding)
        return tf.gradients(weighted(y), [x, w])

    check(tmp_path, build, IMAGES, ([3, 2, 6], tf.float32))


@pytest.mark.parametrize("is_training", [False, True])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_batch_normalization(tmp_path, is_training, data_format):
    def build(x, scale, offset, mean, variance):
        x = tf.transpose(x, [0, 3, 1, 2]) if data_format == "NCHW" else x
        moments = {} if is_training else {"mean": mean, "variance": tf.square(variance) + 0.5}
        y = tf.nn.fused_batch_norm(x, scale, offset, is_training=is_training, data_format=data_format, **moments)[0]
        return tf.gradients(weighted(y), [x, scale, offset])

    check(tmp_path, build, IMAGES, *[([6], tf.float32)] * 4, atol=1e-4)


def test_other_normalizations(tmp_path):
    def build(x, mean, variance, beta, gamma):
        variance = tf.square(variance) + 0.5
        y = tf.nn.batch_norm_with_global_normalization(x, mean, variance, beta, gamma, 1e-3, True)
        unscaled = tf.nn.batch_norm_with_global_normalization(x, mean, variance, beta, gamma, 1e-3, False)
        made = tf.gradients(weighted(y) + weighted(unscaled), [x, mean, variance, beta, gamma])
        return made + tf.gradients(weighted(tf.nn.lrn(x, 2, 1.5, 0.3, 0.75)), x)

    check(tmp_path, build, IMAGES, *[([6], tf.float32)] * 4, atol=1e-3, rtol=1e-4)


def test_a_whole_net(tmp_path):
    """Of a batch of any size: the gradients by its image, as of saliency, and by all that it is trained by."""

    def build(x, labels):
        y = tf.layers.conv2d(x, 8, 3, activation=tf.nn.relu, padding="same")
        y = tf.layers.batch_normalization(tf.layers.max_pooling2d(y, 2, 2), training=True)
        y = tf.layers.conv2d(y, 4, 3, strides=2, activation=tf.nn.elu)
        y = tf.layers.dense(tf.layers.flatten(y), 5)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=y))
        loss += 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()])
        return [loss, *tf.gradients(loss, [x, *tf.trainable_variables()])]

    check(tmp_path, build, ([None, 12, 12, 3], tf.float32), ([None], tf.int32), atol=1e-4, rtol=1e-3)


def test_parts_of_arrays(tmp_path):
    """Slices, concatenations, mirrored edges, and images of another size."""

    def build(x):
        parts = [x[:, 1:7:2, ::-1], x[..., 2:4], x[0], x[:, tf.newaxis, -1], tf.concat([x, x * 2], 1)]
        parts += [tf.pad(x, [[0, 0], [1, 2], [2, 1], [0, 0]], mode) for mode in ("REFLECT", "SYMMETRIC")]
        return [tf.gradients(weighted(tf.square(part)), x)[0] for part in parts]

    check(tmp_path, build, IMAGES)


@pytest.mark.parametrize("align_corners", [False, True])
def test_resizing(tmp_path, align_corners):
    def build(x):
        resized = [
            resize(x, size, align_corners)
            for resize in (tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic)
            for size in ([13, 17], [5, 4])
        ]
        return [tf.gradients(weighted(y), x)[0] for y in resized]

    check(tmp_path, build, ([None, 9, 8, 6], tf.float32), atol=1e-4)


@pytest.mark.parametrize("use_peephole", [False, True])
def test_cells_of_one_op(tmp_path, use_peephole):
    def build(x):
        made = []
        gru = tf.contrib.rnn.GRUBlockCellV2(4)
        for cell in (tf.contrib.rnn.LSTMBlockCell(4, use_peephole=use_peephole, cell_clip=0.3), gru):
            outputs, _ = tf.nn.static_rnn(cell, tf.unstack(x), dtype=tf.float32)
            made += tf.gradients(weighted(tf.stack(outputs)), [x, *cell.trainable_variables])
        return made

    check(tmp_path, build, ([4, 3, 5], tf.float32), atol=1e-4)


@pytest.mark.parametrize("use_peephole", [False, True])
@pytest.mark.parametrize("length", [4, 3])
@pytest.mark.parametrize("op", ["BlockLSTM", "BlockLSTMV2"])
def test_lstm_layers_of_one_op(tmp_path, use_peephole, length, op):
    def build(x, cs, h, w, wci, wcf, wco, b):
        weights = {"w": w, "wci": wci, "wcf": wcf, "wco": wco, "b": b}
        found = getattr(tf.raw_ops, op)(
            seq_len_max=tf.constant(length, tf.int64), x=x, cs_prev=cs, h_prev=h, use_peephole=use_peephole,
            cell_clip=0.7, **weights,
        )  # fmt: skip
        # The gradient is that of h alone, as TensorFlow's layers have it.
        return [*found, *tf.gradients(weighted(found.h), [x, cs, h, *weights.values()])]

    dims = ([4, 3, 2], [3, 5], [3, 5], [7, 20], [5], [5], [5], [20])
    check(tmp_path, build, *((each, tf.float32) for each in dims), atol=1e-4, rtol=1e-4)
