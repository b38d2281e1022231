"""Programs with Estimators: what they log, write and return in TensorFlow 1.15.5 is in tests/golden/estimators.json.

Runs in Python 3.7, too, where tools/record_golden.py records it. Each is a function of tf and of an empty folder.
Numbers are small fractions of powers of two, of which no sum or product is rounded.
"""

import json
import os
import re

import numpy as np
from training_loop import scenarios as loops
from training_loop.scenarios import caught

XS = np.array(
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.0, 2.0], [1.0, 2.0], [2.0, 2.0], [0.0, 0.0]], np.float32
)
YS = XS.sum(1, keepdims=True)


def _model(tf, rate=0.125, **more):
    """A model function of a linear model, with what `more` makes of (mode, predictions, loss) besides."""

    def model_fn(features, labels, mode, params):
        weights = tf.get_variable("weights", [2, 1], initializer=tf.zeros_initializer())
        predictions = tf.matmul(features["x"], weights, name="predictions")
        spec = {"predictions": {"y": predictions, "twice": 2.0 * predictions}}
        if mode != tf.estimator.ModeKeys.PREDICT:
            spec["loss"] = tf.reduce_mean(tf.abs(predictions - labels))
            optimizer = tf.train.GradientDescentOptimizer(params["rate"])
            spec["train_op"] = optimizer.minimize(spec["loss"], global_step=tf.train.get_global_step())
        for key, function in more.items():
            spec[key] = function(mode, predictions, spec.get("loss"))
        return tf.estimator.EstimatorSpec(mode, **spec)

    return model_fn


def _input(tf, epochs=1, labels=True):
    def input_fn():
        data = ({"x": XS}, YS) if labels else {"x": XS}
        return tf.data.Dataset.from_tensor_slices(data).repeat(epochs).batch(4)

    return input_fn


def _estimator(tf, folder, model_fn=None, **settings):
    settings.setdefault("save_checkpoints_steps", 4)
    settings.setdefault("log_step_count_steps", 2)
    config = tf.estimator.RunConfig(tf_random_seed=1, **settings)
    return tf.estimator.Estimator(model_fn or _model(tf), folder, config, params={"rate": 0.125})


# ---- Train, evaluate, predict -------------------------------------------------------------------------------------


def trained_evaluated_and_predicted(tf, folder):
    estimator = _estimator(tf, folder)
    returned = [estimator.train(_input(tf, 3)) is estimator]
    returned += [estimator.evaluate(_input(tf)), estimator.evaluate(_input(tf), steps=1, name="short")]
    returned += [list(estimator.predict(_input(tf, labels=False)))[5:]]
    returned += [list(estimator.predict(_input(tf, labels=False), ["twice"], yield_single_examples=False))]
    returned += [estimator.get_variable_names(), estimator.get_variable_value("weights")]
    returned += [os.path.basename(estimator.latest_checkpoint()), estimator.eval_dir(), estimator.eval_dir("short")]
    return returned


def trained_again_from_the_beginning_of_the_input(tf, folder):
    """Also where the last checkpoint was written before it was known that the input has ended there."""
    estimator = _estimator(tf, folder)
    losses = []

    class Losses(tf.train.SessionRunHook):
        def before_run(self, context):
            return tf.train.SessionRunArgs("IteratorGetNext:1")

        def after_run(self, context, values):
            losses.append(values.results.ravel().tolist())

    for epochs in (2, 1, 1):
        estimator.train(_input(tf, epochs), hooks=[Losses()])
        losses.append(estimator.get_variable_value("global_step"))
    estimator.train(_input(tf), hooks=[Losses()], steps=1)
    estimator.train(_input(tf), hooks=[Losses()], max_steps=10)
    estimator.train(_input(tf), hooks=[Losses()], max_steps=10)
    return losses


def untrained(tf, folder):
    estimator = _estimator(tf, folder)
    return [
        estimator.evaluate(_input(tf), 1),
        next(estimator.predict(_input(tf, labels=False))),
        caught(lambda: estimator.get_variable_value("weights")),
        caught(estimator.get_variable_names),
        caught(estimator.latest_checkpoint),
        caught(lambda: estimator.export_saved_model(folder + "/export", lambda: None)),
        caught(lambda: estimator.export_saved_model(folder + "/export", None)),
    ]


