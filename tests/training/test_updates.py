"""Optimizers step by step: as recorded from TensorFlow, as their formulas say, and with the same bits everywhere."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import testing
from stillflow.testing import assert_same_bits

TOLERANCE = {"float16": 5e-3, "float32": 2e-6, "float64": 1e-12}


@pytest.mark.parametrize(("case", "expected"), cases("optimizers"))
def test_variables_and_slots_are_those_of_tensorflow(case, expected):
    tolerance = TOLERANCE[expected.dtype.name]
    assert_same(evaluate(case), expected, rtol=tolerance, atol=tolerance)


# ---- Formulas -------------------------------------------------------------------------------------------------
# Each takes (variable, gradient, number of the step, state) and returns the new variable. Hyperparameters are
# float32, whatever the type of the variable.

RATE, MOMENTUM, BETA1, BETA2, EPSILON = (float(np.float32(x)) for x in (0.1, 0.9, 0.9, 0.999, 1e-8))


def descend(w, g, step, state):
    return w - RATE * g


def momentum(w, g, step, state):
    state["a"] = MOMENTUM * state.get("a", 0) + g
    return w - RATE * state["a"]


def nesterov(w, g, step, state):
    state["a"] = MOMENTUM * state.get("a", 0) + g
    return w - RATE * (g + MOMENTUM * state["a"])


def adagrad(w, g, step, state):
    state["a"] = state.get("a", 0.1) + g * g
    return w - RATE * g / np.sqrt(state["a"])


def adam(w, g, step, state):
    state["m"] = BETA1 * state.get("m", 0) + (1 - BETA1) * g
    state["v"] = BETA2 * state.get("v", 0) + (1 - BETA2) * g * g
    rate = RATE * np.sqrt(1 - BETA2**step) / (1 - BETA1**step)
    return w - rate * state["m"] / (np.sqrt(state["v"]) + EPSILON)


def ada_max(w, g, step, state):
    state["m"] = BETA1 * state.get("m", 0) + (1 - BETA1) * g
    state["v"] = np.maximum(BETA2 * state.get("v", 0), np.abs(g))
    return w - RATE / (1 - BETA1**step) * state["m"] / (state["v"] + EPSILON)


def power_sign(w, g, step, state):
    state["m"] = BETA1 * state.get("m", 0) + (1 - BETA1) * g
    return w - RATE * np.exp(np.sign(g) * np.sign(state["m"])) * g


def add_sign(w, g, step, state):
    state["m"] = BETA1 * state.get("m", 0) + (1 - BETA1) * g
    return w - RATE * (1 + np.sign(g) * np.sign(state["m"])) * g


# The powers of Adam's betas are float32 variables.
FORMULA_TOLERANCE = {"adam": {"rtol": 1e-4, "atol": 1e-5}, "ada_max": {"rtol": 1e-4, "atol": 1e-5}}
FORMULA_TOLERANCE["power_sign"] = {"rtol": 1e-5, "atol": 1e-6}  # whose powers of rows are of a float32 e
EXACT = {"rtol": 1e-9, "atol": 1e-12}

OPTIMIZERS = {
    "descend": (lambda: tf.train.GradientDescentOptimizer(0.1), descend),
    "momentum": (lambda: tf.train.MomentumOptimizer(0.1, 0.9), momentum),
    "nesterov": (lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), nesterov),
    "adagrad": (lambda: tf.train.AdagradOptimizer(0.1), adagrad),
    "adam": (lambda: tf.train.AdamOptimizer(0.1), adam),
    "ada_max": (lambda: tf.contrib.opt.AdaMaxOptimizer(0.1), ada_max),
    "power_sign": (lambda: tf.contrib.opt.PowerSignOptimizer(0.1), power_sign),
    "add_sign": (lambda: tf.contrib.opt.AddSignOptimizer(0.1), add_sign),
}


@pytest.mark.parametrize("shape", [(), (1,), (7, 33), (40000,)])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_dense_steps_follow_the_formula(name, shape, rng):
    make, formula = OPTIMIZERS[name]
    tolerance = FORMULA_TOLERANCE.get(name, EXACT)
    start = rng.standard_normal(shape)
    w, state = start, {}
    variable = tf.Variable(start)
    grad = tf.placeholder(tf.float64, shape)
    train = make().apply_gradients([(grad, variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, 12):
            g = rng.standard_normal(shape)
            session.run(train, {grad: g})
            w = formula(w, g, step, state)
            np.testing.assert_allclose(session.run(variable), w, **tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows_that_have_no_gradient_stay_except_under_adam(name, rng):
    make, formula = OPTIMIZERS[name]
    tolerance = FORMULA_TOLERANCE.get(name, EXACT)
    start = rng.standard_normal((6, 5))
    w, state = start.copy(), {}
    variable = tf.Variable(start)
    values, indices = tf.placeholder(tf.float64, [None, 5]), tf.placeholder(tf.int64, [None])
    train = make().apply_gradients([(tf.IndexedSlices(values, indices, tf.constant([6, 5])), variable)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(1, 8):
            rows = rng.integers(0, 5, 8)
            g = rng.standard_normal((8, 5))
            session.run(train, {values: g, indices: rows})
            dense = np.zeros_like(w)
            np.add.at(dense, rows, g)
            if name == "adam":
                w = formula(w, dense, step, state)
            else:
                w = sparse_step(formula, w, dense, np.unique(rows), step, state)
            np.testing.assert_allclose(session.run(variable), w, **tolerance)
        if name != "adam":
            assert np.all(session.run(variable)[5] == start[5])


def sparse_step(formula, w, dense, rows, step, state):
    """The formula for some rows, with the state of these alone."""
    w = w.copy()
    for row in rows:
        w[row] = formula(w[row], dense[row], step, state.setdefault(row, {}))
    return w


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_same_bits_everywhere(name, rng):
    start = rng.standard_normal((50, 301)).astype(np.float32)
    rows = rng.integers(0, 50, 200)

    def dense(grad):
        return stepped(name, start, grad)

    def sparse(grad, indices):
        return stepped(name, start, tf.IndexedSlices(grad, indices, tf.constant([50, 301])))

    assert_same_bits(dense, rng.standard_normal((50, 301)).astype(np.float32))
    if name in ("descend", "adam"):
        assert_same_bits(sparse, rng.standard_normal((200, 301)).astype(np.float32), rows)


def test_rows_that_several_threads_update(rng):
    rows = np.minimum(rng.zipf(1.3, 30011), 5003) - 1
    grads = rng.standard_normal((len(rows), 17)).astype(np.float32)

    def update(grad, indices):
        w = tf.Variable(tf.zeros([5003, 17]))
        optimizer = tf.train.AdagradOptimizer(0.5)
        optimizer._create_slots([w])
        optimizer._prepare()
        accumulator = optimizer.get_slot(w, "accumulator")
        with tf.control_dependencies([w.initializer, accumulator.initializer]):
            done = optimizer._apply_sparse(tf.IndexedSlices(grad, indices, w.shape), w)
        with tf.control_dependencies([done]):
            return w.read_value() + 0, accumulator.read_value() + 0

    expected = np.zeros([5003, 17], np.float32)
    squares = np.full_like(expected, 0.1)
    for row, grad in zip(rows, grads, strict=True):
        squares[row] += grad * grad
        expected[row] -= grad * np.float32(0.5) / np.sqrt(squares[row])
    for result, value in zip(testing.evaluate(update, grads, rows), (expected, squares), strict=True):
        np.testing.assert_allclose(result, value, rtol=1e-5, atol=1e-5)
    assert_same_bits(update, grads, rows)


def stepped(name, start, grad):
    """The variable after one step, initialized in the same run."""
    w = tf.Variable(tf.zeros(start.shape))
    optimizer = OPTIMIZERS[name][0]()
    optimizer._create_slots([w])
    slots = [optimizer.get_slot(w, slot) for slot in optimizer.get_slot_names()]
    others = [v for v in tf.global_variables() if v is not w and v not in slots]
    with tf.control_dependencies([w.assign(start), *[v.assign(v.initial_value) for v in [*slots, *others]]]):
        train = optimizer.apply_gradients([(grad, w)])
    with tf.control_dependencies([train]):
        return tf.stack([w.read_value() + 0, *[slot.read_value() + 0 for slot in slots]])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_all_float_types_train(name):
    for dtype in ("float16", "bfloat16", "float64"):
        if (name, dtype) == ("adam", "bfloat16"):
            continue  # in which its second beta is 1
        with tf.Graph().as_default(), tf.Session() as session:
            w = tf.Variable(tf.cast([2.0, -1.0], dtype))
            train = OPTIMIZERS[name][0]().minimize(tf.reduce_sum(w * w))
            session.run(tf.global_variables_initializer())
            session.run(train)
            after = session.run(w).astype(np.float64)
            assert 0 < after[0] < 2 and -1 < after[1] < 0


@pytest.mark.parametrize("index", [-1, 4, 2**31 - 1])
@pytest.mark.parametrize("name", ["momentum", "nesterov", "adagrad"])
def test_a_bad_row_is_an_error_and_nothing_is_written(name, index):
    w = tf.Variable(tf.ones([4, 2]))
    optimizer = OPTIMIZERS[name][0]()
    optimizer._create_slots([w])
    optimizer._prepare()
    indices = tf.placeholder(tf.int32, [3])
    slices = tf.IndexedSlices(tf.ones([3, 2]), indices, tf.constant([4, 2]))
    update = optimizer._apply_sparse(slices, w)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        slots = session.run([optimizer.get_slot(w, slot) for slot in optimizer.get_slot_names()])
        with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)index|indices|range"):
            session.run(update, {indices: [0, 1, index]})
        assert np.all(session.run(w) == 1)
        for before, slot in zip(slots, optimizer.get_slot_names(), strict=True):
            np.testing.assert_array_equal(session.run(optimizer.get_slot(w, slot)), before)


def test_fed_hyperparameters_take_effect_at_once():
    w = tf.Variable([1.0])
    rate = tf.placeholder_with_default(1.0, [])
    train = tf.train.GradientDescentOptimizer(rate).apply_gradients([(tf.constant([1.0]), w)])
    with tf.Session() as session:
        session.run(w.initializer)
        session.run(train)
        session.run(train, {rate: 10.0})
        assert session.run(w) == [-10]
