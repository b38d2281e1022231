"""Boosted trees of tf.contrib; tests/golden/contrib_boosted_trees.json is TensorFlow 1.15.5's.

Runs in Python 3.7, too, where tools/record_golden.py records it with TensorFlow's sources at hand, as its wheel lacks
the estimators. Each is a function of tf and of an empty folder.
"""

import importlib
import tempfile

import numpy as np

RANDOM = np.random.RandomState(5)
COUNT = 120
NUMBERS = RANDOM.uniform(-1, 1, (COUNT, 4)).astype(np.float32)
CATEGORIES = RANDOM.randint(0, 5, (COUNT, 1))
IS_KNOWN = RANDOM.uniform(size=COUNT) < 0.6
BINARY = ((NUMBERS[:, 0] > 0.2) ^ (NUMBERS[:, 1] + 0.1 * CATEGORIES[:, 0] > 0.3)).astype(np.int32)
CLASSES = (BINARY + (NUMBERS[:, 2] > 0.4)).astype(np.int32)
TARGETS = (NUMBERS[:, 0] ** 2 + NUMBERS[:, 1] * NUMBERS[:, 2] + 0.3 * CATEGORIES[:, 0]).astype(np.float32)


def _module(tf, name):
    root = "stillflow" if tf.__name__ == "stillflow" else "tensorflow"
    return importlib.import_module(root + "." + name)


def _estimators(tf):
    return _module(tf, "contrib.boosted_trees.estimator_batch.estimator")


def _leaf(leaf):
    # TensorFlow has them in any order.
    sparse = sorted(zip(leaf.sparse_vector.index, leaf.sparse_vector.value))  # noqa: B905
    return [[index for index, _ in sparse], [value for _, value in sparse] or list(leaf.vector.value)]


def _node(node):
    kind = node.WhichOneof("node")
    if kind == "leaf":
        return [kind, _leaf(node.leaf)]
    split = getattr(node, kind)
    split = getattr(split, "split", split)
    fields = {field.name: value for field, value in split.ListFields()}
    return [
        kind,
        fields,
        node.node_metadata.gain,
        [_leaf(each) for each in node.node_metadata.original_oblivious_leaves],
    ]


def _trees(tf, folder):
    """The ensemble of the newest checkpoint: nodes, weights, and what is said of the trees."""
    message = _module(tf, "contrib.boosted_trees.proto.tree_config_pb2").DecisionTreeEnsembleConfig
    reader = tf.train.load_checkpoint(folder)
    ensemble = message.FromString(reader.get_tensor("ensemble_model:0_config"))
    metadata = [
        [each.num_tree_weight_updates, each.num_layers_grown, each.is_finalized] for each in ensemble.tree_metadata
    ]
    growing = ensemble.growing_metadata
    return [
        [[_node(node) for node in tree.nodes] for tree in ensemble.trees],
        list(ensemble.tree_weights),
        metadata,
        [growing.num_trees_attempted, growing.num_layers_attempted, list(growing.used_handler_ids)],
        sorted(name for name in reader.get_variable_to_shape_map() if name != "global_step"),
    ]


def _config(tf, **settings):
    config = _module(tf, "contrib.boosted_trees.proto.learner_pb2").LearnerConfig(**settings)
    config.regularization.l2 = 0.5 / COUNT
    config.constraints.max_tree_depth = config.constraints.max_tree_depth or 3
    return config


def _features(tf, rows):
    return {f"x{i}": tf.constant(NUMBERS[rows, i : i + 1]) for i in range(3)}


def _mixed_features(tf, rows):
    """Dense and sparse numbers, and categories."""
    places = np.flatnonzero(IS_KNOWN[rows])
    known = np.stack([places, np.zeros_like(places)], 1)
    size = len(NUMBERS[rows])
    everywhere = np.stack([np.arange(size), np.zeros(size, np.int64)], 1)
    return {
        "dense": tf.constant(NUMBERS[rows, :1]),
        "sparse": tf.SparseTensor(known, tf.constant(NUMBERS[rows, 1][places]), [size, 1]),
        "kinds": tf.SparseTensor(everywhere, tf.constant(CATEGORIES[rows, 0], tf.int64), [size, 1]),
    }


