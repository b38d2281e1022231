"""What `stillflow convert` writes as ONNX computes in onnxruntime what the graph computes here."""

import numpy as np
import pytest
from onnx_export.running import IMAGES, check, run

import stillflow as tf
from stillflow.command_line import main

FLOATS = ([None, 4], tf.float32)


def test_elementwise(tmp_path):
    names = (
        "abs ceil cos cosh erf exp floor negative sigmoid sign sin sinh square tan tanh nn.relu nn.elu nn.selu "
        "nn.softplus nn.softsign nn.relu6 rint expm1 atan asinh erfc is_nan zeros_like ones_like nn.softmax "
        "nn.log_softmax nn.leaky_relu stop_gradient identity nn.l2_loss"
    )

    def build(x):
        positive = tf.abs(x) + 0.5
        made = []
        for name in names.split():
            function = tf
            for part in name.split("."):
                function = getattr(function, part)
            made.append(function(x))
        made += [f(positive) for f in (tf.sqrt, tf.rsqrt, tf.log, tf.log1p, tf.reciprocal, tf.acosh)[:5]]
        return [*made, tf.clip_by_value(x, -0.5, 0.5), tf.round(x * 3)]

    check(tmp_path, build, FLOATS)


def test_pairs(tmp_path):
    def build(x, y, i, j):
        names = (
            "add subtract multiply divide maximum minimum squared_difference equal not_equal less less_equal greater "
            "greater_equal div_no_nan floordiv floormod"
        )
        made = [getattr(tf, name)(x, y) for name in names.split()]
        j = j + 1
        made += [f(i - 2, j) for f in (tf.floordiv, tf.floormod, tf.truncatediv, tf.add, tf.truncatemod)]
        made += [tf.logical_and(x > 0, y > 0), tf.logical_or(x > 0, y > 0), tf.logical_xor(x > 0, y > 0), ~(x > 0)]
        made += [tf.where(x > 0, x, y), tf.where(x[:, 0] > 0, x, y), tf.add_n([x, y, x]), tf.pow(tf.abs(x), y)]
        return [*made, tf.cast(i, tf.float32), tf.cast(x, tf.int32), tf.cast(x > 0, tf.int64)]

    check(tmp_path, build, FLOATS, FLOATS, ([None, 4], tf.int32), ([None, 4], tf.int32))


def test_products_and_reductions(tmp_path):
    def build(x, y):
        made = [tf.matmul(x, x, transpose_b=True), tf.matmul(x, x, transpose_a=True), tf.matmul(y, y, adjoint_b=True)]
        for name in "sum mean max min prod".split():
            reduce = getattr(tf, f"reduce_{name}")
            made += [reduce(x), reduce(y, 1), reduce(y, [0, -1], keepdims=True)]
        made += [
            tf.reduce_all(x > -1, 1),
            tf.reduce_any(x > 1),
            tf.argmax(y, 1),
            tf.argmin(y, 2, output_type=tf.int32),
        ]
        made += [*tf.nn.top_k(y, 2), tf.cumsum(y, 1), tf.cumsum(y, 2, exclusive=True, reverse=True)]
        return [*made, tf.nn.l2_normalize(y, 2), tf.reduce_logsumexp(y, 1), tf.linalg.norm(x, axis=1)]

    check(tmp_path, build, FLOATS, ([None, 5, 4], tf.float32))


def test_arrays(tmp_path):
    def build(x, i):
        made = [tf.reshape(x, [-1, 2]), tf.reshape(x, [tf.shape(x)[0], 2, -1]), tf.transpose(x, [2, 0, 1])]
        made += [tf.expand_dims(x, -2), tf.squeeze(x[:, :1], [1]), tf.concat([x, x + 1], -1), tf.stack([x, x], 1)]
        made += [*tf.unstack(x, axis=1)[:2], *tf.split(x, 2, 2), *tf.split(x, [1, -1], 1), tf.stack([x, x], -1)]
        made += [x[:, 1:, ::2], x[..., -1], x[:, tf.newaxis, 0], x[::-1, -2:], x[1], x[..., tf.newaxis, 1:3]]
        made += [tf.slice(x, [0, 1, 0], [-1, 2, 3]), tf.fill(tf.shape(x)[:2], 2.5), tf.tile(x, [1, 2, 1])]
        made += [tf.gather(x, [2, 0], axis=1), tf.gather_nd(x, [[0, 1], [1, 2]]), tf.pad(x, [[0, 1], [1, 0], [2, 2]])]
        made += [tf.pad(x, [[0, 0], [1, 1], [2, 1]], "REFLECT"), tf.pad(x, [[0, 1]] * 3, constant_values=7.0)]
        made += [tf.range(tf.shape(x)[0]), tf.one_hot(i - 1, 3), tf.one_hot(i, 4, 2.0, -1.0, axis=0)]
        made += [
            tf.reverse(x, [0, -1]),
            tf.where(x > 0),
            tf.shape(x),
            tf.size(x),
            tf.rank(x),
            x[: tf.shape(x)[0] - 1],
        ]
        return [*made, tf.broadcast_to(x[:, :1], tf.shape(x)), tf.reverse_sequence(x, i[:, 0], 1, batch_dim=0)]

    check(tmp_path, build, ([None, 3, 4], tf.float32), ([None, 2], tf.int32))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("strides", [1, 2, 3])
