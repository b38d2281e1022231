"""Recurrent cells as one step each way: columns read where they lie, results written side by side; no bit changes."""

import re

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import isa
from stillflow.testing import ISAS

BATCH, STEPS, WIDTH = 5, 3, 7


def cells():
    cells = tf.nn.rnn_cell
    return {
        "basic_lstm": lambda units: cells.BasicLSTMCell(units),
        "lstm": lambda units: cells.LSTMCell(units, use_peepholes=True, cell_clip=0.5, num_proj=4),
        "gru": lambda units: cells.GRUCell(units),
        "rnn": lambda units: cells.BasicRNNCell(units),
    }


def lengths(random):
    return np.sort(random.integers(0, STEPS + 1, BATCH))[::-1]


def all_of(outputs, state):
    return tf.add_n([tf.reduce_sum(each**2) for each in [*tf.contrib.framework.nest.flatten(state), *outputs[:2]]])


def step(kind, units, how, dtype, loss_of=all_of):
    """A training step of a net, and its gradients."""
    random = np.random.default_rng(3)
    x = tf.placeholder(dtype, [BATCH, STEPS, WIDTH])
    cell = cells()[kind](units)
    tf.set_random_seed(5)
    if how == "unrolled":
        outputs, state = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=dtype)
    else:
        sizes = lengths(random) if how == "loop, lengths" else None
        outputs, state = tf.nn.dynamic_rnn(cell, x, sequence_length=sizes, dtype=dtype)
        outputs = tf.unstack(outputs, axis=1)
    loss = loss_of(outputs, state)
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    train = tf.train.GradientDescentOptimizer(0.1).apply_gradients(zip(gradients, variables, strict=True))
    return [train, loss, *gradients], {x: random.normal(0, 1, (BATCH, STEPS, WIDTH))}


def run(build, isa_name=None, threads=1):
    """The bytes of what two steps fetch, and the text of their plan."""
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        session._kernels = isa.kernels(isa_name)
        fetches, feeds = build()
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, feeds) for _ in range(2)]
        text = next(r for r in session._requests.values() if r._fed).plans[0].text
        return [np.asarray(array).tobytes() for each in results for array in each if array is not None], text


@pytest.mark.parametrize("how", ["unrolled", "loop", "loop, lengths"])
@pytest.mark.parametrize("kind", cells())
def test_cells_have_the_same_bits_fused_or_not(kind, how, monkeypatch):
    for units, dtype in ((6, tf.float32), (1, tf.float64)):

        def build(units=units, dtype=dtype):
            return step(kind, units, how, dtype)

        fused, text = run(build)
        monkeypatch.setenv("STILLFLOW_WITHOUT_FUSIONS", "elementwise_chains")
        apart, plain = run(build)
        monkeypatch.delenv("STILLFLOW_WITHOUT_FUSIONS")
        assert fused == apart
        assert "column" not in plain
        assert "joins" not in plain
        assert len(text.splitlines()) < len(plain.splitlines())


@pytest.mark.parametrize("kind", ["basic_lstm", "gru"])
def test_bits_do_not_depend_on_threads_and_instruction_sets(kind):
    def build():
        return step(kind, 150, "loop", tf.float32)

    expected, _ = run(build)
    for isa_name in ISAS:
        for threads in (1, 3):
            assert run(build, isa_name, threads)[0] == expected


def steps_with(name, text):
    """The programs of elementwise steps with an operation of that name, and what is said of their operands."""
    return [line for line in re.findall(r"^       (.*)$", text, re.MULTILINE) if f"{name} " in line]


@pytest.mark.parametrize("how", ["unrolled", "loop"])
def test_an_lstm_cell_is_one_step_each_way(how):
    _, text = run(lambda: step("basic_lstm", 6, how, tf.float32, lambda outputs, _: tf.reduce_mean(outputs[-1])))
    assert not re.search(r"^ *\d+  (split|bias_add) ", text, re.MULTILINE)
    rounds = STEPS if how == "unrolled" else 1
    forward, backward = steps_with("sigmoid", text), steps_with("sigmoid_grad", text)
    assert [line.count("sigmoid ") for line in forward] == [3] * rounds
    assert [line.count("tanh ") for line in forward] == [2] * rounds
    assert [line.count("from column") for line in forward] == [8] * rounds
    assert [line.count("sigmoid_grad ") for line in backward] == [3] * rounds
    assert all("joins the last 4" in line for line in backward)


def test_columns_of_one_tensor_with_as_many_elements_as_the_result(monkeypatch):
    """Operands that are read in part never give their memory to a result."""
    x, y = tf.placeholder(tf.float32, [24]), tf.placeholder(tf.float32, [4, 6])

    def build(session):
        parts = tf.split(tf.cumsum(x), 4, axis=0)
        return session.run([(y + parts[0]) * parts[1] - parts[2] / parts[3]], {x: X, y: Y})[0]

    X, Y = np.linspace(1, 2, 24), np.linspace(-1, 1, 24).reshape(4, 6)  # noqa: N806
    with tf.Session() as session:
        fused = build(session)
        assert "from column" in list(session._requests.values())[-1].plans[0].text
    monkeypatch.setenv("STILLFLOW_WITHOUT_FUSIONS", "elementwise_chains")
    with tf.Session() as session:
        assert build(session).tobytes() == fused.tobytes()
