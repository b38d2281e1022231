"""Checkpoints of recurrent nets of before TensorFlow 1.2: their names, and back."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.contrib.rnn.old_names import RNN_NAME_REPLACEMENTS

convert_names = tf.contrib.rnn.python.tools.checkpoint_convert.convert_names


def _net(scope="net"):
    cells = tf.nn.rnn_cell
    x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3), tf.float32)
    cell = cells.MultiRNNCell([cells.LSTMCell(4, num_proj=3), cells.GRUCell(5), cells.BasicLSTMCell(3)])
    return tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, scope=scope)[0]


def _old(name):
    """What a variable of a cell was called before."""
    return name.replace("kernel", "weights").replace("bias", "biases")


@pytest.mark.parametrize("is_v1", [False, True])
def test_a_net_restores_what_had_the_old_names(tmp_path, is_v1):
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(4)
        output = _net()
        session.run(tf.global_variables_initializer())
        expected = session.run(output)
        variables = {v.op.name: v for v in tf.global_variables()}
        tf.train.Saver({_old(name): v for name, v in variables.items()}).save(session, old)
    made, changed = convert_names(old, new, write_v1_checkpoint=is_v1)
    assert set(made) == set(variables)
    assert changed == {_old(name): name for name in variables}
    with tf.Graph().as_default(), tf.Session() as session:
        output = _net()
        tf.train.Saver().restore(session, new)
        np.testing.assert_array_equal(session.run(output), expected)
        back = {_old(v.op.name): v for v in tf.global_variables()}
        tf.train.Saver(back).restore(session, old)
        np.testing.assert_array_equal(session.run(output), expected)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("m/attention_decoder/Attention_0/Linear/Matrix", "m/attention_decoder/Attention_0/kernel"),
        ("m/attention_decoder/LSTMCell/W_0", "m/attention_decoder/lstm_cell/kernel"),
        ("m/attention_decoder/Linear/Bias", "m/attention_decoder/bias"),
        ("nas_rnn/recurrent_weights", "nas_rnn/recurrent_kernel"),
        ("dense/weights", "dense/weights"),
        ("lstm_cell/weights/Adam_1", "lstm_cell/kernel/Adam_1"),
    ],
)
def test_single_names(tmp_path, old, new):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable([1.5, 2.5], name="v")
        session.run(variable.initializer)
        tf.train.Saver({old: variable}).save(session, str(tmp_path / "old"))
    made, changed = convert_names(str(tmp_path / "old"), str(tmp_path / "new"))
    assert list(made) == [new]
    assert changed == ({} if old == new else {old: new})
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path / "new"), new), [1.5, 2.5])


def test_replacements_are_those_of_tensorflow():
    assert len(RNN_NAME_REPLACEMENTS) == 56
    assert all(
        new.rsplit("/", 1)[1] in ("kernel", "bias", "recurrent_kernel") for new in RNN_NAME_REPLACEMENTS.values()
    )