def steps_that_are_none(tf, folder):
    estimator = _estimator(tf, folder)
    return [
        caught(lambda: estimator.train(_input(tf), steps=1, max_steps=1)),
        caught(lambda: estimator.train(_input(tf), steps=0)),
        caught(lambda: estimator.train(_input(tf), max_steps=-1)),
        caught(lambda: estimator.train(_input(tf), hooks=["hook"])),
        caught(lambda: estimator.train(_input(tf), steps=1, saving_listeners=["listener"])),
        caught(lambda: estimator.evaluate(_input(tf), steps=0)),
        caught(lambda: estimator.evaluate(_input(tf), hooks=[1])),
        caught(lambda: next(estimator.predict(_input(tf), hooks=[1]))),
        caught(lambda: next(estimator.predict(_input(tf), ["other"]))),
    ]


def without_input(tf, folder):
    estimator = _estimator(tf, folder)
    estimator.train(lambda: _input(tf)().take(0))
    return list(estimator.predict(lambda: _input(tf, labels=False)().take(0)))


def tensors_as_input(tf, folder):
    def input_fn(mode, params, config):
        tf.logging.info("%s %s %s", mode, params, config.tf_random_seed)
        return {"x": tf.constant(XS)}, tf.constant(YS)

    estimator = _estimator(tf, folder)
    estimator.train(input_fn, steps=3)
    forever = estimator.predict(input_fn)
    return [estimator.evaluate(input_fn, steps=2), [next(forever) for _ in range(10)][9]]


def all_kinds_of_hooks(tf, folder):
    calls = []

    def hooks(name):
        return lambda mode, predictions, loss: [loops._recorder(tf, name, calls)]

    model = _model(
        tf,
        training_hooks=hooks("training"),
        training_chief_hooks=hooks("chief"),
        evaluation_hooks=hooks("eval"),
        prediction_hooks=hooks("predict"),
    )

    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            calls.append("listener.begin")

        def before_save(self, session, global_step_value):
            calls.append("before_save {}".format(global_step_value))

        def after_save(self, session, global_step_value):
            calls.append("after_save {}".format(global_step_value))
            return global_step_value >= 4

        def end(self, session, global_step_value):
            calls.append("listener.end {}".format(global_step_value))

    estimator = _estimator(tf, folder, model)
    own = loops._recorder(tf, "own", calls)
    estimator.train(_input(tf, 4), hooks=[own], saving_listeners=[Listener()])
    estimator.evaluate(_input(tf), hooks=[own])
    list(estimator.predict(_input(tf, labels=False), hooks=[own]))
    nothing_saved = _estimator(tf, folder + "/other", save_checkpoints_steps=None, save_checkpoints_secs=None)
    calls.append(caught(lambda: nothing_saved.train(_input(tf), saving_listeners=[Listener()])))
    nothing_saved.train(_input(tf))
    return calls


def metrics_of_all_kinds(tf, folder):
    def metrics(mode, predictions, loss):
        def counted(value, name):
            total = tf.Variable(value, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES], name=name)
            with tf.control_dependencies([loss]):
                return total, tf.assign_add(total, value)

        text = tf.summary.text("text", tf.constant("a"), collections=[])
        return {
            "integer": counted(3, "a"),
            "array": counted([0.5, 1.0], "b"),
            "summary": (text, tf.no_op()),
            "no_summary": (tf.constant(b"\xff\xff"), tf.no_op()),
            "truth": (tf.constant(True), tf.no_op()),
        }

    estimator = _estimator(tf, folder, _model(tf, eval_metric_ops=metrics))
    results = estimator.evaluate(_input(tf))
    found = [sorted((key, value) for key, value in results.items() if key != "summary")]
    for name in ("loss", "global_step"):
        bad = _model(tf, eval_metric_ops=lambda *_: {name: (tf.constant(0.0), tf.no_op())})
        found.append(caught(lambda: _estimator(tf, folder, bad).evaluate(_input(tf))))
    return found


def added_metrics(tf, folder):
    def metric_fn(features, labels, predictions, config):
        return {"most": (tf.reduce_max(labels), tf.identity(predictions["y"]).op)}

    estimator = _estimator(tf, folder)
    estimator.train(_input(tf))
    more = tf.estimator.add_metrics(estimator, metric_fn)
    return [more.evaluate(lambda: {"x": tf.constant(XS)} and ({"x": tf.constant(XS)}, tf.constant(YS)), 2)] + [
        caught(lambda: tf.estimator.add_metrics(estimator, lambda features, other: {})).split("<")[0]
    ]


def scaffold_of_a_model(tf, folder):
    def scaffold(mode, predictions, loss):
        table = tf.Variable(3.0, collections=["mine"], name="mine")
        return tf.train.Scaffold(
            local_init_op=table.initializer, init_fn=lambda scaffold, session: tf.logging.info("init")
        )

    estimator = _estimator(tf, folder, _model(tf, scaffold=scaffold))
    estimator.train(_input(tf), steps=1)
    return estimator.evaluate(_input(tf))


