"""What models are not trained with here says what to do instead."""

import subprocess
import sys

import numpy as np
import pytest

import stillflow as tf
from stillflow.keras.callbacks.files import TensorBoard


def model():
    made = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(3,))])
    made.compile("sgd", "mse")
    return made


def test_data_sets_are_given_as_tensors():
    dataset = tf.data.Dataset.from_tensor_slices((np.ones((8, 3), np.float32), np.ones((8, 1), np.float32)))
    dataset = dataset.repeat().batch(4)
    with pytest.raises(TypeError, match="get_next"):
        model().fit(dataset, steps_per_epoch=2)
    x, y = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    history = model().fit(x, y, steps_per_epoch=2, epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]


def test_generators_are_not_arrays():
    with pytest.raises(TypeError, match="train_on_batch"):
        model().fit(pair for pair in [])


def test_models_are_trained_in_graphs():
    program = """
import numpy as np, stillflow as tf
tf.enable_eager_execution()
class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(1)
    def call(self, x):
        return self.dense(x)
net = Net()
assert net(np.ones((2, 3), np.float32)).shape == (2, 1)
net.compile("sgd", "mse")
for refused in (lambda: net.fit(np.ones((2, 3)), np.ones((2, 1))), lambda: tf.keras.Input((3,))):
    try:
        refused()
    except RuntimeError as error:
        print(error)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["Models", "Models"], result.stderr


def test_what_is_not_written_for_tensorboard_is_told(tmp_path, caplog):
    TensorBoard(tmp_path, write_grads=True)
    assert "`write_grads` has no effect" in caplog.text
