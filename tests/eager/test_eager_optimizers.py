"""Steps taken at once. What is expected is what TensorFlow 1.15.5 computes, and the bits of our sessions."""

import numpy as np
import pytest

import stillflow as tf

# How an optimizer is made, and the weights after four steps under TensorFlow 1.15.5.
OPTIMIZERS = {
    "gradient_descent": (
        lambda: tf.train.GradientDescentOptimizer(0.1),
        [-0.98785508, -0.91032386, -0.1123261, 0.28711575, 0.49005604, 0.6642105],
    ),
    "momentum": (
        lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        [-1.08401716, -0.87227243, -0.13670534, 0.36382985, 0.45542753, 0.5872817],
    ),
    "nesterov": (
        lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        [-3.27794385, 1.78974223, -1.18962193, 1.54565215, 0.33660972, 0.86082965],
    ),
    "adam": (
        lambda: tf.train.AdamOptimizer(0.01),
        [-0.96032894, -0.63985652, -0.16021989, 0.16274081, 0.5600785, 0.96004641],
    ),
    "adam_by_function": (
        lambda: tf.train.AdamOptimizer(lambda: 0.1),
        [-0.82011521, -0.93960142, 0.0518507, 0.27778783, 0.25388807, 0.61858016],
    ),
    "adagrad": (
        lambda: tf.train.AdagradOptimizer(0.1),
        [-0.88316852, -0.80847514, -0.04832571, 0.27331194, 0.41131222, 0.76494312],
    ),
    "adadelta": (
        lambda: tf.train.AdadeltaOptimizer(0.5),
        [-0.99909329, -0.60090739, -0.19909291, 0.19909686, 0.59909225, 0.99909204],
    ),
    "rms_prop": (
        lambda: tf.train.RMSPropOptimizer(0.01),
        [-0.94718933, -0.67770606, -0.15044805, 0.19387622, 0.56782043, 0.92898357],
    ),
    "centered_rms_prop": (
        lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5, centered=True),
        [-0.91744888, -0.73234051, -0.12228407, 0.19214788, 0.55049032, 0.88087583],
    ),
    "ftrl": (
        lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.01),
        [-0.68236732, -0.73544765, -0.05182132, 0.14116757, 0.3600941, 0.66999608],
    ),
}


def weights_and_embedding():
    return (
        tf.Variable(np.linspace(-1, 1, 6).reshape(3, 2), dtype=tf.float32, name="w", use_resource=True),
        tf.Variable(np.linspace(0, 1, 8).reshape(4, 2), dtype=tf.float32, name="e", use_resource=True),
    )


def loss_of(weights, embedding):
    x = tf.constant([[0.5, 1.0, -1.0], [2.0, 0.3, 1.0]])
    looked_up = tf.nn.embedding_lookup(embedding, [1, 3]) + tf.nn.embedding_lookup(embedding, [1, 1])
    return tf.reduce_sum(tf.square(tf.matmul(x, weights) + looked_up))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_four_steps(name):
    make, expected = OPTIMIZERS[name]
    weights, embedding = weights_and_embedding()
    optimizer = make()
    step = tf.train.get_or_create_global_step()
    for _ in range(4):
        assert optimizer.minimize(lambda: loss_of(weights, embedding), global_step=step) is None
    np.testing.assert_allclose(weights.numpy().ravel(), expected, rtol=2e-6)
    assert step.numpy() == 4
    values = [variable.numpy() for variable in (weights, embedding, *optimizer.variables())]
    names = [variable.name for variable in optimizer.variables()]
    with tf.Graph().as_default(), tf.Session() as session:
        in_graph = weights_and_embedding()
        same = make()
        train = same.minimize(loss_of(*in_graph))
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
        assert names == [variable.name for variable in same.variables()]
        for ours, theirs in zip(values, session.run([*in_graph, *same.variables()]), strict=True):
            assert np.array_equal(ours, theirs)


def test_slots():
    weights, embedding = weights_and_embedding()
    optimizer = tf.train.AdamOptimizer(0.01)
    assert optimizer.get_slot(weights, "m") is None
    assert optimizer.variables() == []
    optimizer.minimize(lambda: loss_of(weights, embedding))
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(weights, "v").name == "w/Adam_1:0"
    assert not optimizer.get_slot(embedding, "m").trainable
    assert [variable.name for variable in optimizer.variables()] == [
        "beta1_power:0", "beta2_power:0", "e/Adam:0", "e/Adam_1:0", "w/Adam:0", "w/Adam_1:0",
    ]  # fmt: skip
    again = tf.train.AdamOptimizer(0.01)
    again.minimize(lambda: loss_of(weights, embedding))
    assert again.get_slot(weights, "m").name == "w/Adam_2:0"


def test_the_loss_is_a_function():
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    for call in (optimizer.minimize, optimizer.compute_gradients):
        with pytest.raises(RuntimeError, match="should be a function when eager execution is enabled"):
            call(tf.constant(1.0))


