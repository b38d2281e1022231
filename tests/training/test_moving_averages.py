"""Moving averages against the formulas, and what they are called."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.training.moving_averages import assign_moving_average, weighted_moving_average


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def test_averages_of_variables_begin_with_their_values(session):
    v = tf.Variable([1.0, 2.0], name="v")
    ema = tf.train.ExponentialMovingAverage(0.75)
    assert ema.average(v) is None
    assert ema.average_name(v) == "v/ExponentialMovingAverage"
    update = ema.apply([v])
    assert ema.average_name(v) == "v/ExponentialMovingAverage"
    assert tf.moving_average_variables() == [v]
    assert not ema.average(v).trainable
    session.run(tf.global_variables_initializer())
    expected = np.array([1.0, 2.0])
    for step in range(5):
        value = np.array([step, -step], np.float32)
        session.run(v.assign(value))
        session.run(update)
        expected = 0.75 * expected + 0.25 * value
        np.testing.assert_allclose(session.run(ema.average(v)), expected, rtol=1e-6)


def test_averages_of_loaded_variables_begin_with_what_was_loaded(session):
    v = tf.Variable(1.0, name="v")
    session.run(v.initializer)
    v.load(5.0, session)
    ema = tf.train.ExponentialMovingAverage(0.5)
    ema.apply([v])
    session.run(ema.average(v).initializer)
    assert session.run(ema.average(v)) == 5


def test_averages_of_tensors_begin_with_zero(session):
    x = tf.placeholder(tf.float32, [2])
    loss = x * 1.0
    plain = tf.train.ExponentialMovingAverage(0.9)
    debiased = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    updates = [plain.apply([loss]), debiased.apply([loss])]
    session.run(tf.global_variables_initializer())
    biased = np.zeros(2)
    for step in range(1, 6):
        value = np.array([1.0, step], np.float32)
        session.run(updates, {x: value})
        biased = 0.9 * biased + 0.1 * value
        np.testing.assert_allclose(session.run(plain.average(loss)), biased, rtol=1e-5)
        np.testing.assert_allclose(session.run(debiased.average(loss)), biased / (1 - 0.9**step), rtol=1e-5)
    names = {variable.op.name for variable in tf.global_variables()}
    assert names == {
        "mul/ExponentialMovingAverage", "mul/ExponentialMovingAverage_1",
        "mul/ExponentialMovingAverage_1/biased", "mul/ExponentialMovingAverage_1/local_step",
    }  # fmt: skip


def test_the_number_of_updates_makes_averages_move_faster(session):
    v = tf.Variable(0.0)
    updates = tf.placeholder(tf.float32, [])
    ema = tf.train.ExponentialMovingAverage(0.9, num_updates=updates)
    update = ema.apply([v])
    session.run(tf.global_variables_initializer())
    session.run(v.assign(1.0))
    session.run(update, {updates: 0})
    np.testing.assert_allclose(session.run(ema.average(v)), 0.9, rtol=1e-6)  # the decay is 1 / 10
    session.run(update, {updates: 1000})
    np.testing.assert_allclose(session.run(ema.average(v)), 0.91, rtol=1e-6)


def test_what_to_restore(session):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w", trainable=False)
    step = tf.Variable(0, name="step", trainable=False)
    ema = tf.train.ExponentialMovingAverage(0.9, name="avg")
    ema.apply([v, w])
    assert ema.variables_to_restore() == {"v/avg": v, "w/avg": w, "step": step} | {
        name: variable for name, variable in ((x.op.name, x) for x in tf.global_variables()) if name == "step"
    }
    restored = ema.variables_to_restore([v])
    assert restored["v/avg"] is v
    assert restored["w"] is w


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_types_and_resources(session, dtype):
    v = tf.get_variable("v", [3], dtype, initializer=tf.ones_initializer(), use_resource=dtype is tf.float64)
    ema = tf.train.ExponentialMovingAverage(0.5)
    update = ema.apply([v])
    session.run(tf.global_variables_initializer())
    session.run(v.assign(np.full(3, 3, dtype.as_numpy_dtype)).op)
    session.run(update)
    value = session.run(ema.average(v))
    assert value.dtype == dtype.as_numpy_dtype
    assert value.tolist() == [2, 2, 2]


def test_other_types_are_refused(session):
    with pytest.raises(TypeError, match="The variables must be half, float, or double: step"):
        tf.train.ExponentialMovingAverage(0.9).apply([tf.Variable(1, name="step")])


def test_averages_are_not_made_in_a_branch(session):
    v, p = tf.Variable(1.0), tf.placeholder(tf.bool, [])
    ema = tf.train.ExponentialMovingAverage(0.5)
    update = tf.cond(p, lambda: ema.apply([v]), lambda: tf.no_op())
    assert ema.average(v).op._get_control_flow_context() is None
    session.run(tf.global_variables_initializer())
    session.run(v.assign(3.0))
    session.run(update.op, {p: False})
    assert session.run(ema.average(v)) == 1
    session.run(update.op, {p: True})
    assert session.run(ema.average(v)) == 2


def test_weighted_averages(session):
    value, weight = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
    average = weighted_moving_average(value, 0.8, weight)
    assert {v.op.name for v in tf.global_variables()} == {
        "WeightedMovingAvg/value_x_weight", "WeightedMovingAvg/weight",
    }  # fmt: skip
    session.run(tf.global_variables_initializer())
    products = weights = np.zeros(2)
    for step in range(1, 5):
        feed = {value: np.array([step, 2.0]), weight: np.array([1.0, step])}
        products = 0.8 * products + 0.2 * feed[value] * feed[weight]
        weights = 0.8 * weights + 0.2 * feed[weight]
        np.testing.assert_allclose(session.run(average, feed), products / weights, rtol=1e-5)


def test_debiased_variables_share_no_names(session):
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    first, second = (assign_moving_average(v, tf.constant(2.0), 0.5) for _ in range(2))
    names = [variable.op.name for variable in tf.global_variables()]
    assert names == ["v", "v/biased", "v/local_step", "v/biased_1", "v/local_step_1"]
    session.run(tf.global_variables_initializer())
    assert session.run(first) == 2
    assert session.run(second) == 2