def graphs(tf, folder):
    """What the graphs of all three modes are made of."""
    found = []

    class Nodes(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            found.append(loops._nodes(tf.get_default_graph()))
            found.append(
                sorted((k, len(tf.get_collection(k))) for k in tf.get_default_graph().get_all_collection_keys())
            )

    estimator = _estimator(tf, folder)
    estimator.train(_input(tf), hooks=[Nodes()], steps=1)
    estimator.evaluate(_input(tf), hooks=[Nodes()], steps=1)
    list(estimator.predict(_input(tf, labels=False), hooks=[Nodes()]))
    return found


def queues_as_input(tf, folder):
    numpy_input_fn = tf.estimator.inputs.numpy_input_fn
    estimator = _estimator(tf, folder)
    found = []

    class Nodes(tf.train.SessionRunHook):
        def after_create_session(self, session, coord):
            found.append(loops._nodes(tf.get_default_graph()))

    estimator.train(numpy_input_fn({"x": XS}, YS, batch_size=3, num_epochs=2, shuffle=False), hooks=[Nodes()])
    found += [estimator.evaluate(numpy_input_fn({"x": XS}, YS, 3, shuffle=False))]
    found += [estimator.evaluate(numpy_input_fn({"x": XS}, YS, 4, None, False), steps=5)]
    found += [len(list(estimator.predict(numpy_input_fn({"x": XS}, batch_size=3, shuffle=False))))]
    found += [sorted(p["y"].tolist() for p in estimator.predict(numpy_input_fn({"x": XS}, shuffle=True)))]
    return found


def queues_of_arrays(tf, folder):
    numpy_input_fn = tf.estimator.inputs.numpy_input_fn

    def batches(*args, **kwargs):
        with tf.Graph().as_default():
            result = numpy_input_fn(*args, **kwargs)()
            found = []
            with tf.train.MonitoredSession() as session:
                while not session.should_stop():
                    found.append(session.run(result))
            return loops.plain(found)

    a, b = np.arange(5), np.arange(10).reshape(5, 2)
    return [
        batches(a, batch_size=2, shuffle=False),
        batches({"b": b, "a": a}, a, 2, 2, False),
        batches({"a": a}, {"c": b, "d": a}, 4, 1, False),
        batches(a, np.array([b"v", b"w", b"x", b"y", b"z"]), 3, shuffle=False),
        caught(lambda: numpy_input_fn(a)),
        caught(lambda: numpy_input_fn({}, shuffle=False)()),
        caught(lambda: numpy_input_fn(np.array([]), shuffle=False)()),
        caught(lambda: numpy_input_fn([1], shuffle=False)()),
        caught(lambda: numpy_input_fn({"a": a}, {}, shuffle=False)()),
        caught(lambda: numpy_input_fn({"a": a}, {"a": a}, shuffle=False)()),
        caught(lambda: numpy_input_fn({"a": a}, np.arange(3), shuffle=False)()),
        caught(lambda: numpy_input_fn({"a": a}, {"b": np.arange(3)}, shuffle=False)()),
        caught(lambda: numpy_input_fn(a, np.arange(3), shuffle=False)()),
    ]


# ---- What an Estimator is made of ---------------------------------------------------------------------------------


def specs(tf, folder):
    mode, spec = tf.estimator.ModeKeys, tf.estimator.EstimatorSpec
    with tf.Graph().as_default():
        elsewhere = tf.constant(1.0, name="elsewhere")
    with tf.Graph().as_default():
        loss = tf.constant(1.0, name="loss")
        train_op = tf.no_op(name="train")
        variable = tf.get_variable("v", initializer=1.0)
        output = tf.estimator.export.PredictOutput
        good = spec(mode.TRAIN, loss=loss, train_op=variable)
        predicting = spec(mode.PREDICT, predictions=loss)
        return [
            [mode.TRAIN, mode.EVAL, mode.PREDICT],
            [type(good.train_op).__name__, good.predictions, good.export_outputs, good._fields],
            spec(mode.TRAIN, loss=tf.constant([1.0]), train_op=train_op).loss.shape.as_list(),
            sorted(predicting.export_outputs),
            caught(lambda: sorted(spec(mode.PREDICT, loss, export_outputs={"a": output(loss)}).export_outputs)),
            caught(lambda: spec(mode.TRAIN, loss=loss)),
            caught(lambda: spec(mode.TRAIN, loss=loss, train_op="op")),
            caught(lambda: spec(mode.TRAIN, loss=loss, train_op=elsewhere)),
            caught(lambda: spec(mode.EVAL)),
            caught(lambda: spec(mode.EVAL, loss=1.0)),
            caught(lambda: spec(mode.EVAL, loss=tf.constant([1.0, 2.0], name="vector"))),
            caught(lambda: spec(mode.EVAL, loss=elsewhere)),
            caught(lambda: spec(mode.PREDICT)),
            caught(lambda: spec(mode.PREDICT, predictions=1.0)),
            caught(lambda: spec(mode.PREDICT, predictions={"a": 1.0})),
            caught(lambda: spec(mode.PREDICT, predictions=elsewhere)),
            caught(lambda: spec(mode.PREDICT, predictions={"a": elsewhere})),
            caught(lambda: spec(mode.EVAL, loss=loss, eval_metric_ops=[1])),
            caught(lambda: spec(mode.EVAL, loss=loss, eval_metric_ops={"a": loss}))
            .replace("Tensor(", "<")
            .split("<")[0],
            caught(lambda: spec(mode.EVAL, loss=loss, eval_metric_ops={"a": (loss, elsewhere)})),
            caught(lambda: spec(mode.EVAL, loss=loss, training_hooks=["a"])),
            caught(lambda: spec(mode.EVAL, loss=loss, scaffold="a")),
            caught(lambda: spec(mode.PREDICT, loss, export_outputs="a")),
            caught(lambda: spec(mode.PREDICT, loss, export_outputs={"a": 1})),
            caught(lambda: spec(mode.PREDICT, loss, export_outputs={"a": output(loss), "b": output(loss)})),
            caught(lambda: good._replace(mode=mode.EVAL)),
            good._replace(loss=loss).loss is loss,
        ]


def model_functions(tf, folder):
    make = tf.estimator.Estimator

    def estimator(model_fn, **kwargs):
        return caught(lambda: type(make(model_fn, folder, **kwargs)).__name__).replace("<", ">").split(">")[0]

    class Object:
        def method(self, features, mode):
            pass

        def __call__(self, features, labels, mode, params):
            pass

    class Overrides(make):
        def train(self):
            pass

    def returns_none(features, labels):
        return None

    def no_labels(features):
        return None

    return [
        estimator(None),
        estimator(lambda mode: None),
        estimator(lambda features, other: None),
        estimator(lambda features: None, params={"a": 1}),
        estimator(lambda features, params: None),
        estimator(Object().method),
        estimator(Object(), params={}),
        caught(lambda: Overrides(no_labels, folder)).split("<")[0],
        caught(lambda: make(no_labels, folder, config="config")),
        caught(lambda: make(no_labels, folder, tf.estimator.RunConfig(folder + "/other"))),
        caught(lambda: make(no_labels, folder, warm_start_from=3)),
        caught(lambda: make(no_labels, folder).train(_input(tf))),
        caught(lambda: make(returns_none, folder).train(_input(tf))),
        caught(lambda: make(no_labels, folder).train(lambda: (1, 2, 3))),
        caught(lambda: make(no_labels, folder, params=None).params),
    ]


def calls_of_logit_functions(tf, folder):
    call = tf.estimator.experimental.call_logit_fn
    one = tf.constant(1.0)
    return [
        call(lambda features: one, {}, "mode", {}, None) is one,
        call(lambda features, mode, params, config: {mode + params + config: one}, {}, "a", "b", "c")["abc"] is one,
        caught(lambda: call(lambda features: 1, {}, "a", "b", "c")),
        caught(lambda: call(lambda features: {1: one}, {}, "a", "b", "c")).split("{")[0],
    ]


def run_configs(tf, folder):
    config = tf.estimator.RunConfig
    default = config()

    def shown(made):
        text = str(vars(made)).replace("tensorflow.python.training.server_lib", "stillflow.training.cluster")
        return re.sub("0x[0-9a-f]+", "ADDRESS", text)

    names = sorted(n for n in dir(default) if not n.startswith("_") and n not in ("replace",))
    steps = config(save_checkpoints_steps=5)
    return [
        shown(default),
        shown(config(folder, 3, 4, 5, None, tf.ConfigProto(log_device_placement=True), 6, 7, 8)),
        [(name, str(getattr(default, name))) for name in names if name != "session_config"],
        [steps.save_checkpoints_steps, steps.save_checkpoints_secs],
        [
            (c.save_checkpoints_steps, c.save_checkpoints_secs)
            for c in (
                steps.replace(save_checkpoints_secs=3),
                steps.replace(save_checkpoints_steps=None),
                config(save_checkpoints_secs=None),
                config(save_checkpoints_steps=None),
            )
        ],
        caught(lambda: config(save_checkpoints_steps=1, save_checkpoints_secs=1)),
        caught(lambda: default.replace(save_checkpoints_steps=1, save_checkpoints_secs=1)),
        caught(lambda: default.replace(master="a")),
        caught(lambda: default.replace(some="a")),
        caught(lambda: config("")),
    ] + [
        caught(lambda: config(**{name: value}))
        for name, value in (
            ("save_summary_steps", -1),
            ("save_checkpoints_steps", -1),
            ("save_checkpoints_secs", -1),
            ("session_config", 1),
            ("keep_checkpoint_max", -1),
            ("keep_checkpoint_every_n_hours", 0),
            ("log_step_count_steps", 0),
            ("tf_random_seed", 1.0),
            ("experimental_max_worker_delay_secs", 1.0),
            ("session_creation_timeout_secs", 0),
            ("device_fn", 1),
            ("device_fn", lambda other: "/cpu:0"),
            ("protocol", "http"),
        )
    ]


def _in_cluster(tf, folder, environment):
    os.environ["TF_CONFIG"] = environment if isinstance(environment, str) else json.dumps(environment)
    try:
        config = tf.estimator.RunConfig()
        shown = {key: str(value) for key, value in vars(config).items() if key not in ("_session_config",)}
        filters = list(config.session_config.device_filters) if config.session_config else None
        return "returns " + repr([list(shown.items())[15:], config.model_dir, filters])
    except Exception as error:
        return "{}: {}".format(type(error).__name__, error)
    finally:
        del os.environ["TF_CONFIG"]


def run_configs_in_clusters(tf, folder):
    cluster = {"chief": ["h0:1"], "ps": ["h1:1", "h2:1"], "worker": ["h3:1", "h4:1", "h5:1"]}
    master = {"master": ["h0:1"], "ps": ["h1:1"], "worker": ["h3:1", "h4:1"]}
    environments = [
        {"cluster": cluster, "task": {"type": kind, "index": index}}
        for kind, index in (
            ("chief", 0),
            ("ps", 1),
            ("worker", 2),
            ("worker", "1"),
            ("evaluator", 0),
            ("worker", 3),
            ("worker", -1),
            ("other", 0),
            ("", 0),
        )
    ]
    environments += [
        {"cluster": master, "task": {"type": kind, "index": 0}} for kind in ("master", "ps", "worker", "evaluator")
    ]
    environments += [
        {"cluster": cluster},
        {"cluster": cluster, "task": {"type": "worker"}},
        {"cluster": {"worker": ["h:1"]}},
        {"cluster": {"chief": ["h:1", "i:1"]}},
        {"cluster": {"chief": ["h:1"]}, "task": {"type": "chief", "index": 0}},
        {"cluster": dict(cluster, master=["h:1"]), "task": {"type": "chief", "index": 0}},
        {"task": {"type": "chief"}},
        {"task": {"index": 1}},
        {"task": {"type": "worker", "index": 0}},
        {"service": 1},
        {"service": {"a": 1}},
        {"model_dir": ""},
        {"model_dir": "/some"},
        {"session_master": "m", "eval_session_master": "e"},
        {
            "session_master": "m",
            "eval_session_master": "e",
            "cluster": cluster,
            "task": {"type": "evaluator", "index": 0},
        },
        {"session_master": "m", "cluster": cluster, "task": {"type": "worker", "index": 0}},
    ]
    found = [_in_cluster(tf, folder, environment) for environment in environments]
    os.environ["TF_CONFIG"] = json.dumps({"model_dir": "/some"})
    try:
        return found + [caught(lambda: tf.estimator.RunConfig("/other")), tf.estimator.RunConfig("/some").model_dir]
    finally:
        del os.environ["TF_CONFIG"]


def warm_starts(tf, folder):
    settings = tf.estimator.WarmStartSettings
    first = _estimator(tf, folder + "/first")
    first.train(_input(tf, 2))
    found = [repr(settings("a")), caught(lambda: settings(""))]
    for number, source in enumerate((folder + "/first", settings(folder + "/first", "nothing"))):
        config = tf.estimator.RunConfig(folder + "/{}".format(number), tf_random_seed=1)
        second = tf.estimator.Estimator(_model(tf), config=config, params={"rate": 0.0}, warm_start_from=source)
        found.append(second.evaluate(_input(tf)))
        second.train(_input(tf))
        found.append(second.get_variable_value("weights"))
    return found


# ---- Train and evaluate -------------------------------------------------------------------------------------------


def _serving(tf):
    spec = {"x": tf.FixedLenFeature([2], tf.float32)}
    return tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)


