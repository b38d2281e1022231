"""Every optimizer against its formulas over several steps: dense, sparse with repeated rows, types, bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, new_session

STEPS = 5


def soft(x, bound):
    """x taken towards 0 by the bound."""
    return np.sign(x) * np.maximum(np.abs(x) - bound, 0)


# ---- Formulas, which return the new variable. The numbers are powers of two and the like: float32 has them exactly.


def descent(var, grad, slots, step):
    return var - 0.125 * grad


def momentum(var, grad, slots, step):
    slots["m"] = 0.875 * slots.get("m", 0) + grad
    return var - 0.125 * slots["m"]


def nesterov(var, grad, slots, step):
    slots["m"] = 0.875 * slots.get("m", 0) + grad
    return var - 0.125 * (grad + 0.875 * slots["m"])


def adagrad(var, grad, slots, step):
    slots["a"] = slots.get("a", 0.25) + grad**2
    return var - 0.125 * grad / np.sqrt(slots["a"])


def adam(var, grad, slots, step):
    slots["m"] = 0.875 * slots.get("m", 0) + (1 - 0.875) * grad
    slots["v"] = 0.9375 * slots.get("v", 0) + (1 - 0.9375) * grad**2
    rate = 0.125 * np.sqrt(1 - 0.9375**step) / (1 - 0.875**step)
    return var - rate * slots["m"] / (np.sqrt(slots["v"]) + 2**-20)


def adadelta(var, grad, slots, step):
    slots["a"] = 0.875 * slots.get("a", 0) + (1 - 0.875) * grad**2
    change = np.sqrt(slots.get("u", 0) + 2**-10) / np.sqrt(slots["a"] + 2**-10) * grad
    slots["u"] = 0.875 * slots.get("u", 0) + (1 - 0.875) * change**2
    return var - 0.5 * change


def rms_prop(var, grad, slots, step):
    slots["r"] = 0.75 * slots.get("r", 1) + 0.25 * grad**2
    slots["m"] = 0.5 * slots.get("m", 0) + 0.125 * grad / np.sqrt(slots["r"] + 2**-13)
    return var - slots["m"]


def centered_rms_prop(var, grad, slots, step):
    slots["r"] = 0.75 * slots.get("r", 1) + 0.25 * grad**2
    slots["g"] = 0.75 * slots.get("g", 0) + 0.25 * grad
    slots["m"] = 0.5 * slots.get("m", 0) + 0.125 * grad / np.sqrt(slots["r"] - slots["g"] ** 2 + 2**-13)
    return var - slots["m"]


def proximal_descent(var, grad, slots, step):
    return soft(var - 0.125 * grad, 0.125 * 0.5) / (1 + 0.125 * 0.25)


def proximal_adagrad(var, grad, slots, step):
    slots["a"] = slots.get("a", 0.25) + grad**2
    rate = 0.125 / np.sqrt(slots["a"])
    return soft(var - rate * grad, rate * 0.5) / (1 + rate * 0.25)


def adagrad_da(var, grad, slots, step):
    slots["s"] = slots.get("s", 0) + grad
    slots["q"] = slots.get("q", 0.25) + grad**2
    return -0.125 * soft(slots["s"], 0.0625 * step) / (0.25 * step * 0.125 + np.sqrt(slots["q"]))


def ftrl_with(power, shrinkage):
    def ftrl(var, grad, slots, step):
        before = slots.get("a", 0.25)
        slots["a"] = before + grad**2
        change = (slots["a"] ** power - before**power) / 0.125
        slots["l"] = slots.get("l", 0) + grad + 2 * shrinkage * var - change * var
        return soft(-slots["l"], 0.5) / (slots["a"] ** power / 0.125 + 2 * 0.25)

    return ftrl


def counted(step):
    """AdagradDA counts from the global step, which is one behind while a step runs."""
    return tf.train.AdagradDAOptimizer(0.125, step, 0.25, 0.0625, 0.25)


CASES = {
    "descent": (descent, lambda step: tf.train.GradientDescentOptimizer(0.125)),
    "momentum": (momentum, lambda step: tf.train.MomentumOptimizer(0.125, 0.875)),
    "nesterov": (nesterov, lambda step: tf.train.MomentumOptimizer(0.125, 0.875, use_nesterov=True)),
    "adagrad": (adagrad, lambda step: tf.train.AdagradOptimizer(0.125, 0.25)),
    "adam": (adam, lambda step: tf.train.AdamOptimizer(0.125, 0.875, 0.9375, 2**-20)),
    "adadelta": (adadelta, lambda step: tf.train.AdadeltaOptimizer(0.5, 0.875, 2**-10)),
    "rms_prop": (rms_prop, lambda step: tf.train.RMSPropOptimizer(0.125, 0.75, 0.5, 2**-13)),
    "centered": (centered_rms_prop, lambda step: tf.train.RMSPropOptimizer(0.125, 0.75, 0.5, 2**-13, centered=True)),
    "proximal_descent": (proximal_descent, lambda step: tf.train.ProximalGradientDescentOptimizer(0.125, 0.5, 0.25)),
    "proximal_adagrad": (proximal_adagrad, lambda step: tf.train.ProximalAdagradOptimizer(0.125, 0.25, 0.5, 0.25)),
    "adagrad_da": (adagrad_da, counted),
    "ftrl": (ftrl_with(0.5, 0), lambda step: tf.train.FtrlOptimizer(0.125, -0.5, 0.25, 0.5, 0.25)),
    "ftrl_power": (ftrl_with(0.75, 0), lambda step: tf.train.FtrlOptimizer(0.125, -0.75, 0.25, 0.5, 0.25)),
    "ftrl_shrinkage": (
        ftrl_with(0.5, 0.125),
        lambda step: tf.train.FtrlOptimizer(0.125, -0.5, 0.25, 0.5, 0.25, l2_shrinkage_regularization_strength=0.125),
    ),
}
# These take their numbers as float32, and so only such variables.
FLOAT32_ALONE = {"proximal_descent", "proximal_adagrad"}
# These change all rows for a sparse gradient, as if it were dense.
DENSE_EVEN_IF_SPARSE = {"adam"}


def train(make, initial, grads, indices=None):
    """The variable after each of the steps; a graph of its own for each call."""
    with new_session() as session:
        step = tf.Variable(0, trainable=False, dtype=tf.int64)
        variable = tf.Variable(initial)
        grad = tf.placeholder(initial.dtype, grads[0].shape)
        slices = grad if indices is None else tf.IndexedSlices(grad, tf.constant(indices), tf.constant(initial.shape))
        update = make(step).apply_gradients([(slices, variable)], global_step=step)
        session.run(tf.global_variables_initializer())
        values = []
        for value in grads:
            session.run(update, {grad: value})
            values.append(session.run(variable))
        return values


def problem(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype), [rng.normal(size=shape).astype(dtype) for _ in range(STEPS)]


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-10), (np.float32, 2e-4)])
@pytest.mark.parametrize("name", CASES)
def test_dense_steps_follow_the_formulas(name, dtype, tolerance, rng):
    if name in FLOAT32_ALONE and dtype != np.float32:
        pytest.skip("for float32 alone")
    formula, make = CASES[name]
    initial, grads = problem(rng, (7, 3), dtype)
    expected, slots = initial.astype(np.float64), {}
    for step, (value, grad) in enumerate(zip(train(make, initial, grads), grads, strict=True), 1):
        expected = formula(expected, grad.astype(np.float64), slots, step)
        assert value.dtype == dtype
        np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("name", sorted(set(CASES) - DENSE_EVEN_IF_SPARSE))
def test_sparse_steps_change_their_rows_alone(name, index_type, rng):
    """Repeated rows are summed first, but for plain descent, where that makes no difference."""
    formula, make = CASES[name]
    dtype, tolerance = (np.float32, 1e-5) if name in FLOAT32_ALONE else (np.float64, 1e-10)
    initial, _ = problem(rng, (6, 3), dtype)
    indices = np.array([4, 1, 4], index_type)
    grads = [rng.normal(size=(3, 3)).astype(dtype) for _ in range(STEPS)]
    expected, slots = initial.astype(np.float64), {}
    for step, (value, grad) in enumerate(zip(train(make, initial, grads, indices), grads, strict=True), 1):
        summed = np.stack([grad[1], grad[0] + grad[2]]).astype(np.float64)
        expected[[1, 4]] = formula(expected[[1, 4]], summed, slots, step)
        np.testing.assert_allclose(value, expected, rtol=tolerance, atol=tolerance)


def test_a_sparse_step_of_adam_is_a_dense_one(rng):
    make = CASES["adam"][1]
    initial, _ = problem(rng, (6, 3), np.float64)
    grads = [rng.normal(size=(3, 3)) for _ in range(STEPS)]
    dense = []
    for grad in grads:
        dense.append(np.zeros((6, 3)))
        np.add.at(dense[-1], [4, 1, 4], grad)
    for value, expected in zip(train(make, initial, grads, [4, 1, 4]), train(make, initial, dense), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-10)


@pytest.mark.parametrize("name", CASES)
def test_no_rows_and_no_elements(name):
    make = CASES[name][1]
    if name not in DENSE_EVEN_IF_SPARSE:
        initial = np.ones((3, 2), np.float32)
        (value,) = train(make, initial, [np.zeros((0, 2), np.float32)], np.zeros(0, np.int32))
        np.testing.assert_array_equal(value, initial)
    (value,) = train(make, np.ones((0, 2), np.float32), [np.zeros((0, 2), np.float32)])
    assert value.shape == (0, 2)


@pytest.mark.parametrize("bad", [-1, 3])
@pytest.mark.parametrize("name", sorted(set(CASES) - DENSE_EVEN_IF_SPARSE - {"descent"}))
def test_rows_that_are_not_there_are_refused(name, bad):
    make = CASES[name][1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"Index {bad} at offset 1 in indices is out of range"):
        train(make, np.ones((3, 2), np.float32), [np.ones((2, 2), np.float32)], [0, bad])


@pytest.mark.parametrize("name", CASES)
def test_variables_without_a_value_are_refused(name):
    variable = tf.Variable([1.0, 2.0], name="v")
    step = tf.Variable(0, trainable=False, dtype=tf.int64)
    update = CASES[name][1](step).apply_gradients([(tf.constant([1.0, 1.0]), variable)])
    with tf.Session() as session:
        session.run([each.initializer for each in tf.global_variables() if each is not variable])
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized"):
            session.run(update)


@pytest.mark.parametrize("name", CASES)
def test_what_was_read_before_a_step_stays_as_it_is(name):
    with new_session() as session:
        step = tf.Variable(0, trainable=False, dtype=tf.int64)
        variable = tf.Variable(np.ones(1000, np.float32))
        update = CASES[name][1](step).apply_gradients([(tf.ones([1000]), variable)], global_step=step)
        session.run(tf.global_variables_initializer())
        before = session.run(variable)
        session.run(update)
        np.testing.assert_array_equal(before, 1)
        assert np.all(session.run(variable) != 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("name", CASES)
def test_same_bits(name, dtype, rng):
    if name in FLOAT32_ALONE and dtype != np.float32:
        pytest.skip("for float32 alone")
    make = CASES[name][1]
    values, grads = rng.normal(size=(400, 100)).astype(dtype), rng.normal(size=(400, 100)).astype(dtype)
    rows = rng.integers(0, 400, 300)

    def build(values, grads):
        """The variable after a dense and a sparse step, in one run with all that has to be initialized before."""
        variable = tf.Variable(tf.zeros([400, 100], values.dtype))
        step = tf.Variable(0, trainable=False, dtype=tf.int64)
        optimizer = make(step)
        slices = tf.IndexedSlices(tf.gather(grads, rows), tf.constant(rows), tf.constant([400, 100]))
        # Slots are made when a step is built, so both are built before anything is initialized.
        steps = []
        with tf.control_dependencies([tf.no_op("start")]):
            steps.append(optimizer.apply_gradients([(grads * 0.5, variable)]))
        with tf.control_dependencies(steps):
            steps.append(optimizer.apply_gradients([(slices, variable)]))
        graph = tf.get_default_graph()
        for each in tf.global_variables():
            if each is not variable:
                graph.get_operation_by_name("start")._add_control_input(each.initializer)
        assign = tf.assign(variable, values)
        graph.get_operation_by_name("start")._add_control_input(assign.op)
        with tf.control_dependencies(steps):
            return variable.read_value()

    assert_same_bits(build, values, grads)
