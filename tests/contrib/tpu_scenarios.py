"""tf.contrib.tpu on the processor: what TensorFlow 1.15.5 makes of it is in tests/golden/contrib_tpu.json.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from contrib.slim_scenarios import digest


def _model_fn(tf, seen):
    tpu = tf.contrib.tpu

    def model_fn(features, labels, mode, params):
        seen.append([mode, {key: params[key] for key in sorted(params)}, digest(tf)[0]])
        x = features["x"]
        weights = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        logits = tf.matmul(x, weights)[:, 0]
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tpu.TPUEstimatorSpec(mode, predictions={"y": logits})
        loss = tf.reduce_mean(tf.square(logits - labels))
        if mode == tf.estimator.ModeKeys.EVAL:

            def metric_fn(labels, logits):
                return {"error": tf.metrics.mean_absolute_error(labels, logits)}

            return tpu.TPUEstimatorSpec(mode, loss=loss, eval_metrics=(metric_fn, [labels, logits]))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op, scaffold_fn=tf.train.Scaffold)

    return model_fn


def _input_fn(tf):
    def input_fn(params):
        x = np.arange(16, dtype=np.float32).reshape(8, 2) / 10
        y = x.sum(1) * 2
        data = tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(2)
        return data.batch(params["batch_size"], drop_remainder=True)

    return input_fn


def estimators(tf):
    """A model trained, evaluated and used on the processor."""
    tpu, seen, found = tf.contrib.tpu, [], {}
    config = tpu.RunConfig(
        model_dir="model", save_checkpoints_steps=3, tpu_config=tpu.TPUConfig(iterations_per_loop=2),
        tf_random_seed=1, log_step_count_steps=1,
    )  # fmt: skip
    estimator = tpu.TPUEstimator(
        _model_fn(tf, seen), config=config, params={"own": 3}, use_tpu=False, train_batch_size=4, eval_batch_size=8,
        predict_batch_size=2,
    )  # fmt: skip
    estimator.train(_input_fn(tf), max_steps=3)
    results = estimator.evaluate(_input_fn(tf), steps=2)
    found["results"] = {key: round(float(value), 5) for key, value in sorted(results.items())}
    predictions = estimator.predict(_input_fn(tf))
    found["predictions"] = [round(float(next(predictions)["y"]), 5) for _ in range(3)]
    found["seen"] = seen
    found["weights"] = [round(float(v), 5) for v in estimator.get_variable_value("w")[:, 0]]
    found["files"] = sorted(name for name in tf.gfile.ListDirectory("model") if name.startswith("model"))
    tags = set()
    for name in tf.gfile.Glob("model/events*"):
        for event in tf.train.summary_iterator(name):
            tags.update(str(value.tag) for value in event.summary.value)
    found["tags"] = sorted(tags)
    return found


def _error(call, *args, **kwargs):
    try:
        return repr(call(*args, **kwargs))
    except Exception as error:
        return [type(error).__name__, str(error).partition(" <")[0]]


def refusals(tf):
    """What is refused, and how."""
    tpu, kinds = tf.contrib.tpu, tf.contrib.tpu.InputPipelineConfig
    config = tpu.RunConfig(model_dir="model")

    def model_fn(features, labels, mode, params):
        pass

    def without_params(features):
        pass

    def two(a, b):
        pass

    mode = tf.estimator.ModeKeys.TRAIN
    return [
        _error(tpu.TPUConfig),
        _error(tpu.TPUConfig, "5m", 8, per_host_input_for_training=kinds.PER_HOST_V2),
        _error(tpu.TPUConfig, 0),
        _error(tpu.TPUConfig, "5x"),
        _error(tpu.TPUConfig, 1, num_shards=0),
        _error(tpu.TPUConfig, 1, num_shards="a"),
        _error(tpu.TPUConfig, 1, num_cores_per_replica=3),
        _error(tpu.TPUConfig, 1, input_partition_dims=[1, 2, 3]),
        _error(tpu.TPUConfig, 1, input_partition_dims=[[1]], per_host_input_for_training=kinds.PER_HOST_V1),
        _error(tpu.TPUConfig, 1, eval_training_input_configuration=kinds.BROADCAST),
        _error(tpu.RunConfig, master="a", cluster=object()),
        [config.master, config.evaluation_master, config.tpu_config.iterations_per_loop],
        config.replace(tpu_config=tpu.TPUConfig(7)).tpu_config.iterations_per_loop,
        config.replace(save_checkpoints_steps=4).tpu_config.iterations_per_loop,
        _error(tpu.TPUEstimator, model_fn),
        _error(tpu.TPUEstimator, model_fn, config=config),
        _error(tpu.TPUEstimator, model_fn, config=config, train_batch_size=0),
        _error(tpu.TPUEstimator, model_fn, config=config, params={"batch_size": 1}, use_tpu=False),
        _error(tpu.TPUEstimatorSpec, mode, eval_metrics=3),
        _error(tpu.TPUEstimatorSpec, mode, eval_metrics=[1]),
        _error(tpu.TPUEstimatorSpec, mode, eval_metrics=(1, 2)),
        _error(tpu.TPUEstimatorSpec, mode, host_call=(two, 2)),
        _error(tpu.TPUEstimatorSpec, mode, host_call=(two, [2])),
        _error(tpu.TPUEstimatorSpec, mode, training_hooks=[3]),
        _error(tpu.CrossShardOptimizer, None, reduction="none"),
        sorted(key for key in vars(kinds) if key.isupper()),
    ]


def outcomes(tf):
    """{name: what TensorFlow, or stillflow, makes of it}."""
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    folder, before = tempfile.mkdtemp(), str(Path.cwd())
    os.chdir(folder)
    try:
        for function in (estimators, refusals):
            found[function.__name__] = function(tf)
    finally:
        os.chdir(before)
        shutil.rmtree(folder)
    return found
