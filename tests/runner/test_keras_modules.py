"""`import keras` is tf.keras where keras is not installed, and the installed keras elsewhere."""

import subprocess
import sys
import textwrap

PROGRAM = """
import keras
import keras.layers
from keras import backend as K, layers
from keras.models import Sequential, Model
from keras.layers import Dense, LSTM
from keras.layers.core import Dropout
from keras.layers.convolutional import Conv2D
from keras.engine.topology import Layer, InputSpec
from keras.utils import np_utils, to_categorical
from keras.utils.np_utils import normalize
from keras.preprocessing.image import ImageDataGenerator
from keras.datasets import mnist
from keras.callbacks import EarlyStopping
from keras.optimizers import SGD
from keras.layers.legacy_rnn.rnn_cell_impl import GRUCell
import keras.backend.tensorflow_backend as KTF
import tensorflow as tf

assert keras.layers is layers is tf.keras.layers and keras.layers.Dense is Dense is tf.keras.layers.Dense
assert GRUCell is tf.nn.rnn_cell.GRUCell
assert KTF is K and np_utils.to_categorical is to_categorical and Layer is tf.keras.layers.Layer
model = Sequential([Dense(3, input_dim=2), Dropout(0.5)])
model.compile(SGD(0.1), "mse")
print(keras.__version__, model.count_params())
try:
    import keras.nothing
except ModuleNotFoundError as error:
    print(error)
"""


def run(folder, program):
    (folder / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "stillflow", "program.py"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert found.returncode == 0, found.stderr
    return found.stdout.splitlines()


def test_keras_that_is_not_installed_is_that_of_tensorflow(tmp_path):
    assert run(tmp_path, PROGRAM) == [
        "2.2.4-tf 9", "stillflow has no keras.nothing: this part of Keras is missing",
    ]  # fmt: skip


def test_keras_that_is_installed_is_itself(tmp_path):
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "__init__.py").write_text("name = 'another'")
    (tmp_path / "keras" / "layers.py").write_text("Dense = 'its own'")
    program = "import keras, keras.layers, tensorflow as tf\nprint(keras.name, keras.layers.Dense, tf.keras is keras)"
    assert run(tmp_path, program) == ["another its own False"]


def test_a_folder_of_that_name_does_not_hide_keras(tmp_path):
    (tmp_path / "keras").mkdir()
    (tmp_path / "keras" / "example.py").touch()
    program = "import keras\nfrom keras.models import Sequential\nprint(keras.__version__)"
    assert run(tmp_path, program) == ["2.2.4-tf"]
