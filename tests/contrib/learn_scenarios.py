"""tf.contrib.learn: what TensorFlow 1.15.5 makes of it is in tests/golden/contrib_learn.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import pickle
import shutil
import tempfile
from pathlib import Path

import numpy as np

TEXTS = ["the cat sat on the mat", "The CatHouse isn't a DOG-house", "a cat, a dog", ""]


def _rows(rows):
    return [[int(value) for value in row] for row in rows]


def vocabularies(tf):
    """Words and their numbers."""
    preprocessing, found = tf.contrib.learn.preprocessing, []
    for given in ({}, {"min_frequency": 1}, {"tokenizer_fn": lambda texts: (list(t) for t in texts)}):
        processor = preprocessing.VocabularyProcessor(5, **given)
        found.append(_rows(processor.fit_transform(TEXTS)))
        found.append(_rows(processor.transform(["a new cat"])))
        found.append(list(processor.reverse(found[-2])))
        found.append(len(processor.vocabulary_))
    processor.vocabulary_.freeze(False)
    found.append([processor.vocabulary_.get("new"), processor.vocabulary_.add("new"), len(processor.vocabulary_)])
    vocabulary = preprocessing.CategoricalVocabulary("?", support_reverse=False)
    for word, count in (("a", 3), ("b", 5), ("c", 1), ("d", 5)):
        vocabulary.add(word, count)
    vocabulary.trim(1, 5)
    found.append([vocabulary.get("a"), vocabulary.get("c"), len(vocabulary)])
    categories = preprocessing.CategoricalProcessor()
    found.append(_rows(categories.fit_transform([["x", 1], ["y", 2], ["x", float("nan")]])))
    shared = preprocessing.CategoricalProcessor(share=True)
    found.append(_rows(shared.fit_transform([["x", "z"], ["y", "x"]])))
    data = preprocessing.ByteProcessor(6)
    found.append(_rows(data.transform(["abc", "h\u00e4llo"])))
    found.append(list(data.reverse([np.array([97, 98, 0], np.uint8)])))
    found.append([list(tokens) for tokens in preprocessing.tokenizer(TEXTS)])
    return found


def saved(tf):
    """A vocabulary from a file, and what is in the pickle."""
    preprocessing = tf.contrib.learn.preprocessing
    processor = preprocessing.VocabularyProcessor(4)
    processor.fit(TEXTS)
    processor.save("vocabulary")
    again = preprocessing.VocabularyProcessor.restore("vocabulary")
    state = sorted(vars(pickle.loads(Path("vocabulary").read_bytes())))
    return [_rows(again.transform(TEXTS)), sorted(vars(again)), sorted(vars(again.vocabulary_)), state]


def data_sets(tf):
    """Small data sets."""
    datasets, found = tf.contrib.learn.datasets, []
    iris = datasets.load_iris()
    found.append([list(iris.data.shape), iris.data.sum().round(6), iris.data[7].tolist(), iris.target[::30].tolist()])
    assert np.array_equal(datasets.load_dataset("iris").data, iris.data)
    Path("a.csv").write_text("2,2,x\n1,2,0\n3,4,1\n")
    boston = datasets.load_boston("a.csv")
    found.append([boston.data.tolist(), boston.target.tolist()])
    Path("b.csv").write_text("0,a,b\n1,c,d\n0,e,f\n")
    texts = datasets.base.load_csv_without_header("b.csv", np.int32, np.str_, target_column=0)
    found.append([texts.data.tolist(), texts.target.tolist()])
    datasets.base.shrink_csv("b.csv", 2)
    found.append(Path("b_small.csv").read_text().split())
    for name, given in (
        ("circles", {"noise": 0.1, "n_samples": 7, "n_classes": 3}),
        ("spirals", {"n_samples": 9}),
        ("spirals", {"n_samples": 6, "mode": "bernoulli", "exp_scale": 0.2, "noise": 0.5}),
        ("spirals", {"n_samples": 6, "mode": "fermat", "n_loops": 1}),
    ):
        points = datasets.make_dataset(name, seed=3, **given)
        found.append([points.data.round(6).tolist(), points.target.tolist()])
    for call in (
        lambda: datasets.load_dataset("none"),
        lambda: datasets.make_dataset("none"),
        lambda: datasets.synthetic.spirals(mode="none"),
        lambda: datasets.base.retry(1, 2, factor=0.5),
    ):
        try:
            call()
        except ValueError as error:
            found.append(str(error))
    return found


def _linear(tf, features, labels, mode):
    weights = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    predictions = tf.reduce_sum(features * weights, 1)
    if mode == tf.contrib.learn.ModeKeys.INFER:
        return tf.contrib.learn.ModelFnOps(mode, predictions={"y": predictions, "twice": predictions * 2})
    loss = tf.reduce_mean(tf.square(predictions - labels))
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.contrib.learn.ModelFnOps(mode, {"y": predictions}, loss, train_op)


def _tuple(tf, features, labels, mode, params):
    ops = _linear(tf, features, labels, tf.contrib.learn.ModeKeys.TRAIN)
    return ops.predictions["y"] * params["scale"], ops.loss, ops.train_op


def _data():
    x = np.sin(np.arange(24.0)).reshape(12, 2).astype(np.float32)
    return x, (x[:, 0] * 2 - x[:, 1]).astype(np.float32)


def _rounded(results):
    return {key: round(float(value), 4) for key, value in sorted(results.items())}


def estimators(tf):
    """Models trained, evaluated and used by arrays and input functions."""
    learn, found = tf.contrib.learn, []
    x, y = _data()

    def model_fn(features, labels, mode):
        return _linear(tf, features, labels, mode)

    def tuple_fn(features, labels, mode, params):
        return _tuple(tf, features, labels, mode, params)

    config = learn.RunConfig(tf_random_seed=3, num_cores=1)
    estimator = learn.Estimator(model_fn, model_dir="model", config=config)
    try:
        estimator.evaluate(x, y)
    except learn.NotFittedError as error:
        found.append(str(error))
    estimator.fit(x, y, steps=20, batch_size=5)
    metrics = {"error": learn.MetricSpec(tf.contrib.metrics.streaming_mean_absolute_error, "y")}
    found.append(_rounded(estimator.evaluate(x, y, batch_size=4, metrics=metrics)))
    found.append([round(float(row["twice"]), 4) for row in estimator.predict(x[:3])])
    found.append(estimator.predict(x[:3], outputs=["y"], as_iterable=False)["y"].round(4).tolist())
    found.append(sorted(estimator.get_variable_names()))
    found.append(estimator.get_variable_value("w").round(4).tolist())

    def input_fn():
        return tf.constant(x, tf.float32), tf.constant(y)

    estimator.fit(input_fn=input_fn, max_steps=25)
    found.append(_rounded(estimator.evaluate(input_fn=input_fn, steps=2, name="more")))
    found.append(
        [batch["y"].round(4).tolist() for batch in estimator.predict(input_fn=input_fn, iterate_batches=True)]
    )
    compatible = learn.SKCompat(learn.Estimator(tuple_fn, "other", params={"scale": 2.0}))
    compatible.fit(x[:, :1].repeat(2, 1), y, steps=5)
    found.append(_rounded(compatible.score(x, y)))
    found.append(compatible.predict(x[:2]).round(4).tolist())
    for call in (
        lambda: estimator.fit(),
        lambda: estimator.fit(x, y, input_fn=input_fn),
        lambda: estimator.fit(input_fn=input_fn, batch_size=3),
        lambda: estimator.fit(x, y, steps=1, max_steps=2),
        lambda: estimator.evaluate(x, y, metrics=[1]),
        lambda: learn.ModelFnOps("none"),
        lambda: learn.ModelFnOps("train"),
        lambda: learn.ModelFnOps("infer"),
        lambda: learn.MetricSpec(lambda predictions, labels: 1, "a").create_metric_ops({}, 1, 2),
        lambda: learn.MetricSpec(lambda predictions, labels: 1).create_metric_ops({}, 1, {"a": 1, "b": 2}),
    ):
        try:
            call()
        except (ValueError, KeyError) as error:
            found.append(str(error))
    specs = [
        learn.MetricSpec(lambda labels, predictions, weights: [labels, predictions, weights], weight_key="w"),
        learn.MetricSpec(lambda target, logit: [target, logit]),
        learn.MetricSpec(lambda labels, x: [labels, x]),
        learn.MetricSpec(lambda x, labels: [x, labels]),
        learn.MetricSpec(lambda x: [x]),
    ]
    found.append([spec.create_metric_ops({"w": 3}, 1, 2) for spec in specs])
    return found


def _outcome(model, x, y):
    """What a model has learned, and what it says then."""
    model.fit(x=x, y=y, steps=20, batch_size=12)
    names = sorted(model.get_variable_names())
    sums = [round(float(np.sum(model.get_variable_value(name))), 4) for name in names]
    predictions = np.array(list(model.predict(x=x[:3])), np.float64).ravel()
    return [names, sums, _rounded(model.evaluate(x=x, y=y, steps=1)), [round(value, 4) for value in predictions]]


def canned_models(tf):
    """Linear models, deep networks, and both together."""
    learn = tf.contrib.learn
    x, numbers = _data()
    config = learn.RunConfig(tf_random_seed=3, num_cores=1)
    two, three = (numbers > 0).astype(np.int64), np.arange(12) % 3
    columns = [tf.contrib.layers.real_valued_column("", dimension=2)]
    both = {
        "linear_feature_columns": columns,
        "dnn_feature_columns": columns,
        "dnn_hidden_units": [4],
        "config": config,
        "fix_global_step_increment_bug": True,  # else it depends on threads how often the step counts
    }
    adam = tf.train.AdamOptimizer(0.01)
    head = learn.regression_head(link_fn=tf.exp, head_name="mine")
    return [
        _outcome(learn.DNNClassifier([5, 3], columns, n_classes=3, config=config), x, three),
        _outcome(learn.DNNClassifier([5], columns, optimizer=adam, config=config), x, two),
        _outcome(learn.DNNRegressor([5], columns, dropout=0.2, optimizer="SGD", config=config), x, numbers),
        _outcome(learn.LinearClassifier(columns, n_classes=3, config=config), x, three),
        _outcome(learn.LinearClassifier(columns, gradient_clip_norm=2.0, config=config), x, two),
        _outcome(learn.LinearRegressor(columns, config=config), x, numbers),
        _outcome(learn.DNNLinearCombinedClassifier(n_classes=3, **both), x, three),
        _outcome(learn.DNNLinearCombinedRegressor(**both), x, numbers),
        sorted(
            learn.LinearClassifier(columns, enable_centered_bias=True, config=config)
            .fit(x, two, steps=1)
            .get_variable_names()
        ),
        sorted(learn.DNNEstimator(head, [2], columns, config=config).fit(x, numbers, steps=1).get_variable_names()),
    ]


def experiments(tf):
    """Experiments of both kinds of estimators."""
    learn, found = tf.contrib.learn, []
    x, y = _data()

    def input_fn():
        return tf.constant(x, tf.float32), tf.constant(y)

    def model_fn(features, labels, mode):
        return _linear(tf, features, labels, mode)

    def core_fn(features, labels, mode):
        return _linear(tf, features, labels, mode).estimator_spec()

    def experiment_fn(run_config, hparams):
        estimator = learn.Estimator(model_fn, config=run_config)
        return learn.Experiment(
            estimator, input_fn, input_fn, train_steps=6, eval_steps=1, eval_delay_secs=0, check_interval_secs=0,
            eval_metrics={"error": learn.MetricSpec(tf.contrib.metrics.streaming_mean_squared_error, "y")},
            export_strategies=learn.ExportStrategy("x", lambda estimator, path, **_: path[-1:]),
        )  # fmt: skip

    def core_experiment_fn(output_dir):
        estimator = tf.estimator.Estimator(core_fn, output_dir)
        return learn.Experiment(estimator, input_fn, input_fn, train_steps=20, eval_steps=1, eval_delay_secs=0)

    config = learn.RunConfig(model_dir="experiment", tf_random_seed=2, save_checkpoints_steps=2)
    results, exported = learn.learn_runner.run(experiment_fn, run_config=config)
    found.append([_rounded(results), [name.decode() if isinstance(name, bytes) else name for name in exported]])
    results, _ = learn.learn_runner.run(core_experiment_fn, "core")
    found.append(_rounded(results))
    experiment = core_experiment_fn("again")
    found.append(_rounded(experiment.test()))
    results, _ = experiment.continuous_train_and_eval(lambda results: not results or results["global_step"] < 3)
    found.append(sorted(results))
    experiment.train()
    found.append(_rounded(experiment.evaluate()))
    found.append([experiment.train_steps, experiment.eval_steps, experiment.eval_metrics])
    for call in (
        lambda: learn.learn_runner.run(experiment_fn),
        lambda: learn.learn_runner.run(experiment_fn, "a", run_config=config),
        lambda: learn.learn_runner.run(3, "a"),
        lambda: learn.learn_runner.run(lambda output_dir: 3, "a"),
        lambda: learn.learn_runner.run(core_experiment_fn, "a", schedule="fly"),
        lambda: learn.Experiment(3, input_fn, input_fn),
        lambda: learn.Experiment(experiment.estimator, input_fn, input_fn, eval_metrics={}),
        lambda: learn.Experiment(experiment.estimator, input_fn, input_fn, export_strategies=[3]),
    ):
        try:
            call()
        except (ValueError, TypeError) as error:
            found.append(str(error))
    monitor = learn.monitors.ValidationMonitor(
        input_fn=input_fn, eval_steps=1, every_n_steps=1, early_stopping_rounds=3, check_interval_secs=None,
        early_stopping_metric_minimize=False,
    )  # fmt: skip
    config = learn.RunConfig(model_dir="stopped", tf_random_seed=2, save_checkpoints_steps=1)
    learn.Estimator(model_fn, config=config).fit(input_fn=input_fn, monitors=[monitor], max_steps=30)
    found.append([monitor.early_stopped, sorted(monitor.best_metrics)])
    return found


def settings(tf):
    """What RunConfig says."""
    config = tf.contrib.learn.RunConfig(
        model_dir="m", num_cores=2, log_device_placement=True, save_checkpoints_steps=4
    )
    names = (
        "model_dir", "save_checkpoints_steps", "save_checkpoints_secs", "master", "evaluation_master", "is_chief",
        "task_id", "num_ps_replicas", "keep_checkpoint_max", "log_step_count_steps", "environment", "tf_random_seed",
    )  # fmt: skip
    found = [getattr(config, name) for name in names]
    same = tf.contrib.learn.RunConfig(model_dir="m", num_cores=2, log_device_placement=True)
    return [
        found,
        config.tf_config.intra_op_parallelism_threads,
        same.uid() == config.uid(),
        tf.contrib.learn.RunConfig().save_checkpoints_secs,
    ]


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    folder, before = tempfile.mkdtemp(), str(Path.cwd())
    os.chdir(folder)
    try:
        for function in (vocabularies, saved, data_sets, estimators, canned_models, experiments, settings):
            found[function.__name__] = function(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return found