def trained_and_evaluated(tf, folder):
    estimator = _estimator(tf, folder)
    train_spec = tf.estimator.TrainSpec(_input(tf, 10), max_steps=14)
    exporters = [tf.estimator.FinalExporter("final", _serving(tf))]
    eval_spec = tf.estimator.EvalSpec(_input(tf), steps=None, exporters=exporters, throttle_secs=0)
    metrics, exports = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    again = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
    return [metrics, [os.path.dirname(path) for path in exports], again]


def evaluated_seldom(tf, folder):
    estimator = _estimator(tf, folder)
    eval_spec = tf.estimator.EvalSpec(_input(tf), name="seldom", throttle_secs=1000)
    return tf.estimator.train_and_evaluate(estimator, tf.estimator.TrainSpec(_input(tf, 10), 14), eval_spec)


def exporters_of_all_kinds(tf, folder):
    estimator = _estimator(tf, folder)
    estimator.train(_input(tf, 2))
    path = estimator.latest_checkpoint()
    final = tf.estimator.FinalExporter("final", _serving(tf), {"a/b": path + ".index"}, as_text=True)
    latest = tf.estimator.LatestExporter("latest", _serving(tf), exports_to_keep=2)
    best = tf.estimator.BestExporter(serving_input_receiver_fn=_serving(tf), exports_to_keep=1)

    def export(exporter, loss, is_final=False):
        target = folder + "/" + exporter.name
        result = exporter.export(estimator, target, path, {"loss": loss}, is_final)
        return result is not None

    for number in (1000000000, 1000000001, 1000000002):
        for name in ("latest", "best_exporter"):
            tf.gfile.MakeDirs("{}/{}/{}".format(folder, name, number))
    tf.gfile.MakeDirs(folder + "/latest/other")
    estimator.evaluate(_input(tf))
    best_exporter, compares = tf.estimator.BestExporter, lambda best_eval_result, current_eval_result: True
    return [
        [export(final, 1.0), export(final, 1.0, True), export(latest, 1.0)],
        [export(best, 100.0), export(best, 0.0), export(best, 0.0)],
        [final.name, latest.name, best.name],
        caught(lambda: export(best, "no")).split(" ")[0],
        caught(lambda: tf.estimator.LatestExporter("a", None, exports_to_keep=0)),
        caught(lambda: best_exporter(exports_to_keep=0)),
        caught(lambda: best_exporter(compare_fn=None)),
        caught(lambda: best_exporter(compare_fn=compares).name),
        caught(lambda: best_exporter(compare_fn=lambda best_eval_result: 1)).split("<")[0],
        caught(lambda: best_exporter(compare_fn=lambda current_eval_result: 1)).split("<")[0],
        caught(lambda: best_exporter(compare_fn=lambda best_eval_result, current_eval_result, x: 1)).split("<")[0],
    ]


