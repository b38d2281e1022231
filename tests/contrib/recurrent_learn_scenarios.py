"""Recurrent estimators, training of graphs and exports of tf.contrib.learn, as TensorFlow 1.15.5 has them.

What it makes of them is in tests/golden/contrib_learn_recurrent.json. Runs in Python 3.7, too, where
tools/record_golden.py records it.
"""

import os
import shutil
import tempfile

import numpy as np
from contrib.graph_hashes import count_and_hash


def _rounded(value):
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in sorted(value.items())}
    return np.asarray(value, np.float64).round(4).tolist()


# ---- Estimators ---------------------------------------------------------------------------------------------


def _columns(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 7)
    return (
        [layers.real_valued_column("x", dimension=2), layers.embedding_column(words, 3)],
        [layers.real_valued_column("of_all", dimension=1)],
    )


def _features(tf):
    values = np.random.RandomState(1).rand(4, 5, 2).astype(np.float32)
    indices = [[i, j, 0] for i in range(4) for j in range(5)]
    texts = [("a", "b", "c")[(i * j) % 3] for i, j, _ in indices]
    return {
        "x": tf.constant(values),
        "words": tf.SparseTensor(indices, texts, [4, 5, 1]),
        "of_all": tf.constant([[1.0], [2.0], [3.0], [4.0]]),
        "sequence_length": tf.constant([5, 3, 1, 4]),
    }


def _single(tf, problem):
    return tf.constant([0, 2, 1, 1]) if problem == 1 else tf.constant([0.5, 1.0, -1.0, 0.0])


def _multiple(tf, problem):
    kind = tf.int32 if problem == 1 else tf.float32
    return tf.cast(np.arange(20).reshape(4, 5) % 3, kind)


def _modules(tf):
    from tensorflow.contrib.learn.python.learn.estimators import constants, rnn_common

    return constants.ProblemType, rnn_common.PredictionType


def dynamic_single(tf):
    """Networks that predict one value: graphs of all modes, evaluations and predictions."""
    problems, kinds = _modules(tf)
    return _dynamic(
        tf,
        kinds.SINGLE_VALUE,
        [
            (problems.CLASSIFICATION, {"num_classes": 3, "predict_probabilities": True}),
            (problems.LINEAR_REGRESSION, {"cell_type": "lstm", "num_units": [4, 3]}),
        ],
    )


def dynamic_multiple(tf):
    """Networks that predict a value for each step."""
    problems, kinds = _modules(tf)
    with_dropout = {"predict_probabilities": True, "dropout_keep_probabilities": [0.5, 0.5]}
    return _dynamic(
        tf,
        kinds.MULTIPLE_VALUE,
        [
            (problems.CLASSIFICATION, {"num_classes": 3, "cell_type": "gru"}),
            (problems.LINEAR_REGRESSION, {"optimizer": "Momentum", "momentum": 0.9}),
            (problems.CLASSIFICATION, dict({"num_classes": 2}, **with_dropout)),
        ],
    )


def _dynamic(tf, kind, cases):
    found = []
    labels = _multiple if kind == _modules(tf)[1].MULTIPLE_VALUE else _single
    for problem, given in cases:
        of_steps, of_all = _columns(tf)
        given = dict({"num_units": 4, "learning_rate": 0.1}, **given)
        estimator = tf.contrib.learn.DynamicRnnEstimator(
            problem,
            kind,
            of_steps,
            context_feature_columns=of_all,
            config=tf.contrib.learn.RunConfig(tf_random_seed=3),
            **given,
        )

        def input_fn(problem=problem, given=given):
            targets = labels(tf, problem)
            return _features(tf), tf.minimum(targets, 1) if given.get("num_classes") == 2 else targets

        for mode in ("train", "eval", "infer"):
            with tf.Graph().as_default() as graph:
                tf.set_random_seed(3)
                tf.train.create_global_step()
                features, targets = input_fn()
                ops = estimator._model_fn(features, targets, mode=mode)
                found.append(
                    [mode, count_and_hash(graph), sorted(ops.predictions), sorted(ops.output_alternatives or {})]
                )
        if "dropout_keep_probabilities" in given:  # TensorFlow's loops draw in any order
            continue
        estimator.fit(input_fn=input_fn, steps=4)
        found.append(_rounded(estimator.evaluate(input_fn=input_fn, steps=1)))
        found.append(_rounded(estimator.predict(input_fn=input_fn, as_iterable=False)))
    return found