def test_convolutions_and_pools(tmp_path, padding, strides):
    def build(x):
        made = [
            tf.layers.conv2d(x, 5, [3, 2], strides, padding),
            tf.layers.separable_conv2d(x, 4, 3, strides, padding, depth_multiplier=2),
            tf.layers.conv2d_transpose(x, 5, [3, 4], strides, padding),
            tf.layers.max_pooling2d(x, [3, 2], strides, padding),
            tf.layers.average_pooling2d(x, [2, 3], strides, padding),
            tf.layers.conv1d(x[:, 0], 4, 3, strides, padding),
        ]
        return made if strides > 1 else [*made, tf.layers.conv2d(x, 5, 3, padding=padding, dilation_rate=2)]

    check(tmp_path, build, IMAGES)


def test_of_unknown_sizes(tmp_path):
    def build(x):
        made = tf.layers.conv2d(x, 4, 3, 2, "SAME", activation=tf.nn.relu)
        return [made, tf.reduce_mean(tf.layers.max_pooling2d(made, 2, 2), [1, 2])]

    generator = np.random.default_rng(1)
    image = generator.standard_normal([2, 7, 10, 3]).astype(np.float32)
    check(tmp_path, build, ([None, None, None, 3], tf.float32), feeds=[image])


def test_volumes(tmp_path):
    def build(x):
        made = tf.layers.conv3d(x, 4, 3, 2, "SAME")
        return [made, tf.layers.max_pooling3d(x, 2, 2, "SAME"), tf.layers.average_pooling3d(x, 2, 1, "VALID")]

    check(tmp_path, build, ([None, 5, 4, 6, 2], tf.float32))


def test_images(tmp_path):
    def build(x):
        made = [tf.image.resize_bilinear(x, [5, 11]), tf.image.resize_bilinear(x, [18, 16], align_corners=True)]
        made += [tf.image.resize_nearest_neighbor(x, [18, 20]), tf.nn.lrn(x, 2, 1.5, 0.01, 0.75)]
        made += [tf.layers.batch_normalization(x), tf.depth_to_space(x[..., :4], 2), tf.space_to_depth(x[:, :8], 2)]
        with tf.variable_scope("trained"):
            scale, offset, mean = (tf.get_variable(n, [6], initializer=tf.random_normal_initializer()) for n in "abc")
            variance = tf.abs(tf.get_variable("d", [6], initializer=tf.random_normal_initializer()))
        made.append(tf.nn.fused_batch_norm(x, scale, offset, mean, variance, is_training=False)[0])
        half = tf.image.resize_bilinear(x, [4, 4], half_pixel_centers=True)
        return [*made, half, tf.nn.moments(x, [1, 2])[1], tf.nn.bias_add(x, scale)]

    check(tmp_path, build, IMAGES)


def test_a_recurrent_net(tmp_path):
    def build(ids):
        table = tf.get_variable("table", [7, 5], initializer=tf.random_normal_initializer())
        words = tf.unstack(tf.nn.embedding_lookup(table, ids), axis=1)
        cells = [tf.nn.rnn_cell.LSTMCell(6), tf.nn.rnn_cell.GRUCell(4)]
        outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), words, dtype=tf.float32)
        return [tf.layers.dense(outputs[-1], 3, tf.tanh), state[0].c, tf.nn.softmax(tf.stack(outputs, 1))]

    check(tmp_path, build, ([None, 4], tf.int32))


def test_attention(tmp_path):
    def build(x):
        query, key, value = (
            tf.transpose(tf.reshape(tf.layers.dense(x, 8), [tf.shape(x)[0], 5, 2, 4]), [0, 2, 1, 3]) for _ in range(3)
        )
        scores = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) / 2.0)
        found = tf.reshape(tf.transpose(tf.matmul(scores, value), [0, 2, 1, 3]), tf.shape(x))
        return tf.contrib.layers.layer_norm(found + x, begin_norm_axis=-1)

    check(tmp_path, build, ([None, 5, 8], tf.float32))


