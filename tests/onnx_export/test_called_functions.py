"""Nodes that call functions, conditions and loops among them, in models with variables."""

import numpy as np
import pytest
from onnx_export.running import run

import stillflow as tf
from stillflow.command_line import main
from stillflow.functions.defun import Defun


@pytest.fixture
def control_flow_of_nodes():
    tf.enable_control_flow_v2()
    yield
    tf.disable_control_flow_v2()


def check(tmp_path, build, *feeds):
    """Compares what a SavedModel computes in a session and, once it is an ONNX model, in onnxruntime."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        inputs = {f"in{n}": tf.placeholder(value.dtype, [None, *value.shape[1:]]) for n, value in enumerate(feeds)}
        made = build(*inputs.values())
        outputs = {f"out{n}": tensor for n, tensor in enumerate(made)}
        session.run(tf.global_variables_initializer())
        expected = session.run(outputs, dict(zip(inputs.values(), feeds, strict=True)))
        tf.saved_model.simple_save(session, str(tmp_path / "saved"), inputs, outputs)
    target = str(tmp_path / "model.onnx")
    assert main(["convert", str(tmp_path / "saved"), target]) == 0
    found = run(target, dict(zip(inputs, feeds, strict=True)))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def floats(*dims):
    return np.random.default_rng(sum(dims)).standard_normal(dims).astype(np.float32)


def test_functions_that_call_functions(tmp_path):
    weight = []

    @tf.function
    def inner(x, y):
        return x * y + weight[0], tf.reduce_sum(y)

    @tf.function
    def outer(x):
        y, total = inner(x, x + 1)
        z, _ = inner(y, total * x)
        return z

    def build(x):
        weight.append(tf.get_variable("w", [3], use_resource=True))
        return [outer(x), inner(x, x)[1]]

    check(tmp_path, build, floats(2, 3))


def test_functions_of_defun(tmp_path):
    @Defun(tf.float32, func_name="TwiceAndOne")
    def twice_and_one(x):
        return x * 2 + 1

    check(tmp_path, lambda x: [twice_and_one(twice_and_one(x))], floats(2, 3))


def test_conditions(tmp_path, control_flow_of_nodes):
    def build(x):
        w = tf.get_variable("w", [3], use_resource=True)
        chosen = tf.cond(tf.reduce_sum(x) > 0, lambda: (x * w, 1), lambda: (x - w, 2))
        nested = tf.cond(x[0, 0] > 0, lambda: tf.cond(x[0, 1] > 0, lambda: w, lambda: 2 * w), lambda: 3 * w)
        return [*chosen, nested, tf.switch_case(tf.constant(1), [lambda: x, lambda: x + 1])]

    for sign in (1, -1):
        (tmp_path / str(sign)).mkdir()
        check(tmp_path / str(sign), build, sign * np.abs(floats(2, 3)))


@pytest.mark.parametrize("number", [0, 1, 2, 7, -1])
def test_cases(tmp_path, number, control_flow_of_nodes):
    def build(x):
        w = tf.get_variable("w", [3], use_resource=True)
        branches = [lambda: (x * w, 1), lambda: (x - w, 2), lambda: (x + w, 3)]
        return tf.switch_case(tf.cast(x[0, 0], tf.int32), branches)

    x = floats(2, 3)
    x[0, 0] = number
    check(tmp_path, build, x)


def test_loops(tmp_path, control_flow_of_nodes):
    def build(x):
        w = tf.get_variable("w", [3, 3], use_resource=True)
        count, product = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x])
        mapped = tf.map_fn(lambda row: row * tf.reduce_sum(row), x)
        return [count, product, mapped, *tf.gradients(tf.reduce_sum(product), x)]

    check(tmp_path, build, floats(2, 3))


def test_recurrent_layers(tmp_path, control_flow_of_nodes):
    def build(x):
        outputs, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, dtype=tf.float32)
        return [outputs, state, tf.keras.layers.LSTM(3, return_sequences=True)(x)]

    check(tmp_path, build, floats(2, 5, 3))
