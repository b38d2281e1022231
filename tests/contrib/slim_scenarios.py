"""tf.contrib.slim: what TensorFlow 1.15.5 makes of it is in tests/golden/slim.json, graphs as digests of their nodes.

Runs in Python 3.7, too, where tools/record_golden.py records it. Paths are relative, since they are in the graphs.
"""

import contextlib
import hashlib
import importlib
import io
import os
import pathlib
import shutil
import tempfile

import numpy as np


def digest(tf, first=0):
    """How many nodes the default graph has, and a digest of names, types, inputs and attributes."""
    found = hashlib.sha256()
    nodes = tf.get_default_graph().as_graph_def().node
    for node in nodes[first:]:
        found.update(repr([str(node.name), str(node.op), [str(name) for name in node.input]]).encode())
        for key in sorted(node.attr):
            if not node.name.endswith("StringJoin/inputs_1"):  # the random name of a saver's files
                found.update(str(key).encode() + node.attr[key].SerializeToString(deterministic=True))
    return [len(nodes), found.hexdigest()[:20]]


def _collected(tf):
    """How the names in all collections begin and end, which is as good as all of them beside a digest."""
    found = {}
    for key in sorted(tf.get_default_graph().get_all_collection_keys(), key=str):
        names = [item.name for item in tf.get_collection(key) if hasattr(item, "name")]
        found[str(key)] = [len(names), names[0], names[-1]] if names else len(tf.get_collection(key))
    return found


# ---- Networks -----------------------------------------------------------------------------------------------


def _net(tf, module, name, size, **given):
    arg_scope = getattr(module, name + "_arg_scope", None) or getattr(module, name.split("_")[0] + "_arg_scope")
    images = tf.placeholder(tf.float32, [2, size, size, 3], name="images")
    with tf.contrib.slim.arg_scope(arg_scope()):
        net, end_points = getattr(module, name)(images, **given)
    names = [[key, value.name] for key, value in end_points.items()]
    return [net.name, net.shape.as_list(), names[0], names[-1], len(names), digest(tf), _collected(tf)]


def _nets(tf):
    nets = importlib.import_module(tf.__name__.replace("tensorflow_core", "tensorflow") + ".contrib.slim.nets")
    small = {"num_classes": 7, "depth_multiplier": 0.5}
    deep = {"is_training": False, "global_pool": False, "output_stride": 8}
    yield nets.alexnet, "alexnet_v2", 224, {}
    yield nets.overfeat, "overfeat", 231, {"num_classes": 7}
    for name in ("vgg_a", "vgg_16", "vgg_19"):
        yield nets.vgg, name, 224, {"num_classes": 7}
    for module, version in ((nets.resnet_v1, "resnet_v1"), (nets.resnet_v2, "resnet_v2")):
        yield module, version + "_50", 64, {"num_classes": 7}
    yield nets.resnet_v1, "resnet_v1_101", 65, deep
    yield nets.inception, "inception_v1", 224, {"spatial_squeeze": False}
    yield nets.inception, "inception_v2", 96, small
    yield nets.inception, "inception_v3", 139, small


def networks(tf):
    found = {}
    for module, name, size, given in _nets(tf):
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            found[name] = _net(tf, module, name, size, **given)
    return found


# ---- Training -----------------------------------------------------------------------------------------------


def _model(tf):
    slim = tf.contrib.slim
    tf.set_random_seed(5)
    x = tf.constant(np.linspace(-1, 1, 24).reshape(8, 3), tf.float32, name="x")
    net = slim.fully_connected(x, 4, normalizer_fn=slim.batch_norm, weights_initializer=tf.ones_initializer())
    net = slim.fully_connected(net, 1, activation_fn=None, weights_initializer=tf.zeros_initializer())
    return tf.losses.mean_squared_error(tf.reduce_sum(x, 1, keepdims=True), net)


