"""tf.contrib.distributions: what TensorFlow 1.15.5 computes, and what is refused."""

import numpy as np
import pytest
import recorded_values

import stillflow as tf

cd = tf.contrib.distributions


@pytest.mark.parametrize(("case", "expected"), recorded_values.cases("contrib_distributions"))
def test_values_are_those_of_tensorflow(case, expected):
    recorded_values.assert_same(recorded_values.evaluate(case), expected, rtol=2e-5, atol=2e-6)


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def test_samples_have_the_moments_of_their_distribution():
    tf.set_random_seed(1)
    mixture = cd.MixtureSameFamily(cd.Categorical(probs=[0.3, 0.7]), cd.Normal([0.0, 1.0], [0.1, 0.5]))
    with tf.Session() as sess:
        samples, mean, deviation = sess.run([mixture.sample(20000), mixture.mean(), mixture.stddev()])
    np.testing.assert_allclose([samples.mean(), samples.std()], [mean, deviation], rtol=0.03)


def test_shapes_are_known():
    normal = cd.MultivariateNormalDiag(tf.placeholder(tf.float32, [None, 3]), [1.0, 2.0, 3.0])
    assert normal.event_shape.as_list() == [3] and normal.sample(2).shape.as_list() == [2, None, 3]
    assert cd.Independent(cd.Normal(tf.zeros([2, 3, 4]), 1.0), 2).log_prob(0.0).shape.as_list() == [2]
    assert cd.bijectors.Reshape([2, 3], [6]).forward_event_shape([6]).as_list() == [2, 3]


def test_events_are_reshaped():
    reshape = cd.bijectors.Reshape([3, -1], [3])
    y = reshape.forward(tf.constant([[1.0, 2.0, 3.0]]))
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [[[1.0], [2.0], [3.0]]]
        assert sess.run(reshape.inverse(tf.identity(y))).tolist() == [[1.0, 2.0, 3.0]]
        assert sess.run(reshape.forward_log_det_jacobian(y[..., 0], event_ndims=1)).tolist() == 0.0


def test_gradients_flow_through_relaxed_samples():
    logits = tf.constant([[0.1, 0.2, 0.7]])
    sample = cd.RelaxedOneHotCategorical(0.5, logits=logits).sample(seed=1)
    (gradient,) = tf.gradients(sample[:, 0], logits)
    with tf.Session() as sess:
        assert np.abs(sess.run(gradient)).min() > 0


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: cd.Poisson(), ValueError, "Must specify exactly one of `rate` and `log_rate`."),
        (lambda: cd.MultivariateNormalTriL(), ValueError, "Must specify one or both of `loc`, `scale_tril`."),
        (lambda: cd.MultivariateNormalDiag(), ValueError, "Cannot infer `event_shape`"),
        (lambda: cd.Mixture(1, []), TypeError, "cat must be a Categorical distribution"),
        (lambda: cd.Mixture(cd.Categorical([0.0, 1.0]), [cd.Normal(0.0, 1.0)]), ValueError, "2 vs. 1"),
        (lambda: cd.bijectors.Permute([0, 0]), ValueError, "must contain exactly one of each"),
        (lambda: cd.bijectors.Invert(cd.bijectors.AbsoluteValue()), NotImplementedError, "non-injective"),
        (lambda: cd.bijectors.Bijector(), ValueError, "Must specify at least one of `forward_min_event_ndims`"),
        (lambda: cd.Cauchy(0.0, 1.0, allow_nan_stats=False).mean(), ValueError, "undefined for Cauchy"),
        (lambda: cd.Independent(cd.Normal(0.0, 1.0), 1), ValueError, "cannot exceed distribution.batch_ndims"),
        (lambda: cd.fill_triangular(tf.zeros([4])), ValueError, "does not correspond to a triangular matrix"),
        (
            lambda: cd.bijectors.Affine(scale_diag=[1.0]).forward_log_det_jacobian([1.0], event_ndims=0),
            ValueError,
            r"event_ndims \(0\) must be larger than min_event_ndims \(1\)",
        ),
        (
            lambda: cd.TransformedDistribution(cd.Normal([0.0], 1.0), batch_shape=[2]),
            ValueError,
            "base distribution not scalar",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_values_are_checked_when_they_are_to_be():
    for make, text in (
        (lambda: cd.Poisson(1.0, validate_args=True).log_prob(0.5), "cannot contain fractional components"),
        (lambda: cd.bijectors.Square(validate_args=True).forward(-1.0), "All elements must be non-negative."),
        (lambda: cd.Binomial(2.0, probs=0.5, validate_args=True).log_prob(3.0), "counts are not less than or equal"),
    ):
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(make())


def test_weibulls_bijector_computes_what_tensorflow_does():
    weibull = tf.contrib.distributions.python.ops.bijectors.weibull.Weibull
    bijector = weibull(scale=[1.5, 2.0], concentration=[0.7, 3.0], validate_args=True)
    x, y = tf.constant([[0.5, 1.0], [2.0, 0.25]]), tf.constant([[0.2, 0.6], [0.9, 0.01]])
    computed = [
        bijector.forward(x), bijector.inverse(y), bijector.forward_log_det_jacobian(x, 0),
        bijector.inverse_log_det_jacobian(y, 0),
    ]  # fmt: skip
    expected = [
        [[0.3709, 0.1175], [0.70568, 0.00195]], [[0.17599, 1.94256], [4.9379, 0.43161]],
        [[-0.89602, -1.10583], [-2.07153, -3.75537]], [[0.34245, 0.56911], [3.42217, 2.67135]],
    ]  # fmt: skip
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(computed), expected, atol=6e-6)
        for compute, value, message in (
            (bijector.forward, -1.0, "at least 0"),
            (bijector.inverse, 2.0, "less than or equal to 1"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(compute(value))
    with pytest.raises(ValueError, match="must be of the same type"):
        weibull(scale=1.0, concentration=np.float64(2))
