"""Boosted trees from the first step to explanations; tests/golden/boosted_trees.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
"""

import re
import tempfile

import numpy as np

RANDOM = np.random.RandomState(6)
COUNT = 200
PRICES = RANDOM.normal(size=COUNT).astype(np.float32)
# Few sizes: of many, TensorFlow makes more buckets than it has memory for.
SIZES = (RANDOM.randint(0, 40, (COUNT, 2)) / 4.0).astype(np.float32)
COLORS = RANDOM.choice(["red", "green", "blue"], COUNT)
LABELS = ((PRICES > 0) ^ (COLORS == "red") ^ (SIZES[:, 1] > 8)).astype(np.int32)
NUMBERS = (PRICES**2 + SIZES[:, 0] * (COLORS == "blue")).astype(np.float32)


def _columns(tf, kinds):
    fc = tf.feature_column
    color = fc.indicator_column(fc.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"]))
    columns = {
        "bucketized": fc.bucketized_column(fc.numeric_column("price"), [-1.0, -0.3, 0.0, 0.4, 1.2]),
        "numeric": fc.numeric_column("size", shape=(2,)),
        "indicator": color,
    }
    return [columns[kind] for kind in kinds.split()]


def _input(tf, labels, batch=50):
    def input_fn():
        features = {"price": PRICES, "size": SIZES, "color": COLORS, "weight": np.abs(SIZES[:, 0])}
        return tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(batch)

    return input_fn


def _nodes(graph_def):
    """Names, ops and inputs; the numbers in the names of functions are those of a process."""
    found = []
    for node in graph_def.node:
        branches = [
            re.sub(r"_\d+$", "", node.attr[key].func.name)
            for key in ("then_branch", "else_branch")
            if key in node.attr
        ]
        found.append([node.name, node.op, list(node.input), branches])
    return found


def _recorder(tf, found, wants_graph):
    class Recorder(tf.train.SessionRunHook):
        def begin(self):
            graph = tf.get_default_graph()
            if wants_graph:
                found.append(_nodes(graph.as_graph_def()))
            self.loss = graph.get_collection(tf.GraphKeys.LOSSES)[0]

        def before_run(self, context):
            return tf.train.SessionRunArgs(self.loss)

        def after_run(self, context, values):
            found.append(float(np.mean(values.results)))

    return Recorder()


def _five(predictions):
    found = [next(predictions) for _ in range(5)]
    predictions.close()
    return found


def _trained(kind, kinds, steps=12, wants_graph=False, batch=50, **settings):
    def scenario(tf, folder):
        found = []
        is_classifier = kind == "Classifier"
        config = tf.estimator.RunConfig(
            tf_random_seed=5,
            session_config=tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1),
        )
        options = {"n_batches_per_layer": COUNT // batch, "n_trees": 3, "max_depth": 2, "learning_rate": 0.4}
        options.update(settings)
        estimator = getattr(tf.estimator, "BoostedTrees" + kind)(
            _columns(tf, kinds), model_dir=folder, config=config, **options
        )
        labels = LABELS if is_classifier else NUMBERS
        input_fn = _input(tf, labels, batch)
        if settings.get("train_in_memory"):  # TensorFlow makes its variables before there is an iterator

            def input_fn():
                features = {"price": PRICES, "size": SIZES, "color": COLORS}
                return {key: tf.constant(value) for key, value in features.items()}, tf.constant(labels)

        estimator.train(input_fn, steps=steps, hooks=[_recorder(tf, found, wants_graph)])
        found.append(estimator.get_variable_names())
        reader = tf.train.load_checkpoint(folder)
        found.append(reader.get_tensor("boosted_trees:0_serialized").hex())
        found.append(int(reader.get_tensor("boosted_trees:0_stamp")))
        metrics = estimator.evaluate(input_fn, steps=2)
        found.append({key: float(value) for key, value in sorted(metrics.items())})
        key = "probabilities" if is_classifier else "predictions"
        found.append([each[key].tolist() for each in _five(estimator.predict(_input(tf, labels, 5)))])
        found.append([[name, float(value)] for name, value in estimator.experimental_feature_importances().items()])
        if options.get("center_bias"):
            for each in _five(estimator.experimental_predict_with_explanations(_input(tf, labels, 5))):
                found.append(
                    [float(each["bias"]), sorted([name, float(value)] for name, value in each["dfc"].items())]
                )
        return found

    return scenario


def scenarios():
    """{name: function of (tf, folder)}"""
    return {
        "classes": _trained("Classifier", "bucketized indicator", wants_graph=True),
        "classes_of_numbers": _trained("Classifier", "bucketized numeric indicator", steps=40, wants_graph=True),
        "centered": _trained(
            "Classifier", "bucketized numeric", steps=40, center_bias=True, l2_regularization=0.01, wants_graph=True
        ),
        "in_memory": _trained(
            "Classifier", "bucketized numeric indicator", batch=COUNT, steps=9, wants_graph=True, train_in_memory=True
        ),
        "weighted": _trained("Classifier", "bucketized numeric", steps=30, weight_column="weight", wants_graph=True),
        "numbers": _trained("Regressor", "bucketized indicator", l2_regularization=0.1),
        "numbers_of_numbers": _trained(
            "Regressor", "numeric", steps=40, quantile_sketch_epsilon=0.02, center_bias=True, wants_graph=True
        ),
        "pruned": _trained(
            "Regressor", "bucketized indicator", steps=30, tree_complexity=0.02, pruning_mode="post", max_depth=3
        ),
        "pruned_before": _trained(
            "Regressor", "bucketized", steps=30, tree_complexity=0.02, pruning_mode="pre", min_node_weight=0.05
        ),
    }


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return function(tf, folder)


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