def train_ops(tf):
    """Graphs of training steps."""
    slim, found = tf.contrib.slim, []
    cases = [
        {},
        {"clip_gradient_norm": 0.5, "summarize_gradients": True},
        {"gradient_multipliers": {"fully_connected/weights": 2.0, "fully_connected_1/biases": 0.5}},
        {"global_step": None, "check_numerics": False, "update_ops": []},
    ]
    for given in cases:
        with tf.Graph().as_default():
            slim.learning.create_train_op(_model(tf), tf.train.GradientDescentOptimizer(0.1), **given)
            found.append([digest(tf), _collected(tf)])
    with tf.Graph().as_default():
        tf.contrib.training.create_train_op(
            _model(tf),
            tf.train.MomentumOptimizer(0.1, 0.5),
            transform_grads_fn=tf.contrib.training.clip_gradient_norms_fn(1.0),
            summarize_gradients=True,
        )
        found.append(digest(tf))
    return found


def training(tf):
    """A training with slim, its evaluation, and what is left in the folder."""
    slim, found = tf.contrib.slim, {}
    with tf.Graph().as_default():
        train_op = slim.learning.create_train_op(_model(tf), tf.train.GradientDescentOptimizer(0.05))
        never = {"save_summaries_secs": 0, "save_interval_secs": 0}  # threads, which would race with the last save
        loss = slim.learning.train(train_op, "log", number_of_steps=6, log_every_n_steps=0, **never)
        found["loss"], found["graph"] = round(float(loss), 5), digest(tf)
    found["files"] = sorted(name for name in tf.gfile.ListDirectory("log") if name[0] in "cm")
    with tf.Graph().as_default():
        value, update = tf.metrics.mean(_model(tf))
        tf.summary.scalar("mean", value)
        tf.train.get_or_create_global_step()
        result = slim.evaluation.evaluate_once(
            "", tf.train.latest_checkpoint("log"), "eval", num_evals=3, eval_op=update, final_op=[value]
        )
        found["evaluated"], found["evaluation"] = [round(float(v), 5) for v in result], digest(tf)
    with tf.Graph().as_default():
        value, update = tf.metrics.mean(_model(tf))
        result = slim.evaluation.evaluation_loop(
            "", "log", "eval", num_evals=2, eval_op=update, final_op=value, eval_interval_secs=0,
            max_number_of_evaluations=1, timeout=1, variables_to_restore=slim.get_variables_to_restore(),
        )  # fmt: skip
        found["looped"], found["loop"] = round(float(result), 5), digest(tf)
    return found


def synchronous_training(tf):
    """A training whose steps take means of two gradients of one replica, and what cannot be one."""
    slim, found = tf.contrib.slim, []
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.05), 2, total_num_replicas=1)
    for given in ({"sync_optimizer": optimizer, "startup_delay_steps": 1}, {"sync_optimizer": [3]}):
        with tf.Graph().as_default():
            try:
                slim.learning.train(_model(tf), None, **given)
            except ValueError as error:
                found.append(str(error))
    with tf.Graph().as_default(), _without_waiting(tf):
        train_op = slim.learning.create_train_op(_model(tf), optimizer)
        loss = slim.learning.train(train_op, None, number_of_steps=4, sync_optimizer=optimizer, log_every_n_steps=0)
        return found + [round(float(loss), 5), digest(tf)]


@contextlib.contextmanager
def _without_waiting(tf):
    """The thread that applies means waits for more gradients at the end, for as long as coordinators allow."""
    join = tf.train.Coordinator.join
    tf.train.Coordinator.join = lambda self, *args, **kwargs: join(self, [], 0, True)
    try:
        yield
    finally:
        tf.train.Coordinator.join = join


# ---- Input --------------------------------------------------------------------------------------------------


def _write_examples(tf):
    with tf.python_io.TFRecordWriter("records-0") as writer:
        for i in range(6):
            example = tf.train.Example()
            feature = example.features.feature
            pixels = bytes(range(i, i + 12))
            feature["image/encoded"].bytes_list.value.append(pixels)
            feature["image/format"].bytes_list.value.append(b"raw")
            feature["label"].int64_list.value.append(i)
            feature["some"].float_list.value.extend([0.5 * i] * (i % 3))
            feature["indices"].int64_list.value.extend([1, 3])
            feature["values"].float_list.value.extend([i, -i])
            for key, value in {"ymin": 0.0, "xmin": 0.1, "ymax": 0.5, "xmax": 0.25 * i}.items():
                feature["box/" + key].float_list.value.extend([value, value / 2])
            writer.write(example.SerializeToString())