def train_and_eval_specs(tf, folder):
    train, evaluate, final = tf.estimator.TrainSpec, tf.estimator.EvalSpec, tf.estimator.FinalExporter
    hook = tf.train.StopAtStepHook(1)
    return [
        list(train(len, 3, [hook]))[1:] == [3, (hook,)],
        list(evaluate(len))[1:],
        caught(lambda: train(1)),
        caught(lambda: train(len, 0)),
        caught(lambda: train(len, hooks=[1])),
        caught(lambda: evaluate(1)),
        caught(lambda: evaluate(len, 0)),
        caught(lambda: evaluate(len, name=1)),
        caught(lambda: evaluate(len, hooks=[1])),
        caught(lambda: evaluate(len, start_delay_secs=-1)),
        caught(lambda: evaluate(len, throttle_secs=-1)),
        caught(lambda: evaluate(len, exporters=1)),
        caught(lambda: evaluate(len, exporters=["a"])),
        caught(lambda: evaluate(len, exporters=[final("", len)])),
        caught(lambda: evaluate(len, exporters=[final(1, len)])),
        caught(lambda: evaluate(len, exporters=[final("a", len), final("a", len)])),
        caught(lambda: len(evaluate(len, exporters=final("a", len)).exporters)),
        caught(lambda: tf.estimator.train_and_evaluate(1, train(len), evaluate(len))),
        caught(lambda: tf.estimator.train_and_evaluate(_estimator(tf, folder), 1, evaluate(len))),
        caught(lambda: tf.estimator.train_and_evaluate(_estimator(tf, folder), train(len), 1)),
    ]


