"""tf.contrib.recurrent beside dynamic_rnn and unrolled steps."""

import numpy as np
import pytest

import stillflow as tf

_TIME, _BATCH, _DEPTH, _UNITS = 5, 3, 2, 4


def _inputs(*shape):
    return np.random.RandomState(len(shape)).randn(*shape)


def _step(theta, state, x):
    """Besides the next state what the gradient is computed from."""
    h = tf.tanh(tf.matmul(x["x"], theta["w"]) + state["h"] * theta["scale"])
    return {"h": h}, {"h": h}


def _gradient_of_step(theta, state, x, extras, grad):
    through = grad["h"] * (1 - extras["h"] ** 2)
    d_theta = {"w": tf.matmul(x["x"], through, transpose_a=True), "scale": tf.reduce_sum(through * state["h"])}
    d_x = {"x": tf.matmul(through, theta["w"], transpose_b=True)}
    return d_theta, {"h": through * theta["scale"]}, d_x


@pytest.mark.parametrize("cell_grad", [None, _gradient_of_step])
@pytest.mark.parametrize(("count", "aligned_end"), [(None, False), (3, False), (3, True), (0, False)])
def test_states_and_gradients_are_those_of_unrolled_steps(count, aligned_end, cell_grad):
    theta = {"w": tf.constant(_inputs(_DEPTH, _UNITS)), "scale": tf.constant(0.7, tf.float64)}
    state0 = {"h": tf.constant(_inputs(_BATCH, _UNITS) + 0.5)}
    inputs = {"x": tf.constant(_inputs(_TIME, _BATCH, _DEPTH))}
    found = tf.contrib.recurrent.Recurrent(
        theta, state0, inputs, _step, cell_grad, max_input_length=count, aligned_end=aligned_end
    )
    steps = _TIME if count is None else count
    first = _TIME - steps if aligned_end else 0
    state, states = state0, [tf.zeros_like(state0["h"])] * _TIME
    for t in range(first, first + steps):
        state, _ = _step(theta, state, {"x": inputs["x"][t]})
        states[t] = state["h"]
    wanted = ({"h": tf.stack(states)}, state)
    weights = tf.constant(_inputs(_TIME, _BATCH, _UNITS))
    sources = [theta["w"], theta["scale"], state0["h"], inputs["x"]]
    results = []
    for every, last in (found, wanted):
        loss = tf.reduce_sum(every["h"] * weights) + tf.reduce_sum(last["h"] ** 3)
        grads = tf.gradients(loss, sources)
        grads = [tf.zeros_like(x) if grad is None else grad for x, grad in zip(sources, grads, strict=True)]
        results.append([every["h"], last["h"], *grads])
    assert found[0]["h"].shape == [_TIME, _BATCH, _UNITS]
    with tf.Session() as session:
        for one, other in zip(*session.run(results), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("time_major", [False, True])
@pytest.mark.parametrize("lengths", [None, [5, 1, 3]])
@pytest.mark.parametrize("cell", ["BasicLSTMCell", "GRUCell"])
def test_nets_are_those_of_dynamic_rnn(cell, lengths, time_major):
    """Of variables of the same names."""
    inputs = tf.constant(_inputs(*((_TIME, _BATCH) if time_major else (_BATCH, _TIME)), _DEPTH), tf.float32)
    make = getattr(tf.nn.rnn_cell, cell)
    arguments = {"dtype": tf.float32, "sequence_length": lengths, "time_major": time_major}
    one_way = [tf.contrib.recurrent.functional_rnn, tf.nn.dynamic_rnn]
    both_ways = [tf.contrib.recurrent.bidirectional_functional_rnn, tf.nn.bidirectional_dynamic_rnn]
    results = []
    for single, double in zip(one_way, both_ways, strict=True):
        with tf.variable_scope("net", reuse=bool(results)):
            values = [single(make(_UNITS), inputs, **arguments)]
            values.append(double(make(_UNITS), make(_UNITS), inputs, **arguments))
        flat = tf.nest.flatten(values)
        names = len(tf.global_variables())
        results.append(flat + tf.gradients([tf.reduce_sum(each**2) for each in flat], tf.trainable_variables()))
    assert names == len(tf.global_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one, other in zip(*session.run(results), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_backward_net_with_what_is_behind_the_ends():
    """All sequences as long as the inputs: `fast_reverse` changes nothing."""
    inputs = tf.constant(_inputs(_BATCH, _TIME, _DEPTH), tf.float32)
    results = []
    for fast in (False, True):
        with tf.variable_scope("net", reuse=fast):
            cells = [tf.nn.rnn_cell.GRUCell(_UNITS) for _ in range(2)]
            outputs, states = tf.contrib.recurrent.bidirectional_functional_rnn(
                *cells, inputs, dtype=tf.float32, sequence_length=[_TIME] * _BATCH, fast_reverse=fast
            )
        results.append([*outputs, *states])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for one, other in zip(*session.run(results), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