def _dataset(tf):
    slim = tf.contrib.slim
    decoder = slim.tfexample_decoder
    keys = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="raw"),
        "label": tf.FixedLenFeature([1], tf.int64, default_value=tf.zeros([1], tf.int64)),
        "some": tf.VarLenFeature(tf.float32),
        "indices": tf.VarLenFeature(tf.int64),
        "values": tf.VarLenFeature(tf.float32),
    }
    keys.update({"box/" + key: tf.VarLenFeature(tf.float32) for key in ("ymin", "xmin", "ymax", "xmax")})
    first = decoder.Tensor("some", default_value=-1.0)
    handlers = {
        "image": decoder.Image(shape=[2, 2, 3]),
        "label": decoder.Tensor("label", shape=[]),
        "box": decoder.BoundingBox(prefix="box/"),
        "sparse": decoder.SparseTensor(shape=[5], densify=True),
        "some": decoder.BackupHandler(first, decoder.Tensor("values")),
        "twice": decoder.ItemHandlerCallback(["label"], lambda found: found["label"] * 2),
    }
    handlers = {key: handlers[key] for key in sorted(handlers)}
    return slim.dataset.Dataset(
        ["records-*"], tf.TFRecordReader, decoder.TFExampleDecoder(keys, handlers), 6, {"label": "a number"}, more=3
    )


def data(tf):
    """The items of a data set: the graph that reads them, and their values."""
    slim, found = tf.contrib.slim, {}
    _write_examples(tf)
    with tf.Graph().as_default():
        dataset = _dataset(tf)
        provider = slim.dataset_data_provider.DatasetDataProvider(dataset, shuffle=False, num_epochs=1)
        items_known, samples = sorted(provider.list_items()), provider.num_samples()
        items = ["image", "label", "box", "sparse", "some", "twice", "record_key"]
        tensors = {item: provider.get([item])[0] for item in items}
        found["attributes"] = [dataset.more, dataset.num_samples, items_known, samples]
        found["graph"] = digest(tf)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            with slim.queues.QueueRunners(session):
                rows = [session.run(tensors) for _ in range(6)]
        found["values"] = [
            {key: np.asarray(row[key]).tolist() for key in items if key != "record_key"} for row in rows
        ]
    with tf.Graph().as_default():
        tf.set_random_seed(2)
        slim.dataset_data_provider.DatasetDataProvider(_dataset(tf), num_readers=2, seed=4)
        queue = slim.prefetch_queue.prefetch_queue({"a": tf.zeros([2]), "b": tf.ones([3])}, num_threads=2)
        found["shuffled"] = [digest(tf), queue.dequeue()["b"].name]
    return found


# ---- The rest -----------------------------------------------------------------------------------------------


def analysis(tf):
    """What model_analyzer prints, and summaries."""
    slim, out = tf.contrib.slim, io.StringIO()
    with tf.Graph().as_default() as graph, contextlib.redirect_stdout(out):
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        slim.fully_connected(x, 3)
        sizes = [slim.model_analyzer.analyze_ops(graph, print_info=True)]
        sizes.append(slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True))
        slim.summaries.add_histogram_summary(x, "named", prefix="before")
        slim.summaries.add_scalar_summaries([tf.reduce_mean(x)], prefix="p", print_summary=True)
        slim.summaries.add_zero_fraction_summaries([x])
        slim.summaries.add_image_summary(tf.zeros([1, 2, 2, 3]))
        return [out.getvalue(), [int(n) for n in np.hstack(sizes)], digest(tf), _collected(tf)]


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    folder, before = tempfile.mkdtemp(), str(pathlib.Path.cwd())
    os.chdir(folder)
    try:
        for function in (networks, train_ops, training, synchronous_training, data, analysis):
            found[function.__name__] = function(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return found
