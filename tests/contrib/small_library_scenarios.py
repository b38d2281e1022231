"""Functions of tf.contrib's smaller libraries: what TensorFlow 1.15.5 makes of them is in
tests/golden/contrib_small_libraries.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import shutil
import tempfile
import zlib
from pathlib import Path

import numpy as np


def rounded(value):
    """Values as JSON has them, to four digits."""
    if isinstance(value, dict):
        return {str(key): rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return rounded(array.tolist())
    if array.dtype.kind == "f":
        return np.round(array.astype(np.float64), 4).tolist()
    return array.tolist()


def run(tf, tensors):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        return rounded(sess.run(tensors))


def refusals(calls):
    found = []
    for call in calls:
        try:
            call()
        except (ValueError, TypeError, AssertionError, KeyError) as error:
            found.append([type(error).__name__, str(error)])
    return found


# ---- Images -------------------------------------------------------------------------------------------------------


def matched_pairs(tf):
    """bipartite_match with equal distances, fewer rows and fewer pairs."""
    random = np.random.RandomState(0)
    distances = (np.round(random.rand(5, 7) * 4) / 4).astype(np.float32)
    match = tf.contrib.image.bipartite_match
    found = [match(distances, -1.0), match(distances, [3.0]), match(distances, -1.0, top_k=3)]
    found.append(match(np.zeros([2, 0], np.float32), -1.0))
    found.append(match(np.full([2, 2], np.nan, np.float32), 2.0))
    return run(tf, [list(each) for each in found])


def components(tf):
    """connected_components of bools, numbers, strings and what is no number."""
    random = np.random.RandomState(0)
    label = tf.contrib.image.connected_components
    images = (
        random.rand(3, 6, 8) > 0.5,
        random.randint(0, 3, (6, 9)).astype(np.uint8),
        np.array([["a", "a", ""], ["b", "a", "b"]]),
        np.array([[np.nan, np.nan, -0.0], [1, 1, 0]], np.float16),
        np.ones([2, 0, 3], np.int64),
        np.ones([1, 3, 3], np.int32),
    )
    found = run(tf, [label(image) for image in images])
    return [found, refusals([lambda: label(np.ones([2], bool))])]


def stereograms(tf):
    """single_image_random_dot_stereograms, by shape and a sum of all bytes of the first of a process."""
    depths = [[1, 2, 3, 3, 2, 1], [1, 2, 3, 4, 5, 2], [1, 2, 3, 4, 5, 3], [1, 2, 3, 4, 5, 4], [6, 5, 4, 4, 5, 5]]
    show = tf.contrib.image.single_image_random_dot_stereograms
    sizes = {"output_image_shape": [200, 90, 1], "output_data_window": [180, 70], "eye_separation": 0.5}
    with tf.Session() as sess:
        image = sess.run(show(depths, **sizes))
    return [image.shape, zlib.crc32(image.tobytes()), image[40, :30, 0].tolist()]


# ---- Variables, graphs and losses ---------------------------------------------------------------------------------


def zeros(tf):
    """zero_initializer of both kinds of variables."""
    found = []
    for use_resource in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            variable = tf.get_variable("v", [3, 2], use_resource=use_resource)
            zero = tf.contrib.framework.zero_initializer(variable)
            sess.run(zero.op)
            found.append([zero.op.type, sess.run(variable).tolist()])
            try:
                sess.run(zero.op)
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.partition("\n")[0])
    return found


def fused_graphs(tf):
    """fuse_op: the nodes that are left, and what it refuses."""
    with tf.Graph().as_default() as graph:
        a = tf.placeholder(tf.float32, [2], name="a")
        b = tf.sqrt(tf.exp(a, name="inner"), name="outer")
        c = tf.identity(b, name="out")
        tf.negative(c, name="after")
    fuse = tf.contrib.framework.fuse_op
    message = graph.as_graph_def()
    fused = fuse(message, ["a"], ["out"], [tf.float32.as_datatype_enum], True, "one", "Fused")
    found = [[node.name, node.op, list(node.input)] for node in fused.node]
    node = fused.node[1]
    found.append([list(node.attr["_output_types"].list.type), node.attr["_output_quantized"].b])
    calls = (
        lambda: fuse(3, ["a"], ["out"], [1], False, "one", "Fused"),
        lambda: fuse(message, "a", ["out"], [1], False, "one", "Fused"),
        lambda: fuse(message, ["a"], "out", [1], False, "one", "Fused"),
        lambda: fuse(message, ["none"], ["out"], [1], False, "one", "Fused"),
    )
    return [found, refusals(calls)]


def sampled_losses(tf):
    """rank_sampled_softmax_loss with its gradient."""
    random = np.random.RandomState(0)
    weights, biases, inputs = (
        tf.constant(random.rand(*shape).astype(np.float32)) for shape in ((20, 4), (20,), (3, 4))
    )
    labels = tf.constant([[1], [2], [9]], tf.int64)
    sampled = (tf.constant([1, 5, 7, 9, 13], tf.int64), tf.fill([3, 1], 0.3), tf.fill([5], 0.2))
    loss = tf.contrib.nn.rank_sampled_softmax_loss
    found = loss(weights, biases, labels, inputs, 5, 3, 20, 1, sampled, 0.7, True, "div")
    bad = (
        lambda: loss(weights, biases, labels, inputs, 21, 3, 20, 1, sampled, 0.7, True, "div"),
        lambda: loss(weights, biases, labels, inputs, 5, 5, 20, 1, sampled, 0.7, True, "div"),
        lambda: loss(weights, biases, labels, inputs, 5, 3, 20, 1, sampled, 0.7, True, "other"),
    )
    gradients = [tf.convert_to_tensor(each) for each in tf.gradients(found, [weights, inputs])]
    return [run(tf, [found, *gradients]), refusals(bad)]


def buckets(tf):
    """slim.bucketize."""
    return run(tf, [tf.contrib.slim.bucketize([1, 5, 9.0], [2, 6.0])])


# ---- tf.contrib.learn ---------------------------------------------------------------------------------------------


def _steps(tf):
    return lambda loss: tf.train.GradientDescentOptimizer(0.1).minimize(loss)


def joined_heads(tf):
    """multi_head of a head of several labels, one of numbers and a loss alone."""
    learn = tf.contrib.learn
    heads = [
        learn.multi_label_head(3, label_name="a", weight_column_name="w", head_name="a", metric_class_ids=[1]),
        learn.regression_head(label_name="b", head_name="b"),
        learn.head.loss_only_head(lambda: [tf.constant(2.0), tf.constant(1.0)], "c"),
    ]
    found = []
    for head in (learn.multi_head(heads), learn.multi_head(heads, [1.0, 2.0, 3.0])):
        found.append(head.logits_dimension)
        for mode in ("train", "eval", "infer"):
            with tf.Graph().as_default():
                labels = {"a": tf.constant([[1, 0, 1], [0, 1, 0]]), "b": tf.constant([[1.0], [2.0]])}
                logits = tf.get_variable("logits", initializer=[[0.1, 0.2, 0.3, 0.4], [1.0, 2.0, 3.0, 4.0]])
                features = {"w": tf.constant([[1.0], [3.0]])}
                ops = head.create_model_fn_ops(features, mode, labels, _steps(tf), logits=logits)
                found.append(run(tf, [] if ops.loss is None else [ops.loss]))
                found.append(run(tf, {str(key): value for key, value in (ops.predictions or {}).items()}))
                found.append(sorted(ops.eval_metric_ops))
                updates = {key: update for key, (_, update) in ops.eval_metric_ops.items()}
                found.append(run(tf, updates if mode == "eval" else {}))
    calls = (
        lambda: learn.multi_head(heads, [1.0]),
        lambda: learn.multi_head([learn.regression_head()]),
        lambda: learn.multi_label_head(1),
        lambda: learn.multi_label_head(3, metric_class_ids=[3]),
        lambda: learn.multi_label_head(3, loss_fn=lambda labels, logits: 0),
    )
    return [found, refusals(calls)]


def _input_fn(tf):
    def input_fn():
        features = tf.constant(np.random.RandomState(0).rand(20, 3).astype(np.float32))
        return {"x": features}, tf.constant((np.arange(20) % 2)[:, None])

    return input_fn


def logistic_regressors(tf):
    """LogisticRegressor trained for three steps."""
    learn = tf.contrib.learn

    def model(features, labels, mode):
        weights = tf.get_variable("w", initializer=[[0.1], [0.2], [0.3]])
        probabilities = tf.sigmoid(tf.matmul(features["x"], weights))
        if mode == "infer":
            return probabilities, None, None
        loss = tf.losses.log_loss(labels, probabilities)
        return probabilities, loss, tf.contrib.layers.optimize_loss(loss, tf.train.get_global_step(), 0.1, "SGD")

    config = learn.RunConfig(model_dir="logistic", tf_random_seed=1)
    regressor = learn.LogisticRegressor(model, thresholds=[0.5, 0.6], config=config)
    regressor.fit(input_fn=_input_fn(tf), steps=3)
    found = regressor.evaluate(input_fn=_input_fn(tf), steps=1)
    return {key: rounded(float(value)) for key, value in sorted(found.items())}


def weighted_models(tf):
    """A linear classifier with weights of examples: its loss is the mean over the weights."""
    columns = [tf.contrib.layers.real_valued_column("x", 3)]

    def input_fn():
        features, labels = _input_fn(tf)()
        features["w"] = tf.constant(np.linspace(0.5, 2.0, 20, dtype=np.float32)[:, None])
        return features, labels

    config = tf.contrib.learn.RunConfig(model_dir="weighted", tf_random_seed=1)
    model = tf.contrib.learn.LinearClassifier(columns, weight_column_name="w", config=config)
    model.fit(input_fn=input_fn, steps=3)
    return {key: rounded(float(value)) for key, value in sorted(model.evaluate(input_fn=input_fn, steps=1).items())}


def exported_models(tf):
    """export_savedmodel, its signatures, predictors of it and of the estimator, and a strategy."""
    learn = tf.contrib.learn
    columns = [tf.contrib.layers.real_valued_column("x", 3)]
    config = learn.RunConfig(model_dir="exported", tf_random_seed=1)
    estimator = learn.LinearClassifier(columns, n_classes=3, config=config)
    estimator.fit(input_fn=_input_fn(tf), steps=5)
    serving = learn.build_parsing_serving_input_fn(tf.contrib.layers.create_feature_spec_for_parsing(columns))
    folder = estimator.export_savedmodel("exports", serving).decode()
    with tf.Graph().as_default(), tf.Session() as sess:
        meta_graph = tf.saved_model.loader.load(sess, ["serve"], folder)
    found = [
        [key, signature.method_name, sorted(signature.inputs), sorted(signature.outputs)]
        for key, signature in sorted(meta_graph.signature_def.items())
    ]
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[1, 2, 3]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    by_estimator = tf.contrib.predictor.from_contrib_estimator(estimator, serving)({"examples": [example]})
    by_model = tf.contrib.predictor.from_saved_model(folder)({"inputs": [example]})
    found += [rounded(dict(sorted(by_estimator.items()))), rounded(dict(sorted(by_model.items())))]
    strategy = learn.make_export_strategy(serving, exports_to_keep=1)
    strategy.export(estimator, "exports")
    found += [strategy.name, len(list(Path("exports").iterdir()))]
    best = learn.utils.saved_model_export_utils.make_best_model_export_strategy(serving)
    checkpoint = tf.train.latest_checkpoint("exported")
    for loss in (2.0, 3.0, 1.0):
        found.append(bool(best.export(estimator, "best", checkpoint, {"loss": loss})))
    found.append(sorted(path.name for path in Path("best").iterdir()))
    core = tf.estimator.Estimator(lambda features: None, "core")
    calls = (
        lambda: estimator.export_savedmodel("exports", None),
        lambda: tf.contrib.predictor.from_contrib_estimator(core, serving),
        lambda: tf.contrib.predictor.from_estimator(estimator, serving),
        lambda: tf.contrib.predictor.from_contrib_estimator(estimator, serving, output_alternative_key="other"),
    )
    return [found, refusals(calls)]


def read_records(tf):
    """read_batch_examples and its kin over one file, in order."""
    with tf.python_io.TFRecordWriter("records") as writer:
        for i in range(5):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))
            writer.write(tf.train.Example(features=tf.train.Features(feature={"i": feature})).SerializeToString())
    learn = tf.contrib.learn
    spec = {"i": tf.FixedLenFeature([], tf.int64)}
    common = {"randomize_input": False, "num_epochs": 1}
    found = []
    for build in (
        lambda: learn.read_batch_record_features("records", 2, spec, **common)["i"],
        lambda: learn.read_batch_features(
            "records", 2, spec, tf.TFRecordReader, read_batch_size=1, num_enqueue_threads=1, **common
        )["i"],
        lambda: tf.parse_example(learn.read_batch_examples("records", 2, tf.TFRecordReader, **common), spec)["i"],
        lambda: learn.read_keyed_batch_examples("rec*", 3, tf.TFRecordReader, read_batch_size=5, **common)[0],
    ):
        with tf.Graph().as_default():
            batch = build()
            batches = []
            with tf.train.MonitoredSession() as sess:
                while not sess.should_stop():
                    batches.append(rounded(sess.run(batch)))
        found.append(batches)
    read = learn.read_batch_examples
    calls = (
        lambda: read([], 2, tf.TFRecordReader),
        lambda: read("nothing", 2, tf.TFRecordReader),
        lambda: read("records", 2, tf.TFRecordReader, queue_capacity=0),
        lambda: read("records", 2, tf.TFRecordReader, queue_capacity=2),
        lambda: read("records", 2, tf.TFRecordReader, num_threads=0),
        lambda: read("records", 2, tf.TFRecordReader, read_batch_size=0),
        lambda: read("records", 2, tf.TFRecordReader, num_epochs=0),
    )
    return [found, refusals(calls)]


def generators(tf):
    """generator_input_fn with padding, and what it refuses."""

    def examples():
        for i in range(1, 4):
            yield {"a": np.arange(i), "b": np.array([i * 2])}

    make = tf.contrib.learn.io.generator_input_fn
    with tf.Graph().as_default():
        features, target = make(examples, target_key="b", batch_size=2, shuffle=False, pad_value=-1)()
        batches = []
        with tf.train.MonitoredSession() as sess:
            while not sess.should_stop():
                batches.append(rounded(sess.run([features["a"], target])))
    calls = (
        lambda: make(3),
        lambda: make(lambda: 3),
        lambda: make(examples, target_key=3),
        lambda: make(examples, target_key=["c"]),
        lambda: make(examples, target_key=[3]),
    )
    return [batches, refusals(calls)]


def graph_runs(tf):
    """run_n, run_feeds and infer, with variables initialized and restored."""
    learn = tf.contrib.learn
    fed = tf.placeholder_with_default(1.0, [])
    variable = tf.get_variable("v", initializer=2.0)
    names = tf.train.string_input_producer(["a", "b"], shuffle=False)
    outputs = {"sum": variable.assign_add(fed), "name": names.dequeue()}
    found = [learn.run_n(outputs, n=3), learn.run_feeds(outputs, [{fed: 3.0}, {fed: 4.0}])]
    with tf.Session() as sess:
        sess.run(variable.assign(10.0))
        path = tf.train.Saver().save(sess, "runs/model")
    found.append(learn.infer(path, outputs, {fed: 5.0}))
    calls = (lambda: learn.run_n({}), lambda: learn.run_feeds(outputs, []))
    return [rounded(found), refusals(calls)]


def distribution_heads(tf):
    """estimator_head_distribution_regression of a normal distribution."""
    make = tf.contrib.distributions.estimator_head_distribution_regression

    def normal(logits):
        return tf.distributions.Normal(logits[:, 0], tf.nn.softplus(logits[:, 1]))

    head = make(normal, logits_dimension=2)
    logits = tf.constant([[0.1, 0.2], [1.0, -2.0]])
    ops = head.create_model_fn_ops({}, "eval", tf.constant([[0.5], [1.5]]), None, logits=logits)
    return [run(tf, [ops.loss, ops.predictions]), len(head.distributions), refusals([lambda: make(3)])]


SCENARIOS = (
    matched_pairs, components, stereograms, zeros, fused_graphs, sampled_losses, buckets, joined_heads,
    logistic_regressors, weighted_models, exported_models, read_records, generators, graph_runs,
    distribution_heads,
)  # fmt: skip


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    folder, before = tempfile.mkdtemp(), str(Path.cwd())
    os.chdir(folder)
    try:
        found = {}
        for function in SCENARIOS:
            with tf.Graph().as_default():
                found[function.__name__] = function(tf)
        return found
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
