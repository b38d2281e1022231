"""Updates of rows that are scaled on their way: where that applies, and that it changes no bit."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import isa
from stillflow.testing import ISAS


def update(function, dtype, fetches_product=False, isa_name=None):
    """The variable after one update of repeated rows, and the plan's steps."""
    rng = np.random.default_rng(1)
    initial, rows = (rng.standard_normal((n, 7)).astype(dtype) for n in (9, 30))
    with tf.Graph().as_default(), tf.Session() as session:
        session._kernels = isa.kernels(isa_name)
        variable = tf.Variable(initial)
        updates, rate = tf.placeholder(dtype, [30, 7]), tf.placeholder(dtype, [])
        product = updates * rate
        change = function(variable, np.arange(30) % 9, product)
        session.run(tf.global_variables_initializer())
        session.run([change.op, product] if fetches_product else change.op, {updates: rows, rate: 0.3})
        return session.run(variable), step_names(session)


def step_names(session):
    requests = [r for r in session._requests.values() if r._fed]
    text = requests[-1].plans[0].text
    return [line.split()[1] for line in text.splitlines() if line[:3].strip().isdigit()]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("function", [tf.scatter_add, tf.scatter_sub])
def test_same_bits_as_two_nodes(function, dtype):
    apart, names = update(function, dtype, fetches_product=True)
    assert "scatter" in names
    assert "scaled_scatter" not in names
    for isa_name in ISAS:
        fused, names = update(function, dtype, isa_name=isa_name)
        assert "scaled_scatter" in names
        assert "elementwise" not in names
        assert fused.tobytes() == apart.tobytes()


def test_other_updates_stay_two_nodes():
    assert "scaled_scatter" not in update(tf.scatter_mul, "float32")[1]
    with tf.Session() as session:
        variable = tf.Variable(tf.zeros([4, 2]))
        updates = tf.placeholder(tf.float32, [3, 2])
        change = tf.scatter_sub(variable, [0, 1, 2], updates * [[2.0, 3.0]])
        session.run(tf.global_variables_initializer())
        session.run(change.op, {updates: np.ones((3, 2))})
        assert "scaled_scatter" not in step_names(session)
        np.testing.assert_array_equal(session.run(variable), [[-2, -3], [-2, -3], [-2, -3], [0, 0]])
