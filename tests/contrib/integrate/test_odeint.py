"""tf.contrib.integrate. Recorded values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import stillflow as tf

integrate = tf.contrib.integrate


def test_adaptive_steps_are_those_of_tensorflow():
    y, info = integrate.odeint(
        lambda y, t: tf.stack([y[1], -y[0]]) * (1 + t / 4),
        tf.constant([1.0, 0.0], tf.float64),
        [0.0, 0.5, 2.0, 3.0],
        rtol=1e-5, atol=1e-8, method="dopri5", options={"first_step": 0.3}, full_output=True,
    )  # fmt: skip
    assert y.shape == [4, 2]
    with tf.Session() as session:
        y, info = session.run([y, info])
    expected = [[1, 0], [0.86217439, -0.50661305], [-0.80114287, -0.59846629], [-0.5541791, 0.83238748]]
    np.testing.assert_allclose(y, expected, rtol=1e-7)
    assert info["num_func_evals"] == 91
    points = [0.3, 0.63037302, 0.98248682, 1.33251209, 1.28298674, 1.58383634, 1.53988347, 1.7874086, 2.06162076,
              2.34471408, 2.60201585, 2.55806216, 2.7609841, 2.99151142, 3.2343834]  # fmt: skip
    np.testing.assert_allclose(info["integrate_points"], points, rtol=1e-7)
    np.testing.assert_allclose(info["error_ratio"][:4], [0.36458264, 0.42935856, 0.60831824, 1.26615744], rtol=1e-6)


def test_complex_states():
    with tf.Session() as session:
        y = session.run(integrate.odeint(lambda y, t: 1j * y, tf.constant(1j, tf.complex128), [0.0, 1.0]))
    np.testing.assert_allclose(y, [1j, -0.84147083 + 0.54030205j], rtol=1e-7)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("midpoint", [[1.0, 2.0], [0.8807678, 1.7615356], [0.13943228, 0.27886456]]),
        ("rk4", [[1.0, 2.0], [0.8824966, 1.7649932], [0.13567467, 0.27134934]]),
    ],
)
def test_fixed_steps(method, expected):
    y = integrate.odeint_fixed(
        lambda y, t: -y * tf.cast(t, tf.float32), tf.constant([1.0, 2.0]), [0.0, 0.5, 2.0], [0.25, 0.4], method
    )
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(y), expected, rtol=1e-6)


def test_fixed_steps_have_gradients():
    y0 = tf.constant(2.0, tf.float64)
    y = integrate.odeint_fixed(lambda y, t: -y, y0, np.linspace(0.0, 1.0, 21))
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.gradients(y[-1], y0)), [np.exp(-1.0)], rtol=1e-6)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="invalid method: 'euler'"):
        integrate.odeint(lambda y, t: y, 1.0, [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match="cannot supply `options` without specifying `method`"):
        integrate.odeint(lambda y, t: y, 1.0, [0.0, 1.0], options={"first_step": 1.0})
    with pytest.raises(TypeError, match="`y0` must have a floating point or complex"):
        integrate.odeint(lambda y, t: y, 1, [0.0, 1.0])
    with pytest.raises(ValueError, match="method not supported: euler"):
        integrate.odeint_fixed(lambda y, t: y, 1.0, [0.0, 1.0], method="euler")
    with pytest.raises(ValueError, match="must be N and N-1"):
        integrate.odeint_fixed(lambda y, t: y, 1.0, [0.0, 1.0], [0.1, 0.1])


@pytest.mark.parametrize(
    ("times", "options", "message"),
    [
        ([1.0, 0.0], {}, "`t` must be monotonic increasing"),
        ([0.0, 1.0], {"max_num_steps": 1, "first_step": 0.1}, "max_num_steps exceeded"),
    ],
)
def test_bad_integrations_end(times, options, message):
    y = integrate.odeint(lambda y, t: -y, tf.constant(1.0, tf.float64), times, method="dopri5", options=options)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(y)
