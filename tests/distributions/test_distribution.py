"""Distributions: what they print, copy and check when they run; eager execution."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.eager.graph import EagerGraph

distributions = tf.distributions


def test_prints_its_shapes():
    normal = distributions.Normal([0.0, 1.0], 1.0)
    assert str(normal) == 'tfp.distributions.Normal("Normal/", batch_shape=(2,), event_shape=(), dtype=float32)'
    assert repr(normal) == "<tfp.distributions.Normal 'Normal/' batch_shape=(2,) event_shape=() dtype=float32>"
    assert repr(normal.reparameterization_type) == "<Reparameteriation Type: FULLY_REPARAMETERIZED>"


def test_copy_keeps_what_is_not_given():
    gamma = distributions.Gamma(2.0, 3.0, validate_args=True, name="waiting")
    other = gamma.copy(rate=4.0)
    assert other.parameters == {**gamma.parameters, "rate": 4.0}
    assert other.validate_args
    assert other.name == "waiting_1/"


def test_shapes_of_parameters():
    shapes = distributions.StudentT.param_static_shapes([2, 3])
    assert {name: shape.as_list() for name, shape in shapes.items()} == {"df": [2, 3], "loc": [2, 3], "scale": [2, 3]}
    assert distributions.Exponential.param_static_shapes([4]) == {"rate": [4]}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: distributions.Normal(0.0, x, validate_args=True).log_prob(0.0), "x > 0 did not hold"),
        (lambda x: distributions.Bernoulli(probs=1 - x, validate_args=True).mean(), "components greater than 1"),
        (lambda x: distributions.Beta(x, 2.0, validate_args=True).mean(), "Concentration parameter must be positive"),
        (lambda x: distributions.Beta(2.0, 2.0, validate_args=True).prob(x), "sample must be positive"),
        (lambda x: distributions.Gamma(2.0 + x, 1.0, allow_nan_stats=False).mode(), "mode not defined"),
        (lambda x: distributions.StudentT(2.0 + x, 0.0, 1.0, allow_nan_stats=False).mean(), "mean not defined"),
        (lambda x: distributions.Categorical([1.0, 2.0], validate_args=True).prob(x), "must be non-negative"),
        (lambda x: distributions.Categorical([1.0, 2.0], validate_args=True).prob(x + 1.5), "int32-equivalent"),
        (lambda x: distributions.Multinomial(2.0, [0.0, 0.0], validate_args=True).prob([2 - x, 1.0]), "must sum to"),
        (lambda x: distributions.Normal(x - np.inf, 1.0).kl_divergence(distributions.Normal(x - np.inf, 1.0)), None),
    ],
)
def test_checks_that_run(make, message):
    x = tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        if message is None:
            assert np.isnan(session.run(make(x), {x: -1.0}))
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(make(x), {x: -1.0})


def test_no_nan_divergence():
    infinite = distributions.Normal(tf.constant(np.inf), 1.0, allow_nan_stats=False)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="returned NaN values"):
        session.run(infinite.kl_divergence(infinite))


def test_quantile_inverts_cdf():
    normal = distributions.Normal(np.float64(1.0), np.float64(3.0))
    x = np.linspace(-20, 14, 41)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(normal.quantile(normal.cdf(x))), x, rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: distributions.Normal(1.0, 2.0),
        lambda: distributions.Laplace(1.0, 2.0),
        lambda: distributions.Uniform(1.0, 3.0),
        lambda: distributions.Gamma(3.0, 2.0),
        lambda: distributions.Exponential(0.5),
        lambda: distributions.Beta(3.0, 2.0),
        lambda: distributions.StudentT(9.0, 1.0, 2.0),
        lambda: distributions.Bernoulli(probs=0.3, dtype=tf.float32),
        lambda: distributions.Dirichlet([1.0, 2.0, 3.0]),
        lambda: distributions.DirichletMultinomial(4.0, [1.0, 2.0, 3.0]),
        lambda: distributions.Multinomial(4.0, probs=[0.1, 0.3, 0.6]),
    ],
)
def test_samples_have_the_moments(make):
    count = 20_000
    tf.set_random_seed(7)
    distribution = make()
    with tf.Session() as session:
        samples, mean, stddev = session.run([distribution.sample(count), distribution.mean(), distribution.stddev()])
    np.testing.assert_allclose(samples.mean(axis=0), mean, atol=5 * np.max(stddev) / np.sqrt(count))
    np.testing.assert_allclose(samples.std(axis=0), stddev, rtol=0.06)


def test_eager():
    with EagerGraph().as_default():
        normal = distributions.Normal([0.0, 1.0], 2.0)
        np.testing.assert_allclose(
            normal.log_prob(1.0).numpy(), [-0.125, 0.0] - np.log(2 * np.sqrt(2 * np.pi)), rtol=1e-6
        )
        assert normal.sample(3, seed=1).shape == (3, 2)
        draws = distributions.Multinomial([3.0, 5.0], logits=[0.0, 1.0]).sample(4).numpy()
        np.testing.assert_array_equal(draws.sum(axis=-1), [[3.0, 5.0]] * 4)


def test_contrib_has_the_same_classes():
    assert tf.contrib.distributions.Normal is distributions.Normal
    assert tf.contrib.distributions.kl_divergence is distributions.kl_divergence