# ---- Export -------------------------------------------------------------------------------------------------------


def _text(signature):
    """A SignatureDef; the order in which messages print maps varies."""
    infos = [
        sorted((name, str(info)) for name, info in each.items()) for each in (signature.inputs, signature.outputs)
    ]
    return [*infos, signature.method_name]


def _signatures(tf, path):
    """The signatures of a SavedModel as text, and the nodes of its graphs."""
    path = path.decode()
    found = []
    for tags in (["serve"], ["train"], ["eval"]):
        with tf.Graph().as_default(), tf.Session() as session:
            try:
                meta = tf.saved_model.loader.load(session, tags, path)
            except RuntimeError:
                continue
            text = [_text(meta.signature_def[name]) for name in sorted(meta.signature_def)]
            collections = sorted((key, str(meta.collection_def[key].node_list)) for key in meta.collection_def)
            found.append([tags, sorted(meta.signature_def), text, loops._nodes(tf.get_default_graph()), collections])
    return found


def exported(tf, folder):
    def outputs(mode, predictions, loss):
        export = tf.estimator.export
        names = tf.fill(tf.shape(predictions), "class")
        return {
            "serving_default": export.PredictOutput({"y": predictions}),
            "regress": export.RegressionOutput(predictions),
            "classify": export.ClassificationOutput(scores=predictions, classes=names),
        }

    estimator = _estimator(tf, folder, _model(tf, export_outputs=outputs))
    estimator.train(_input(tf, 2))
    features = {"x": tf.placeholder(tf.float32, [None, 2], name="fed")}
    raw = tf.estimator.export.build_raw_serving_input_receiver_fn(features, 4)
    extra = {"some/extra": estimator.latest_checkpoint() + ".index"}

    def alternatives():
        receiver = _serving(tf)()
        return tf.estimator.export.ServingInputReceiver(
            receiver.features, receiver.receiver_tensors, {"raw": receiver.features, None: receiver.features["x"]}
        )

    return [
        _signatures(tf, estimator.export_saved_model(folder + "/parsing", _serving(tf), extra)),
        _signatures(tf, estimator.export_savedmodel(folder + "/raw", raw, as_text=True)),
        _signatures(tf, estimator.export_saved_model(folder + "/alternatives", alternatives)),
    ]


