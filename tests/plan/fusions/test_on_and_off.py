"""Every fusion, switched on and off by name: each changes the plan of its program, and none changes a bit."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.plan.fusions import names


def nce_step():
    tf.set_random_seed(3)
    inputs, labels = tf.placeholder(tf.int32, [32]), tf.placeholder(tf.int32, [32, 1])
    embeddings, weights = (tf.Variable(tf.random_normal([90, 20], stddev=s)) for s in (1.0, 2.0))
    biases = tf.Variable(tf.random_normal([90]))
    losses = tf.nn.nce_loss(weights, biases, labels, tf.nn.embedding_lookup(embeddings, inputs), 17, 90)
    train = tf.train.GradientDescentOptimizer(0.3).minimize(tf.reduce_mean(losses))
    return [train, losses], {inputs: np.arange(32) % 7, labels: np.arange(32).reshape(32, 1) * 2}


def scaled_update():
    variable = tf.Variable(tf.random_normal([9, 7], seed=1))
    updates, rate = tf.placeholder(tf.float32, [30, 7]), tf.placeholder(tf.float32, [])
    change = tf.scatter_sub(variable, np.arange(30) % 9, updates * rate)
    return [change.op], {updates: numbers(30, 7), rate: 0.3}


def least_elements():
    x = tf.placeholder(tf.float32, [20, 50])
    return [tf.sort(x), tf.argsort(x)], {x: numbers(20, 50)}


def clipped():
    x, y = tf.placeholder(tf.float32, [1000]), tf.placeholder(tf.bool, [1000])
    return [tf.clip_by_value(x, -1.0, 2.0), tf.logical_xor(y, x > 0)], {x: numbers(1000), y: numbers(1000) > 0.5}


def chain():
    x = tf.placeholder(tf.float32, [1000])
    y = tf.tanh(x * 2.0 + 1.0) * tf.sigmoid(x)
    return [y, tf.gradients(y, x)[0]], {x: numbers(1000)}


def numbers(*shape):
    """Normal ones with some special among them."""
    found = np.random.default_rng(7).normal(0, 3, shape).astype(np.float32)
    found.flat[:5] = np.inf, -np.inf, np.nan, -0.0, 1e-40
    return found


PROGRAMS = {
    "nce_loss": nce_step,
    "scaled_scatter": scaled_update,
    "bottom_k": least_elements,
    "elementwise_operations": clipped,
    "elementwise_chains": chain,
}


def run(build):
    """The bytes of what two steps fetch and of the variables after them, and the plan of the steps."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = build()
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, feeds) for _ in range(2)]
        (request,) = (r for r in session._requests.values() if r._fed)
        results.append(session.run(tf.global_variables()))
        arrays = [array for each in results for array in each if array is not None]
        return [(array.dtype, array.shape, array.tobytes()) for array in arrays], request.plans[0].text


def test_every_fusion_has_a_program():
    assert list(PROGRAMS) == names()


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_bits_on_and_off(name, monkeypatch):
    on, fused = run(PROGRAMS[name])
    monkeypatch.setenv("STILLFLOW_WITHOUT_FUSIONS", name)
    off, apart = run(PROGRAMS[name])
    assert on == off
    assert fused != apart
    monkeypatch.setenv("STILLFLOW_WITHOUT_FUSIONS", ", ".join(names()))
    assert run(PROGRAMS[name])[0] == on


def test_a_name_that_no_fusion_has_is_refused(monkeypatch):
    monkeypatch.setenv("STILLFLOW_WITHOUT_FUSIONS", "bottom_k,bottom_q")
    with pytest.raises(ValueError, match="names 'bottom_q', which is not one of nce_loss, scaled_scatter, bottom_k"):
        run(chain)