def _input_fn(tf, features, labels, batches=1):
    """All examples, or batch after batch."""

    def input_fn():
        if batches == 1:
            rows = slice(0, COUNT)
            return features(tf, rows), None if labels is None else tf.constant(labels[rows, None])
        size = COUNT // batches
        data = tf.data.Dataset.from_tensor_slices((NUMBERS, labels[:, None])).batch(size).repeat()
        numbers, wanted = tf.compat.v1.data.make_one_shot_iterator(data).get_next()
        return {f"x{i}": tf.reshape(numbers[:, i], [-1, 1]) for i in range(3)}, wanted

    return input_fn


def _values(values):
    return {key: np.asarray(value).tolist() for key, value in sorted(values.items())}


def _first(predictions):
    """Some of a generator, which ends."""
    found = [next(predictions) for _ in range(4)]
    predictions.close()
    return found


def _contrib(kind, labels, features=_features, batches=1, steps=None, settings=None, **arguments):
    """An estimator of tf.contrib.learn."""

    def scenario(tf, folder):
        learn = _module(tf, "contrib.learn")
        config = _config(tf, **(settings or {}))
        more = dict(arguments)
        if "quantiles" not in more:
            more.setdefault("center_bias", False)
        estimator = getattr(_estimators(tf), kind)(
            learner_config=config,
            examples_per_layer=COUNT,
            num_trees=3,
            model_dir=folder,
            config=learn.RunConfig(num_cores=1, tf_random_seed=3),
            **more,
        )
        estimator.fit(input_fn=_input_fn(tf, features, labels, batches), steps=steps or 30)
        found = _trees(tf, folder)
        metrics = estimator.evaluate(input_fn=_input_fn(tf, features, labels), steps=1)
        predicted = _first(estimator.predict(input_fn=_input_fn(tf, features, None)))
        return [found, _values(metrics), [_values(each) for each in predicted]]

    return scenario


_CORE = "CoreGradientBoostedDecisionTreeEstimator"


def _core(
    make_head, labels, settings=None, columns=None, kind="CoreGradientBoostedDecisionTreeEstimator", **arguments
):
    """An estimator of tf.estimator."""

    def scenario(tf, folder):
        session = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        more = dict(arguments)
        if make_head is not None:
            more["head"] = make_head(tf)
        estimator = getattr(_estimators(tf), kind)(
            learner_config=_config(tf, **(settings or {})),
            examples_per_layer=COUNT,
            num_trees=2,
            model_dir=folder,
            config=tf.estimator.RunConfig(session_config=session, tf_random_seed=3),
            feature_columns=columns(tf) if columns else None,
            **more,
        )
        features = _features if columns is None else _column_features
        estimator.train(input_fn=_input_fn(tf, features, labels), steps=30)
        found = _trees(tf, folder)
        metrics = estimator.evaluate(input_fn=_input_fn(tf, features, labels), steps=1)
        predicted = _first(estimator.predict(input_fn=_input_fn(tf, features, None)))
        numbers = [{key: value for key, value in each.items() if "class" not in key} for each in predicted]
        return [found, _values(metrics), [_values(each) for each in numbers]]

    return scenario


def _column_features(tf, rows):
    return {"x": tf.constant(NUMBERS[rows, :2]), "kind": tf.constant(CATEGORIES[rows])}


def _columns(tf):
    number = tf.feature_column.numeric_column("x", shape=(2,))
    kind = tf.feature_column.categorical_column_with_identity("kind", 5)
    return [number, tf.feature_column.indicator_column(kind)]


