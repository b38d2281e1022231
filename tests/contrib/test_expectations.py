"""tf.contrib.bayesflow.monte_carlo: expectations by samples, and their gradients."""

import numpy as np
import pytest

import stillflow as tf

monte_carlo = tf.contrib.bayesflow.monte_carlo


def _normal(loc, scale):
    return tf.distributions.Normal(loc, scale)


def test_importance_sampling_gives_the_mean_of_another_distribution(new_graph):
    target, other = _normal(1.0, 0.5), _normal(0.5, 1.5)
    found = [
        monte_carlo.expectation_importance_sampler(lambda x: x, target.log_prob, other, n=50_000, seed=1),
        tf.exp(
            monte_carlo.expectation_importance_sampler_logspace(tf.identity, target.log_prob, other, n=50_000, seed=2)
        ),
    ]
    with tf.Session() as session:
        mean, exponential = session.run(found)
    assert abs(mean - 1.0) < 0.02
    assert abs(exponential - np.exp(1.125)) < 0.05  # of a lognormal number


def test_both_gradients_are_those_of_the_mean(new_graph):
    loc = tf.constant(0.7)
    distribution = _normal(loc, 1.0)
    samples = distribution.sample(100_000, seed=3)
    through = monte_carlo.expectation(tf.square, samples)
    by_score = monte_carlo.expectation(
        tf.square, samples, log_prob=distribution.log_prob, use_reparametrization=False
    )
    with tf.Session() as session:
        values = session.run([through, by_score])
        gradients = session.run([tf.gradients(value, loc)[0] for value in (through, by_score)])
    np.testing.assert_allclose(values, [1.49, 1.49], atol=0.03)
    np.testing.assert_allclose(gradients, [1.4, 1.4], atol=0.05)


def test_one_of_samples_and_their_number_is_needed(new_graph):
    with pytest.raises(ValueError, match="Must specify exactly one of arguments"):
        monte_carlo.expectation_importance_sampler(tf.identity, tf.identity, _normal(0.0, 1.0))
