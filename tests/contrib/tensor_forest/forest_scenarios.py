"""Random forests; tests/golden/tensor_forest.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

import importlib
import tempfile

import numpy as np

RANDOM = np.random.RandomState(8)
EXAMPLES = RANDOM.uniform(-1, 1, (300, 5)).astype(np.float32)
CLASSES = ((EXAMPLES[:, 0] > 0).astype(int) + 2 * (EXAMPLES[:, 1] * EXAMPLES[:, 2] > 0)).astype(np.int32)
NUMBERS = np.stack([EXAMPLES[:, 0] ** 2, EXAMPLES[:, 1] - EXAMPLES[:, 2]], 1).astype(np.float32)


def _module(tf, name):
    root = "stillflow" if tf.__name__ == "stillflow" else "tensorflow"
    return importlib.import_module(root + "." + name)


def _session(tf):
    """One thread: with several, TensorFlow shows examples to leaves in any order."""
    session = tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1))
    resources = _module(tf, "python.ops.resources")
    session.run(
        tf.group(tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources()))
    )
    return session


def _forest(labels=CLASSES, features=None, **settings):
    def scenario(tf, folder):
        forest = _module(tf, "contrib.tensor_forest.python.tensor_forest")
        outputs = 4 if labels is CLASSES else 2
        params = {
            "num_classes": outputs,
            "num_features": 5,
            "num_trees": 3,
            "max_nodes": 60,
            "split_after_samples": 20,
        }
        params.update(base_random_seed=7, **settings)
        graphs = forest.RandomForestGraphs(forest.ForestHParams(**params).fill())
        if features is None:
            x = data = tf.placeholder(tf.float32, [None, 5])
            feed = lambda rows: {x: EXAMPLES[rows]}  # noqa: E731
        else:
            x, data, feed = features(tf)
        y = tf.placeholder(tf.int32 if labels is CLASSES else tf.float32, [None] if labels is CLASSES else [None, 2])
        train, loss = graphs.training_graph(data, y), graphs.training_loss(data, y)
        predictions, _, variance = graphs.inference_graph(data)
        usage = graphs.trees[0].feature_usage_counts()
        saved = tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)
        serialized = [each.specs[0].tensor for each in saved if each.name.startswith("tree")]
        nodes = [(node.name, node.op) for node in tf.get_default_graph().as_graph_def().node]
        saver = tf.train.Saver()
        session, found = _session(tf), []
        for step in range(12):
            rows = np.arange(step * 50, step * 50 + 50) % 300
            feeds = feed(rows)
            feeds[y] = labels[rows]
            session.run(train, feeds)
            found.append(float(session.run(loss)))
        everything = feed(np.arange(40))
        for value in (predictions, variance, usage):
            found.append(session.run(value, everything).tolist())
        path = saver.save(session, folder + "/forest")
        reader = tf.train.load_checkpoint(path)
        found.append(sorted(reader.get_variable_to_shape_map()))
        trees = [tree.hex() for tree in session.run(serialized)]
        again = _session(tf)
        saver.restore(again, path)
        same = [tree.hex() for tree in again.run(serialized)] == trees
        has_maps = "model_name" in settings  # TensorFlow writes them in any order
        return [nodes if not settings else [], found, [] if has_maps else trees[:1], has_maps or same]

    return scenario


def _dict(tf):
    """A number, two columns of numbers and a category."""
    x = tf.placeholder(tf.float32, [None, 5])
    whole = tf.cast(tf.floor(x[:, 2:3] * 3), tf.int32)
    return x, {"b": x[:, 0:1], "a": x[:, 1:3], "c": tf.reshape(whole, [-1, 1])}, lambda rows: {x: EXAMPLES[rows]}


def _sparse(tf):
    x = tf.placeholder(tf.float32, [None, 5])
    places = tf.where(x > [-2.0, 0.0, 0.0, 0.0, 0.0])  # TensorFlow reads beyond its arrays where a row is empty
    data = tf.SparseTensor(places, tf.gather_nd(x, places), tf.cast(tf.shape(x), tf.int64))
    return x, data, lambda rows: {x: EXAMPLES[rows]}


def scenarios():
    """{name: function of (tf, folder)}"""
    return {
        "classes": _forest(),
        "numbers": _forest(NUMBERS, regression=True, checkpoint_stats=True),
        "averaged": _forest(initialize_average_splits=True, split_name="less"),
        "sparse_counts": _forest(model_name="all_sparse", checkpoint_stats=True),
        "pruned": _forest(split_pruning_name="half", prune_every_samples=8, checkpoint_stats=True),
        "hoeffding_pruned": _forest(split_pruning_name="hoeffding", prune_every_samples=8),
        "deep": _forest(split_after_samples="linear {slope: 5 y_intercept: 10 min_val: 10 max_val: 30}"),
        "bags": _forest(bagging_fraction=0.5),
        "dict": _forest(features=_dict, num_splits_to_consider=6),
        "sparse": _forest(features=_sparse, num_splits_to_consider=6),
    }


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        tf.set_random_seed(3)
        return function(tf, folder)


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