def _two_class_head(tf):
    heads = _module(tf, "python.estimator.canned.head")
    return heads._binary_logistic_head_with_sigmoid_cross_entropy_loss(
        loss_reduction=tf.losses.Reduction.SUM_OVER_NONZERO_WEIGHTS
    )


def _ranking(tf, folder):
    """Pairs of examples, of which the one with the greater target is better."""
    first, second = np.arange(0, COUNT, 2), np.arange(1, COUNT, 2)

    def train_fn():
        features = {f"a.x{i}": tf.constant(NUMBERS[first, i : i + 1]) for i in range(3)}
        features.update({f"b.x{i}": tf.constant(NUMBERS[second, i : i + 1]) for i in range(3)})
        return features, tf.constant((TARGETS[first] > TARGETS[second]).astype(np.int32)[:, None])

    session = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    ranker = _estimators(tf).CoreGradientBoostedDecisionTreeRanker(
        learner_config=_config(tf, num_classes=2, constraints={"max_tree_depth": 2}),
        examples_per_layer=len(first),
        head=_two_class_head(tf),
        ranking_model_pair_keys=("a", "b"),
        num_trees=2,
        model_dir=folder,
        config=tf.estimator.RunConfig(session_config=session, tf_random_seed=3),
    )
    ranker.train(input_fn=train_fn, steps=20)
    metrics = ranker.evaluate(input_fn=train_fn, steps=1)
    predicted = _first(ranker.predict(input_fn=_input_fn(tf, _features, None)))
    return [_trees(tf, folder), _values(metrics), [each["logits"].tolist() for each in predicted]]


def _combined(tf):
    return _module(tf, "contrib.boosted_trees.estimator_batch.dnn_tree_combined_estimator")


def _combined_settings(tf, folder):
    """Trees that begin at once and predict alone, so that no random weight of the network counts."""
    return {
        "dnn_hidden_units": [3],
        "tree_learner_config": _config(tf, num_classes=2),
        "num_trees": 2,
        "tree_examples_per_layer": COUNT,
        "dnn_steps_to_train": 0,
        "predict_with_tree_only": True,
        "model_dir": folder,
    }


def _tree_names(found):
    """The trees without the names of the network's variables."""
    *trees, names = found
    return [*trees, [name for name in names if not name.startswith("dnn/")]]


def _combined_regression(tf, folder):
    """Trees of the network's input and of another column."""
    layers = _module(tf, "contrib.layers")
    estimator = _combined(tf).DNNBoostedTreeCombinedRegressor(
        dnn_feature_columns=[layers.real_valued_column("x", 2)],
        tree_feature_columns=[layers.one_hot_column(layers.sparse_column_with_integerized_feature("kind", 5))],
        config=_module(tf, "contrib.learn").RunConfig(num_cores=1, tf_random_seed=3),
        **_combined_settings(tf, folder),
    )

    def features(tf, rows):
        found = _column_features(tf, rows)
        places = np.stack([np.arange(COUNT), np.zeros(COUNT, np.int64)], 1)
        return {**found, "kind": tf.SparseTensor(places, tf.cast(found["kind"][:, 0], tf.int64), [COUNT, 1])}

    estimator.fit(input_fn=_input_fn(tf, features, TARGETS), steps=20)  # TensorFlow fails to evaluate it.
    predicted = _first(estimator.predict(input_fn=_input_fn(tf, features, None)))
    return [_tree_names(_trees(tf, folder)), [_values(each) for each in predicted]]


def _combined_core(tf, folder):
    """Trees of their own columns."""
    columns = _columns(tf)
    session = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    estimator = _combined(tf).CoreDNNBoostedTreeCombinedEstimator(
        head=_two_class_head(tf),
        dnn_feature_columns=columns[:1],
        tree_feature_columns=columns,
        dnn_input_layer_to_tree=False,
        tree_center_bias=True,
        config=tf.estimator.RunConfig(session_config=session, tf_random_seed=3),
        **_combined_settings(tf, folder),
    )
    estimator.train(input_fn=_input_fn(tf, _column_features, BINARY), steps=20)
    predicted = _first(estimator.predict(input_fn=_input_fn(tf, _column_features, None)))
    return [_tree_names(_trees(tf, folder)), [each["logits"].tolist() for each in predicted]]