def exported_in_all_modes(tf, folder):
    def metrics(mode, predictions, loss):
        total = tf.Variable(0.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="total")
        update = tf.assign_add(total, 1.0)
        return {"total": (tf.identity(total), update.op if mode == tf.estimator.ModeKeys.TRAIN else update)}

    estimator = _estimator(tf, folder, _model(tf, eval_metric_ops=metrics))
    estimator.train(_input(tf, 2))
    x = tf.placeholder(tf.float32, [None, 2], name="fed")
    y = tf.placeholder(tf.float32, [None, 1], name="labels")
    supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn
    mode = tf.estimator.ModeKeys
    receivers = {
        mode.TRAIN: supervised({"x": x}, y),
        mode.EVAL: supervised({"x": x}, {"y": y}, 4),
        mode.PREDICT: _serving(tf),
    }
    return [
        _signatures(
            tf,
            estimator.experimental_export_all_saved_models(
                folder + "/all", {mode.TRAIN: receivers[mode.TRAIN], mode.PREDICT: receivers[mode.PREDICT]}
            ),
        ),
        caught(lambda: estimator.experimental_export_all_saved_models(folder + "/none", {})),
        caught(lambda: supervised({"x": x}, {"x": x})),
        caught(lambda: estimator.export_saved_model(folder + "/bad", receivers[mode.TRAIN], experimental_mode="x")),
    ]


def export_outputs(tf, folder):
    export = tf.estimator.export
    number, text = tf.constant([1.0]), tf.constant(["a"])
    predict, regress, classify = export.PredictOutput, export.RegressionOutput, export.ClassificationOutput
    examples = {"examples": tf.placeholder(tf.string, name="examples")}
    return [
        sorted(predict(number).outputs),
        sorted(predict({"a": number, ("b", "c"): text}).outputs),
        caught(lambda: predict({1: number})),
        caught(lambda: predict({"a": 1})),
        caught(lambda: predict(1)),
        caught(lambda: regress(1)),
        caught(lambda: regress(text)).split("Tensor(")[0],
        caught(lambda: classify()),
        caught(lambda: classify(1)),
        caught(lambda: classify(number, 1)),
        caught(lambda: classify(number, number)).split("Tensor(")[0],
        _text(classify(number, text).as_signature_def(examples)),
        _text(classify(classes=text).as_signature_def(examples)),
        _text(regress(number).as_signature_def(examples)),
        _text(predict(number).as_signature_def(examples)),
        caught(lambda: regress(number).as_signature_def({"a": 1, "b": 2})),
        caught(lambda: regress(number).as_signature_def({"a": number})).split("{")[0],
        caught(lambda: classify(number).as_signature_def({})),
        [
            classify(number, text).scores is number,
            classify(number, text).classes is text,
            regress(number).value is number,
        ],
    ]


