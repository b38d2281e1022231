"""Learning rates against their formulas, their errors, and the global step."""

import math

import numpy as np
import pytest

import stillflow as tf

SCHEDULES = {
    "exponential": (lambda s: tf.train.exponential_decay(0.5, s, 4, 0.9), lambda s: 0.5 * 0.9 ** (s / 4)),
    "staircase": (
        lambda s: tf.train.exponential_decay(0.5, s, 4, 0.9, staircase=True),
        lambda s: 0.5 * 0.9 ** (s // 4),
    ),
    "natural": (lambda s: tf.train.natural_exp_decay(0.5, s, 4, 0.9), lambda s: 0.5 * math.exp(-0.9 * s / 4)),
    "inverse": (lambda s: tf.train.inverse_time_decay(0.5, s, 4, 0.9), lambda s: 0.5 / (1 + 0.9 * s / 4)),
    "polynomial": (
        lambda s: tf.train.polynomial_decay(0.5, s, 6, 0.1, power=2.0),
        lambda s: 0.4 * (1 - min(s, 6) / 6) ** 2 + 0.1,
    ),
    "cycle": (
        lambda s: tf.train.polynomial_decay(0.5, s, 4, 0.1, cycle=True),
        lambda s: 0.4 * (1 - s / (4 * max(1, math.ceil(s / 4)))) + 0.1,
    ),
    "cosine": (
        lambda s: tf.train.cosine_decay(0.5, s, 8, alpha=0.1),
        lambda s: 0.5 * (0.9 * 0.5 * (1 + math.cos(math.pi * min(s, 8) / 8)) + 0.1),
    ),
    "linear cosine": (
        lambda s: tf.train.linear_cosine_decay(0.5, s, 8, alpha=0.1, beta=0.2),
        lambda s: 0.5 * ((1.1 - min(s, 8) / 8) * 0.5 * (1 + math.cos(math.pi * min(s, 8) / 8)) + 0.2),
    ),
    "equal restarts": (
        lambda s: tf.train.cosine_decay_restarts(0.5, s, 4, t_mul=1.0, m_mul=0.5),
        lambda s: 0.5 * 0.5 ** (s // 4) * 0.5 * (1 + math.cos(math.pi * (s % 4) / 4)),
    ),
    "growing restarts": (
        lambda s: tf.train.cosine_decay_restarts(0.5, s, 4),
        lambda s: 0.5 * 0.5 * (1 + math.cos(math.pi * (s / 4 if s < 4 else (s / 4 - 1) / 2 if s < 12 else 0))),
    ),
}


@pytest.mark.parametrize(("step", "expected"), [(0, 1.0), (5, 1.0), (6, 0.5), (10, 0.5), (11, 0.1), (99, 0.1)])
@pytest.mark.parametrize("step_type", [tf.int32, tf.int64])
def test_piecewise_constants(step, expected, step_type):
    fed = tf.placeholder(step_type, [])
    rate = tf.train.piecewise_constant(fed, [5, 10], [1.0, 0.5, 0.1])
    with tf.Session() as session:
        assert session.run(rate, {fed: step}) == np.float32(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, [1], [1.0]), "The length of boundaries should be 1 less than the length of values"),
        ((1, [1.5], [1.0, 2.0]), "must have the same dtype as x"),
        ((1, [1], [1.0, 2]), "Values must have elements all with the same dtype"),
    ],
)
def test_bad_piecewise_constants(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.train.piecewise_constant(*arguments)


def test_noise_has_the_seed_of_the_graph():
    tf.set_random_seed(1)
    rates = [tf.train.noisy_linear_cosine_decay(0.5, 3, 8) for _ in range(2)]
    with tf.Session() as session:
        first, second = session.run(rates)
    assert first != second
    assert 0 < first < 1


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("step_type", [tf.int32, tf.int64, tf.float32])
@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_follow_their_formula(name, step_type):
    schedule, formula = SCHEDULES[name]
    step = tf.placeholder(step_type, [])
    rate = schedule(step)
    assert (rate.dtype, rate.shape.as_list()) == (tf.float32, [])
    with tf.Session() as session:
        for value in (0, 1, 3, 4, 5, 9):
            np.testing.assert_allclose(session.run(rate, {step: value}), formula(value), rtol=2e-6)


def test_a_rate_moves_an_optimizer():
    step = tf.train.get_or_create_global_step()
    x = tf.Variable(0.0)
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(-x, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
        assert session.run(x) == 1 + 0.5 + 0.25 + 0.125
        assert tf.train.global_step(session, step) == 4


@pytest.mark.parametrize("name", ["exponential_decay", "natural_exp_decay", "inverse_time_decay", "polynomial_decay"])
def test_a_step_is_needed(name):
    with pytest.raises(ValueError, match=f"global_step is required for {name}"):
        getattr(tf.train, name)(0.5, None, 4, 0.9)
    with pytest.raises(ValueError, match="global_step is required for cosine_decay"):
        tf.train.cosine_decay(0.5, None, 4)


def test_the_global_step_of_a_graph(graph):
    assert tf.train.get_global_step() is None
    step = tf.train.get_or_create_global_step()
    assert step is tf.train.get_or_create_global_step() is tf.train.get_global_step(graph)
    assert (step.name, step.dtype.base_dtype, step.trainable) == ("global_step:0", tf.int64, False)
    with pytest.raises(ValueError, match='"global_step" already exists'):
        tf.train.create_global_step()
    with tf.Graph().as_default() as other:
        assert tf.train.get_global_step() is None
        assert tf.train.get_or_create_global_step(other).graph is other


def test_a_tensor_of_that_name_is_the_global_step(graph):
    tensor = tf.placeholder(tf.int32, [], name="global_step")
    assert tf.train.get_global_step() is tensor


@pytest.mark.parametrize(
    ("value", "message"),
    [(1.0, "does not have integer type"), ([1], "is not scalar"), ("x", "does not have integer type")],
)
def test_what_cannot_be_a_global_step(graph, value, message):
    tf.Variable(value, collections=[tf.GraphKeys.GLOBAL_STEP], trainable=False)
    with pytest.raises(TypeError, match=message):
        tf.train.get_global_step()
    with pytest.raises(TypeError, match="must be a Variable or Tensor"):
        tf.train.assert_global_step(3)


def test_two_global_steps_are_none(graph, capfd):
    for _ in range(2):
        tf.Variable(1, collections=[tf.GraphKeys.GLOBAL_STEP], trainable=False)
    assert tf.train.get_global_step() is None


def test_the_behaviour_is_that_of_graphs():
    tf.enable_resource_variables()
    tf.disable_v2_behavior()
    assert not tf.resource_variables_enabled()
    assert not tf.executing_eagerly()
    tf.disable_eager_execution()


def test_there_are_no_tables_to_initialize(graph):
    assert tf.tables_initializer().name == "init_all_tables"
    table = tf.no_op()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, table)
    assert tf.tables_initializer("again").control_inputs == [table]