_CLASSIFIER = "GradientBoostedDecisionTreeClassifier"
_REGRESSOR = "GradientBoostedDecisionTreeRegressor"


def scenarios():
    """{name: function of (tf, folder)}"""
    full = {"multi_class_strategy": 2, "constraints": {"max_tree_depth": 2}}
    dropout = {"dropout": {"dropout_probability": 0.6, "learning_rate": 0.3}}
    return {
        "two_classes": _contrib(_CLASSIFIER, BINARY, center_bias=True),
        "two_classes_of_mixed_features": _contrib(_CLASSIFIER, BINARY, _mixed_features, output_leaf_index=True),
        "two_classes_in_batches": _contrib(_CLASSIFIER, BINARY, batches=3, steps=40),
        "two_classes_pruned_before": _contrib(
            _CLASSIFIER, BINARY, settings={"pruning_mode": 1, "regularization": {"tree_complexity": 0.02}}
        ),
        "two_classes_pruned_after": _contrib(
            _CLASSIFIER, BINARY, settings={"pruning_mode": 2, "regularization": {"tree_complexity": 0.02}}
        ),
        "two_classes_whole_trees": _contrib(_CLASSIFIER, BINARY, settings={"growing_mode": 1}),
        "three_classes": _contrib(_CLASSIFIER, CLASSES, n_classes=3),
        "three_classes_full_hessian": _contrib(_CLASSIFIER, CLASSES, n_classes=3, settings=full),
        "three_classes_tree_per_class": _contrib(
            _CLASSIFIER, CLASSES, n_classes=3, settings={"multi_class_strategy": 1}
        ),
        "regression": _contrib(_REGRESSOR, TARGETS, _mixed_features, center_bias=True),
        "regression_dropout": _contrib(_REGRESSOR, TARGETS, settings={"learning_rate_tuner": dropout}, steps=14),
        "regression_averaged": _contrib(
            _REGRESSOR, TARGETS, settings={"averaging_config": {"average_last_percent_trees": 0.7}}
        ),
        "regression_oblivious": _contrib(_REGRESSOR, TARGETS, settings={"weak_learner_type": 1}),
        "regression_few_columns": _contrib(
            _REGRESSOR, TARGETS, settings={"constraints": {"max_number_of_unique_feature_columns": 1}}
        ),
        "regression_some_columns": _contrib(_REGRESSOR, TARGETS, settings={"feature_fraction_per_tree": 0.6}),
        "regression_columns_per_level": _contrib(_REGRESSOR, TARGETS, settings={"feature_fraction_per_level": 0.6}),
        "quantiles": _contrib(
            "GradientBoostedDecisionTreeQuantileRegressor", TARGETS, quantiles=[0.3], center_bias=False
        ),
        "core_two_classes": _core(_two_class_head, BINARY, {"num_classes": 2}, _columns, center_bias=True),
        "core_three_classes": _core(
            lambda tf: _estimators(tf).core_multiclass_head(3), CLASSES, {"num_classes": 3}, center_bias=False
        ),
        "core_quantiles": _core(
            None,
            TARGETS,
            {"num_classes": 2},
            kind="CoreGradientBoostedDecisionTreeQuantileRegressor",
            quantiles=[0.7],
            center_bias=False,
        ),
        "ranking": _ranking,
        "combined_regression": _combined_regression,
        "combined_core": _combined_core,
    }


def outcome(tf, function):
    """What a scenario returns."""
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        tf.set_random_seed(3)
        return function(tf, folder)


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
