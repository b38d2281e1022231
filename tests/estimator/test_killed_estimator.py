"""An Estimator that is killed and started again ends with the same bits as one that never stopped."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf

KILLS = int(os.environ.get("STILLFLOW_KILLS", "3"))
STEPS = 160
ROWS = np.random.RandomState(0).randint(20, size=[90, 2]).astype(np.float32)


def model_fn(features, labels, mode):
    """A small net with dropout, of which every step depends on the order of its input."""
    weights = tf.get_variable("weights", [1, 8])
    hidden = tf.nn.dropout(tf.matmul(features["x"], weights), rate=0.3)
    predictions = tf.reduce_sum(hidden, 1, keepdims=True)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.reduce_mean(tf.square(predictions - labels))
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)


def input_fn(epochs=None):
    """Rows in an order that is never the same again."""
    rows = tf.data.Dataset.from_tensor_slices(({"x": ROWS[:, :1]}, ROWS[:, 1:]))
    return rows.shuffle(32).repeat(epochs).batch(8).prefetch(2)


def estimator(folder, save_steps=7):
    config = tf.estimator.RunConfig(tf_random_seed=7, save_checkpoints_steps=save_steps, keep_checkpoint_max=2)
    return tf.estimator.Estimator(model_fn, str(folder), config)


class Report(tf.train.SessionRunHook):
    """Says how far it has got."""

    def after_run(self, run_context, run_values):
        print("step", flush=True)


PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[3])
from estimator.test_killed_estimator import Report, estimator, input_fn

made = estimator(sys.argv[1])
for part in (1, 2):  # the second call begins with a new input, whatever happened in the first one
    made.train(input_fn, max_steps=int(sys.argv[2]) * part // 2, hooks=[Report()])
values = [made.get_variable_value(name) for name in made.get_variable_names()]
print(hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest())
"""


def test_killed_and_started_again_over_and_over(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    tests = str(Path(__file__).parent.parent)

    def start(folder):
        command = [sys.executable, "-c", PROGRAM, str(tmp_path / folder), str(STEPS), tests]
        return subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )

    with start("straight") as process:
        expected = process.communicate()[0].split()[-1]
    generator = random.Random(1)
    for _ in range(KILLS):
        with start("killed") as process:
            for _ in range(generator.randrange(2 * STEPS // KILLS)):
                if not process.stdout.readline():
                    break
            time.sleep(generator.random() / 200)  # also while a checkpoint is written
            process.kill()
    with start("killed") as process:
        assert process.communicate()[0].split()[-1] == expected


class Stop(tf.train.SessionRunHook):
    """Breaks training off."""

    def __init__(self, after_runs):
        self._left = after_runs

    def after_run(self, run_context, run_values):
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt


def _weights(made):
    return b"".join(made.get_variable_value(name).tobytes() for name in made.get_variable_names())


@pytest.mark.parametrize("stops", [[1], [7], [8, 1, 9], [14]])
def test_broken_off_and_called_again(tmp_path, stops):
    straight = estimator(tmp_path / "straight")
    straight.train(input_fn, max_steps=30)
    broken = estimator(tmp_path / "broken")
    for runs in stops:
        with pytest.raises(KeyboardInterrupt):
            broken.train(input_fn, max_steps=30, hooks=[Stop(runs)])
    broken.train(input_fn, max_steps=30)
    assert _weights(broken) == _weights(straight)


@pytest.mark.parametrize("save_steps", [7, 6, 12])  # the input has 12 batches
def test_calls_that_ended_begin_anew(tmp_path, save_steps):
    """Three calls over an input are the same in one process and in three."""
    together = estimator(tmp_path / "together", save_steps)
    for _ in range(3):
        together.train(lambda: input_fn(1))
        estimator(tmp_path / "apart", save_steps).train(lambda: input_fn(1))
    assert together.get_variable_value("global_step") == 36
    apart = estimator(tmp_path / "apart", save_steps)
    assert _weights(apart) == _weights(together)


def test_evaluating_does_not_go_on_with_the_input_of_training(tmp_path):
    made = estimator(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        made.train(lambda: input_fn(1), hooks=[Stop(8)])
    assert len(list(made.predict(lambda: input_fn(1).map(lambda x, y: x)))) == 90
    seen = []

    class Count(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            seen.append(1)

    made.evaluate(lambda: input_fn(1), hooks=[Count()])
    assert len(seen) == 12


@pytest.mark.usefixtures("reference_variables")
def test_boosted_trees_go_on_within_a_layer(tmp_path):
    """Half of a layer's batches wait in accumulators, which TensorFlow forgets."""
    columns = [tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [5.0, 10.0, 15.0])]

    def made(folder):
        config = tf.estimator.RunConfig(tf_random_seed=7, save_checkpoints_steps=5)
        return tf.estimator.BoostedTreesRegressor(
            columns, 2, str(tmp_path / folder), n_trees=4, max_depth=2, config=config
        )

    straight, broken = made("straight"), made("broken")
    straight.train(input_fn, max_steps=16)
    with pytest.raises(KeyboardInterrupt):
        broken.train(input_fn, max_steps=16, hooks=[Stop(8)])
    broken.train(input_fn, max_steps=16)
    readers = [tf.train.load_checkpoint(each.latest_checkpoint()) for each in (straight, broken)]
    (name,) = [name for name in readers[0].get_variable_to_shape_map() if name.endswith("serialized")]
    assert readers[0].get_tensor(name) == readers[1].get_tensor(name)
