"""Distributions over the points of quadratures: what TensorFlow 1.15.5 computes, and what is refused."""

import numpy as np
import pytest
import recorded_values

import stillflow as tf

cd = tf.contrib.distributions


@pytest.mark.parametrize(("case", "expected"), recorded_values.cases("contrib_quadratures"))
def test_values_are_those_of_tensorflow(case, expected):
    recorded_values.assert_same(recorded_values.evaluate(case), expected, rtol=2e-5, atol=2e-6)


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def test_points_of_gauss_and_hermite_have_the_mean_of_the_softmax():
    # TensorFlow 1.15.5 itself ends with an AttributeError here.
    grid, weights = cd.quadrature_scheme_softmaxnormal_gauss_hermite([[0.1], [-0.5]], [[1.0], [0.2]], 8)
    with tf.Session() as sess:
        grid, weights = sess.run([grid, weights])
    np.testing.assert_allclose(grid.sum(-2), 1.0, rtol=1e-6)
    normal = np.random.default_rng(1).normal(size=200000)
    expected = [(1 / (1 + np.exp(-(loc + scale * normal)))).mean() for loc, scale in ((0.1, 1.0), (-0.5, 0.2))]
    np.testing.assert_allclose((grid * weights).sum(-1)[:, 0], expected, rtol=5e-3)


def _identities(count=2):
    return [tf.linalg.LinearOperatorIdentity(2) for _ in range(count)]


@pytest.mark.parametrize(
    ("more", "error", "text"),
    [
        ({"scale": _identities(1)}, ValueError, "one for each component with num_component >= 2"),
        ({"scale": _identities(3)}, NotImplementedError, "len\\(scale\\)=3 is not 2"),
        ({"loc": [None]}, ValueError, "loc/scale must be same-length lists"),
        ({"distribution": cd.Normal([0.0, 1.0], 1.0)}, ValueError, "distribution.is_scalar_batch=False is not True"),
        ({"temperature": [1.0, 2.0]}, NotImplementedError, "normal_scale.shape\\[-1\\]=2 is not 1"),
        ({"temperature": 1.0}, ValueError, "normal_scale.rank=0 is not at least one"),
    ],
)
def test_arguments_that_are_refused(more, error, text):
    arguments = {"temperature": [1.0], "distribution": cd.Normal(0.0, 1.0), "scale": _identities(), **more}
    mix_loc = 0.0 if more.get("temperature") == 1.0 else [0.0]
    with pytest.raises(error, match=text):
        cd.VectorDiffeomixture(mix_loc, **arguments)


def test_samples_of_rates_have_the_moments_of_their_distribution():
    d = cd.PoissonLogNormalQuadratureCompound([0.1, 1.0], [0.3, 0.5])
    with tf.Session() as sess:
        samples, mean, deviation = sess.run([d.sample(20000, seed=1), d.mean(), d.stddev()])
    np.testing.assert_allclose(samples.mean(0), mean, rtol=0.03)
    np.testing.assert_allclose(samples.std(0), deviation, rtol=0.03)