def state_saving(tf):
    """Networks whose states are kept from step to step: the graph, and what they have learned."""
    from tensorflow.contrib.learn.python.learn.estimators import state_saving_rnn_estimator

    problems, _ = _modules(tf)
    found = []
    for given in ({"cell_type": "lstm", "num_units": 4}, {"cell_type": "gru", "num_units": [3, 3]}):
        estimator = state_saving_rnn_estimator.StateSavingRnnEstimator(
            problems.LINEAR_REGRESSION,
            num_unroll=2,
            batch_size=1,
            sequence_feature_columns=[tf.contrib.layers.real_valued_column("x", dimension=2)],
            context_feature_columns=[tf.contrib.layers.real_valued_column("of_all", dimension=1)],
            config=tf.contrib.learn.RunConfig(tf_random_seed=3),
            num_threads=1,
            queue_capacity=2,
            seed=5,
            **given,
        )

        def input_fn():
            values = np.random.RandomState(1).rand(5, 2).astype(np.float32)
            features = {"x": tf.constant(values), "of_all": tf.constant([2.0])}
            return features, tf.constant(values.sum(1))

        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            tf.train.create_global_step()
            features, targets = input_fn()
            estimator._model_fn(features, targets, mode="train")
            found.append(count_and_hash(graph))
        estimator.fit(input_fn=input_fn, steps=6)
        found.append(_rounded(estimator.evaluate(input_fn=input_fn, steps=3)))
    return found


def models(tf):
    """Models of lists of steps, and decoders."""
    learn, found = tf.contrib.learn, []
    values = np.random.RandomState(1).rand(3, 4, 2).astype(np.float32)
    for given in (
        {"cell_type": "gru", "num_layers": 2},
        {"cell_type": "lstm", "num_layers": 1, "bidirectional": True},
        {"cell_type": "rnn", "num_layers": 1, "attn_length": 2, "attn_size": 3, "attn_vec_size": 3},
    ):
        options = {"bidirectional": False, "attn_length": None, "attn_size": None, "attn_vec_size": None}
        options.update(given)
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(3)
            model = learn.models.get_rnn_model(
                rnn_size=3,
                input_op_fn=lambda x: tf.unstack(x, axis=1),
                target_predictor_fn=lambda encoding, y: (encoding, y),
                sequence_length=None,
                initial_state=None,
                **options,
            )
            encoding, _ = model(tf.constant(values), tf.constant([1.0, 2.0, 3.0]))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found.append([count_and_hash(graph), _rounded(session.run(encoding))])
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        encoder, decoder, wanted = learn.ops.seq2seq_inputs(tf.constant(values), tf.constant(values[:, :3]), 4, 3)
        outputs, _, sampled, _ = learn.ops.rnn_seq2seq(encoder, decoder, tf.nn.rnn_cell.GRUCell(2))
        probabilities, loss = learn.ops.sequence_classifier(outputs, wanted, sampled)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found.append([count_and_hash(graph), _rounded(session.run(probabilities)), _rounded(session.run(loss))])
    return found


# ---- Training of graphs, and exports ------------------------------------------------------------------------


def _graph(tf):
    step = tf.train.create_global_step()
    weight = tf.Variable(1.0, name="weight")
    loss = tf.square(weight - 3.0, name="loss")
    tf.summary.scalar("loss", loss)
    return weight, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=step)


def graph_actions(tf):
    """Graphs that are trained, evaluated and run."""
    learn, found = tf.contrib.learn, []
    for steps in (3, 2):
        with tf.Graph().as_default() as graph:
            _, loss, train = _graph(tf)
            found.append(_rounded(learn.train(graph, "model", train, loss, steps=steps)))
    learn.graph_actions.clear_summary_writers()
    with tf.Graph().as_default() as graph:
        weight, loss, _ = _graph(tf)
        fed = tf.placeholder(tf.float32, [])
        results, step = learn.evaluate(
            graph, "scores", "model", {"weight": weight, "sum": weight + fed}, feed_fn=lambda: {fed: 2.0}, max_steps=2
        )
        found.append([_rounded(results), int(step)])
        path = tf.train.latest_checkpoint("model")
        found.append(os.path.basename(path))
        found.append(_rounded(learn.run_n({"loss": loss}, None, path, n=2)[1]))
        found.append(_rounded(learn.infer(None, {"sum": weight + fed}, {fed: 1.0})))
    learn.graph_actions.clear_summary_writers()
    for folder in ("model", "scores"):
        names = sorted(name for name in os.listdir(folder) if name.startswith("events"))
        events = [event for name in names for event in tf.train.summary_iterator(os.path.join(folder, name))]
        values = [(event.step, value) for event in events for value in event.summary.value]
        found.append(
            sorted([step, v.tag, round(v.simple_value, 4)] for step, v in values if v.tag != "global_step/sec")
        )
    return found


