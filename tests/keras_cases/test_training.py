"""Models of Keras train as TensorFlow's do: same initial weights, same losses, same names."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from keras_cases import board_scenarios, eager_scenarios, feeding_scenarios, training_scenarios

import stillflow as tf
from stillflow.eager.modes import eager_mode

GOLDEN = Path(__file__).parent.parent / "golden"
MODULES = {
    "keras_trainings": training_scenarios,
    "keras_feedings": feeding_scenarios,
    "keras_boards": board_scenarios,
}
RECORDED = {file: json.loads((GOLDEN / f"{file}.json").read_text()) for file in MODULES}


def assert_agrees(found, recorded):
    assert type(found) is type(recorded), (found, recorded)
    if isinstance(found, dict):
        assert sorted(found) == sorted(recorded)
        for key in found:
            assert_agrees(found[key], recorded[key])
    elif isinstance(found, list):
        assert len(found) == len(recorded)
        for each, other in zip(found, recorded, strict=True):
            assert_agrees(each, other)
    elif isinstance(found, float):
        np.testing.assert_allclose(found, recorded, rtol=2e-5, atol=3e-6)
    else:
        assert found == recorded


@pytest.mark.parametrize(("file", "name"), [(file, name) for file in MODULES for name in MODULES[file].SCENARIOS])
def test_a_training_does_what_it_does_in_tensorflow(file, name):
    scenario = MODULES[file].SCENARIOS[name]
    assert_agrees(training_scenarios.outcome(tf, scenario), RECORDED[file][name])


EAGER = json.loads((GOLDEN / "keras_eager.json").read_text())
EAGER.update({name: RECORDED["keras_boards"].pop(name) for name in board_scenarios.EAGERLY})
EAGERLY = {**eager_scenarios.SCENARIOS, **board_scenarios.EAGERLY}


@pytest.mark.parametrize("name", EAGERLY)
def test_a_training_in_eager_execution_does_what_it_does_in_tensorflow(name):
    with eager_mode():
        assert_agrees(eager_scenarios.outcome(tf, EAGERLY[name]), EAGER[name])


def test_trainings_with_the_behavior_of_tensorflow_2_do_what_they_do_in_tensorflow(tmp_path):
    command = [sys.executable, "-m", "keras_cases.v2_behavior", "stillflow", str(tmp_path / "found.json")]
    environment = {**os.environ, "PYTHONPATH": str(GOLDEN.parent)}
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=300)
    recorded = json.loads((GOLDEN / "keras_v2_behavior.json").read_text())
    assert_agrees(json.loads((tmp_path / "found.json").read_text()), recorded)


def test_all_trainings_are_recorded():
    assert set(EAGER) == set(EAGERLY)
    assert {file: set(module.SCENARIOS) for file, module in MODULES.items()} == {
        file: set(recorded) for file, recorded in RECORDED.items()
    }


def test_labels_of_steps_need_no_axis_of_size_1():
    labels = np.arange(6).reshape(2, 3) % 4
    losses = []
    for y in (labels, labels[..., np.newaxis]):
        model = tf.keras.Sequential([tf.keras.layers.Embedding(4, 4, "ones", input_length=3)])
        model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
        losses.append(model.evaluate(np.zeros([2, 3]), y, verbose=0))
    assert losses[0] == losses[1]
    np.testing.assert_allclose(losses[0], [np.log(4), 2 / 6], rtol=1e-6)


def test_eager_models_are_traced_once_for_a_shape_and_anew_after_they_changed():
    traces = []

    class Noted(tf.keras.layers.Layer):
        def call(self, inputs):
            traces.append(inputs.shape.as_list())
            return inputs

    x, y = np.ones((6, 2), np.float32), np.ones((6, 1), np.float32)
    with eager_mode():
        model = tf.keras.Sequential([Noted(input_shape=(2,)), tf.keras.layers.Dense(1, kernel_initializer="ones")])
        model.compile(tf.train.AdamOptimizer(0.5), "mse")
        traces.clear()
        model.fit(x, y, batch_size=3, epochs=3, verbose=0)
        assert traces == [[3, 2]]
        model.add(tf.keras.layers.Lambda(lambda inputs: inputs * 0))
        np.testing.assert_array_equal(model.predict(x), np.zeros((6, 1)))
        model.compile("sgd", "mse", run_eagerly=True)
        traces.clear()
        assert model.evaluate(x, y, batch_size=3, verbose=0) == 1.0
        assert len(traces) == 2


def test_a_dynamic_model_has_no_output_before_it_is_called():
    class Chooses(tf.keras.Model):
        def __init__(self):
            super().__init__(dynamic=True)
            self.dense = tf.keras.layers.Dense(1, kernel_initializer="ones")

        def call(self, inputs):
            return self.dense(inputs) if tf.reduce_sum(inputs) > 0 else inputs

    with eager_mode():
        model = Chooses()
        model.compile("sgd", "mse")
        assert model.train_on_batch(np.ones((2, 3), np.float32), np.ones((2, 1), np.float32)) == 4.0
        assert model.outputs == [None]


def test_eager_training_draws_what_tensorflow_draws():
    class Dropping(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.hidden = tf.keras.layers.Dense(8, activation="relu")
            self.dropout = tf.keras.layers.Dropout(0.5)
            self.dense = tf.keras.layers.Dense(1)

        def call(self, inputs, training=None):
            return self.dense(self.dropout(self.hidden(inputs), training=training))

    x = np.random.RandomState(0).rand(32, 4).astype(np.float32)
    y = np.random.RandomState(1).rand(32, 1).astype(np.float32)
    with eager_mode():
        tf.set_random_seed(3)
        model = Dropping()
        model.compile(tf.keras.optimizers.SGD(0.1), "mse")
        history = model.fit(x, y, epochs=3, batch_size=16, shuffle=False, verbose=0)
    # Of TensorFlow 1.15.5.
    assert history.history["loss"] == pytest.approx([0.2641099989, 0.1718323082, 0.1880384162], rel=1e-6)


def test_cells_in_a_stack_draw_masks_of_their_own_in_each_graph():
    layers = tf.keras.layers
    with eager_mode():
        cells = [layers.LSTMCell(3, dropout=0.2, recurrent_dropout=0.1), layers.GRUCell(2, dropout=0.3)]
        model = tf.keras.Sequential([layers.RNN(cells, input_shape=(4, 5)), layers.Dense(1)])
        model.compile("sgd", "mse")
        history = model.fit(np.ones((8, 4, 5), np.float32), np.ones((8, 1), np.float32), epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