# ---- Sources ------------------------------------------------------------------------------------------------------


def test_cross_entropies(tmp_path):
    def build(logits, labels, classes):
        soft = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
        sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits)
        return [soft, sparse, *tf.gradients([soft, sparse], logits)]

    check(tmp_path, build, ([None, 4], tf.float32), ([None, 4], tf.float32), ([None], tf.int32))


def test_classes_among_the_likeliest(tmp_path):
    scores = np.float32([[1, 2, 3], [3, 2, 1], [2, 2, 1], [1, np.inf, 0], [1, 2, 0], [1, 2, 0]])
    targets = np.int32([0, 0, 1, 1, 3, -1])

    def build(scores, targets):
        return [tf.nn.in_top_k(scores, targets, k) for k in (1, 2, 3)]

    check(tmp_path, build, ([None, 3], tf.float32), ([None], tf.int32), feeds=[scores, targets])


def test_boxes_that_do_not_overlap(tmp_path):
    corners = np.random.default_rng(0).uniform(0, 0.6, [30, 2])
    boxes = np.concatenate([corners, corners + 0.3], 1).astype(np.float32)
    scores = np.linspace(0, 1, 30, dtype=np.float32)

    def build(boxes, scores):
        plain = tf.image.non_max_suppression(boxes, scores, 6, 0.4)
        chosen = tf.image.non_max_suppression(boxes, scores, 30, 0.3, 0.5)
        return [plain, tf.gather(boxes, chosen)]

    check(tmp_path, build, ([None, 4], tf.float32), ([None], tf.float32), feeds=[boxes, scores])


def test_bands_of_matrices(tmp_path):
    bands = [(-1, 0), (0, -1), (0, 0), (1, 2), (-1, -1), (2, -1)]
    check(tmp_path, lambda x: [tf.matrix_band_part(x, *band) for band in bands], ([None, 5, 4], tf.float32))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_depthwise_convolutions_and_pools_of_given_windows(tmp_path, padding):
    def build(x):
        kernel = tf.get_variable("kernel", [3, 2, 6, 2])
        wide = tf.nn.depthwise_conv2d(x, kernel, [1, 2, 2, 1], padding)
        back = tf.nn.depthwise_conv2d_native_backprop_input([3, 9, 8, 6], kernel, wide, [1, 2, 2, 1], padding)
        pooled = tf.raw_ops.MaxPoolV2(input=x, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding=padding)
        return [back, pooled]

    check(tmp_path, build, ([3, 9, 8, 6], tf.float32))


def _linear(folder):
    """A model as a SavedModel and as a MetaGraph with a checkpoint."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        y = tf.add(tf.matmul(x, tf.get_variable("w", initializer=[[1.0], [2.0]], use_resource=True)), 0.5, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(folder / "saved"), {"features": x}, {"score": y})
        tf.train.Saver().save(session, str(folder / "model.ckpt"))


@pytest.mark.parametrize(
    ("source", "options", "names"),
    [
        ("saved", [], ("features", "score")),
        ("saved", ["--signature", "serving_default"], ("features", "score")),
        ("model.ckpt.meta", ["--outputs", "y"], ("x", "y")),
    ],
)
def test_sources(tmp_path, source, options, names):
    _linear(tmp_path)
    target = str(tmp_path / "model.onnx")
    assert main(["convert", str(tmp_path / source), target, *options]) == 0
    found = run(target, {names[0]: np.float32([[1, 1], [0, 3]])})
    assert found[names[1]].tolist() == [[3.5], [6.5]]


def test_an_estimator_with_columns(tmp_path):
    columns = [tf.feature_column.numeric_column("price"), tf.feature_column.numeric_column("pair", 2)]
    estimator = tf.estimator.DNNRegressor([4], columns, str(tmp_path / "model"))
    features = {"price": np.float32([[1], [2], [3]]), "pair": np.float32([[1, 2], [3, 4], [0, 1]])}
    data = lambda: tf.data.Dataset.from_tensors((features, np.float32([[1], [0], [2]])))  # noqa: E731
    estimator.train(data)
    expected = [item["predictions"] for item in estimator.predict(data)]
    raw = {name: tf.placeholder(tf.float32, [None, value.shape[1]]) for name, value in features.items()}
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(raw)
    path = estimator.export_saved_model(str(tmp_path / "export"), receiver)
    target = str(tmp_path / "model.onnx")
    assert main(["convert", path.decode(), target, "--signature", "predict"]) == 0
    np.testing.assert_allclose(run(target, features)["predictions"], expected, rtol=1e-5)