def _files(folder):
    return sorted(
        os.path.relpath(os.path.join(top, name), folder) for top, _, names in os.walk(folder) for name in names
    )


def exports(tf):
    """Exports of an estimator while it trains, of one that is parsed, and of a graph."""
    from tensorflow.contrib.session_bundle import exporter, manifest_pb2, session_bundle  # of its sources

    learn, found = tf.contrib.learn, []
    column = tf.contrib.layers.real_valued_column("x", dimension=1)

    def input_fn():
        return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[3.0], [5.0]])

    monitor = learn.monitors.ExportMonitor(2, "exports", exports_to_keep=2)
    regressor = learn.LinearRegressor([column], config=learn.RunConfig(tf_random_seed=1, save_checkpoints_steps=2))
    regressor.fit(input_fn=input_fn, steps=6, monitors=[monitor])
    found.append([sorted(os.listdir("exports")), os.path.basename(monitor.last_export_dir).decode()])

    def describe(folder):
        session, meta_graph = session_bundle.load_session_bundle_from_path(folder)
        signatures = manifest_pb2.Signatures()
        meta_graph.collection_def["serving_signatures"].any_list.value[0].Unpack(signatures)
        names = sorted(signatures.named_signatures)
        return session, [signatures.default_signature.WhichOneof("type"), names], signatures

    session, kinds, signatures = describe(monitor.last_export_dir.decode())
    regression = signatures.default_signature.regression_signature
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(2.0)
    fed = {regression.input.tensor_name: [example.SerializeToString()]}
    found.append([kinds, _rounded(session.run(regression.output.tensor_name, fed))])

    with tf.Graph().as_default() as graph:
        with open("words.txt", "w") as file:
            file.write("text")
        x = tf.placeholder(tf.float32, [None], name="x")
        path = tf.constant("words.txt", name="path")
        weight = tf.Variable(2.0, name="weight")
        y = tf.multiply(weight, x, name="y")
        initializer = tf.group(tf.assign(weight, weight), name="init_all")
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            export = exporter.Exporter(saver)
            export.init(
                graph.as_graph_def(),
                init_op=initializer,
                clear_devices=True,
                default_graph_signature=exporter.regression_signature(x, y),
                named_graph_signatures={"inputs": exporter.generic_signature({"x": x})},
                assets_collection=[path],
            )
            folder = export.export("bundles", tf.constant(7), session)
            found.append([folder.decode(), _files("bundles")])
    session, kinds, _ = describe("bundles/00000007")
    found.append([kinds, _rounded(session.run("y:0", {"x:0": [1.0, 2.0]})), session.run("path:0").decode()])
    return found


def dual_ascent(tf):
    """Linear models trained by stochastic dual coordinate ascent."""
    from tensorflow.contrib.linear_optimizer.python import sdca_estimator

    def input_fn(labels):
        features = {
            "name": tf.constant(["1", "2", "3"]),
            "x": tf.constant([[0.6], [0.8], [0.3]]),
            "weight": tf.constant([[3.0], [1.0], [1.0]]),
        }
        return features, tf.constant(labels)

    found, columns = [], [tf.contrib.layers.real_valued_column("x")]
    config = tf.contrib.learn.RunConfig(tf_random_seed=1)
    given = {"weight_column_name": "weight", "l2_regularization": 0.1, "config": config}
    classifier = sdca_estimator.SDCALogisticClassifier("name", columns, **given)
    classifier.fit(input_fn=lambda: input_fn([[1], [0], [1]]), steps=60)
    found.append(_rounded(classifier.evaluate(input_fn=lambda: input_fn([[1], [0], [1]]), steps=1)["loss"]))
    found.append(_rounded(list(classifier.predict_proba(lambda: input_fn([[1], [0], [1]])))))
    regressor = sdca_estimator.SDCALinearRegressor("name", columns, **given)
    regressor.fit(input_fn=lambda: input_fn([[1.0], [0.5], [2.0]]), steps=60)
    found.append(_rounded(list(regressor.predict_scores(lambda: input_fn([[1.0], [0.5], [2.0]])))))
    return found


def outcomes(tf):
    found, here = {}, os.getcwd()
    for scenario in (dynamic_single, dynamic_multiple, state_saving, models, graph_actions, exports, dual_ascent):
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        try:
            found[scenario.__name__] = scenario(tf)
        finally:
            os.chdir(here)
            shutil.rmtree(folder)
    return found