def receivers(tf, folder):
    export = tf.estimator.export
    one = tf.constant([[1.0]], name="one")
    sparse = tf.SparseTensor([[0]], [1.0], [1])

    def fields(receiver):
        return [
            sorted(map(str, receiver.features)) if isinstance(receiver.features, dict) else receiver.features.name,
            sorted(receiver.receiver_tensors),
            sorted(receiver.receiver_tensors_alternatives or {}),
        ]

    serving, tensor = export.ServingInputReceiver, export.TensorServingInputReceiver
    return [
        fields(serving({"a": one, "s": sparse}, {"b": one}, {"c": {"d": one}, "e": one})),
        fields(serving(one, one)),
        fields(serving({1: one}, one)),
        fields(tensor(one, one)),
        fields(tensor(one, {"a": one}, {"b": one})),
        caught(lambda: serving(None, one)),
        caught(lambda: serving(one, None)),
        caught(lambda: serving({"a": 1}, one)),
        caught(lambda: serving({1.5: one}, one)),
        caught(lambda: serving(one, {1: one})),
        caught(lambda: serving(one, {"a": 1})),
        caught(lambda: serving(one, one, [one])),
        caught(lambda: serving(one, one, {"a": {"b": 1}})),
        caught(lambda: serving(one, one, {"a": {1: one}})),
        caught(lambda: tensor(None, one)),
        caught(lambda: tensor({"a": one}, one)),
        caught(lambda: tensor(1, one)),
    ]


# ---- Experimental -------------------------------------------------------------------------------------------------


def stopped_early(tf, folder):
    experimental = tf.estimator.experimental
    estimator = _estimator(tf, folder)
    with tf.summary.FileWriter(estimator.eval_dir()) as writer:
        for step, value in ((0, 5.0), (10, 4.0), (20, 4.5), (30, 6.0)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)]), step)
    hooks = {
        "higher": experimental.stop_if_higher_hook(estimator, "loss", 5.5, run_every_secs=None, run_every_steps=2),
        "not higher": experimental.stop_if_higher_hook(estimator, "loss", 7, run_every_secs=None, run_every_steps=2),
        "lower": experimental.stop_if_lower_hook(
            estimator, "loss", 4.6, min_steps=15, run_every_secs=None, run_every_steps=2
        ),
        "no increase": experimental.stop_if_no_increase_hook(
            estimator, "loss", 20, run_every_secs=None, run_every_steps=2
        ),
        "no decrease": experimental.stop_if_no_decrease_hook(
            estimator, "loss", 15, run_every_secs=None, run_every_steps=2
        ),
        "not no decrease": experimental.stop_if_no_decrease_hook(
            estimator, "loss", 25, run_every_secs=None, run_every_steps=2
        ),
        "own": experimental.make_early_stopping_hook(estimator, lambda: True, run_every_secs=None, run_every_steps=1),
        "step": experimental.make_stop_at_checkpoint_step_hook(estimator, 2),
    }
    found = []
    for name in sorted(hooks):
        made = _estimator(tf, folder + "/" + name.replace(" ", "_"))
        made.train(_input(tf, 3), hooks=[hooks[name]])
        found.append([name, made.get_variable_value("global_step"), made.get_variable_names()])
    make = experimental.make_early_stopping_hook
    return found + [
        caught(lambda: make(1, len)),
        caught(lambda: make(estimator, 1)),
        caught(lambda: make(estimator, len, 1, 1)),
    ]


def evaluated_in_memory(tf, folder):
    estimator = _estimator(tf, folder, save_checkpoints_steps=None, save_checkpoints_secs=None)
    hook = tf.estimator.experimental.InMemoryEvaluatorHook
    estimator.train(_input(tf, 2), hooks=[hook(estimator, _input(tf), every_n_iter=2, name="memory")])
    return caught(lambda: hook(estimator, _input(tf), every_n_iter=0))


def outcome(tf, function):
    """What training_loop.scenarios.outcome says, without the times that exports are called after."""

    def settled(item):
        if isinstance(item, dict):
            return {settled(key): settled(value) for key, value in item.items()}
        if isinstance(item, list):
            return [settled(value) for value in item]
        item = re.sub(r"evaluation at \d{4}-[-0-9T:Z]+", "evaluation at TIME", item)
        return re.sub(r"\b1[5-9]\d{8}\b", "TIME", item)

    return settled(loops.outcome(tf, function))


def scenarios():
    """{name: function} of all."""
    return loops.scenarios(globals())


def outcomes(tf):
    """{name: outcome} of all."""
    return {name: outcome(tf, function) for name, function in sorted(scenarios().items())}