def test_gradients_of_a_function():
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    v, u = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    ((gradient, variable),) = optimizer.compute_gradients(lambda: tf.reduce_sum(v * v))
    assert variable is v
    assert gradient.numpy().tolist() == [2.0, 4.0]
    pairs = optimizer.compute_gradients(lambda: tf.reduce_sum(v * v), [v, u], grad_loss=tf.constant(2.0))
    assert pairs[0][0].numpy().tolist() == [4.0, 8.0]
    assert pairs[1] == (None, u)
    assert optimizer.compute_gradients(lambda: tf.constant(1.0)) == []
    with pytest.raises(ValueError, match="No gradients provided for any variable"):
        optimizer.minimize(lambda: tf.constant(1.0), var_list=[v])


def test_the_loss_may_be_a_function_in_a_graph():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(lambda: tf.reduce_sum(v * v))
        session.run(tf.global_variables_initializer())
        session.run(train)
        np.testing.assert_allclose(session.run(v), [0.8, 1.6])


def test_gradients_are_applied():
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    v = tf.Variable([1.0, 2.0])
    assert optimizer.apply_gradients([([1.0, 2.0], v)]) is None
    assert v.numpy().tolist() == [0.5, 1.0]
    optimizer.apply_gradients([(tf.IndexedSlices(tf.constant([1.0, 1.0]), tf.constant([0, 0])), v)])
    assert v.numpy().tolist() == [-0.5, 1.0]
    for pairs, error, message in (
        ([], ValueError, "No variables provided"),
        ([(None, v)], ValueError, "No gradients provided for any variable"),
        ([(tf.constant([1.0]), tf.constant([1.0]))], NotImplementedError, "Trying to update a Tensor"),
        ([(tf.constant([1.0, 1.0, 1.0]), v)], tf.errors.InvalidArgumentError, "ResourceApplyGradientDescent"),
    ):
        with pytest.raises(error, match=message):
            optimizer.apply_gradients(pairs)


def test_constraints():
    v = tf.Variable([1.0, -1.0], constraint=lambda value: tf.maximum(value, 0.0))
    optimizer = tf.train.AdamOptimizer(0.1)
    optimizer.minimize(lambda: tf.reduce_sum(v * v), var_list=[v])
    np.testing.assert_allclose(v.numpy(), [0.9, 0.0], rtol=1e-6)
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        optimizer.minimize(lambda: tf.gather(v, 0), var_list=[v])


def test_the_rate_may_be_a_variable():
    rate, x = tf.Variable(0.5), tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    optimizer.minimize(lambda: x * 2.0, var_list=[x])
    rate.assign(0.25)
    optimizer.minimize(lambda: x * 2.0, var_list=[x])
    assert x.numpy() == -0.5


def test_gradients_are_clipped():
    v = tf.Variable([0.5, 2.0])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    (clipped,), norm = tf.clip_by_global_norm(tape.gradient(loss, [v]), 1.0)
    np.testing.assert_allclose(norm.numpy(), np.sqrt(17.0), rtol=1e-6)
    np.testing.assert_allclose(clipped.numpy(), np.array([1.0, 4.0]) / np.sqrt(17.0), rtol=1e-6)


# The rates at steps 5 and 7.
SCHEDULES = {
    "exponential_decay": (lambda step: tf.train.exponential_decay(0.1, step, 2, 0.5), 0.01767767, 0.008838835),
    "staircase": (lambda step: tf.train.exponential_decay(0.1, step, 2, 0.5, staircase=True), 0.025, 0.0125),
    "natural_exp_decay": (lambda step: tf.train.natural_exp_decay(0.1, step, 2, 0.5), 0.028650481, 0.017377395),
    "inverse_time_decay": (lambda step: tf.train.inverse_time_decay(0.1, step, 2, 0.5), 0.044444446, 0.036363635),
    "polynomial_decay": (lambda step: tf.train.polynomial_decay(0.1, step, 10), 0.05005, 0.030070001),
    "cosine_decay": (lambda step: tf.train.cosine_decay(0.1, step, 10), 0.049999997, 0.02061074),
    "linear_cosine_decay": (lambda step: tf.train.linear_cosine_decay(0.1, step, 10), 0.025099998, 0.006283222),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_rates_are_functions_of_the_moment(name):
    make, *expected = SCHEDULES[name]
    step = tf.Variable(5, dtype=tf.int64)
    rate = make(step)
    rates = [rate().numpy()]
    step.assign(7)
    rates.append(rate().numpy())
    np.testing.assert_allclose(rates, expected, rtol=1e-6)


def test_an_optimizer_calls_the_schedule():
    step, x = tf.Variable(0, dtype=tf.int64), tf.Variable(1.0)
    optimizer = tf.train.MomentumOptimizer(tf.train.exponential_decay(0.5, step, 1, 0.5), 0.0)
    for _ in range(2):
        optimizer.minimize(lambda: x * 1.0, global_step=step, var_list=[x])
    assert x.numpy() == 0.25


def test_moving_averages():
    x = tf.Variable([1.0, 2.0], name="x")
    averages = tf.train.ExponentialMovingAverage(0.9)
    assert averages.apply([x]) is None
    x.assign([3.0, 4.0])
    averages.apply([x])
    assert averages.average(x).name == "x/ExponentialMovingAverage:0"
    np.testing.assert_allclose(averages.average(x).numpy(), [1.2, 2.2], rtol=1e-6)
    assert averages.variables_to_restore([x]) == {"x/ExponentialMovingAverage": x}
    with pytest.raises(TypeError, match="does not support non-Variable tensors"):
        averages.apply([tf.constant(1.0)])
