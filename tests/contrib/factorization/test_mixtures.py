"""Mixtures of normal distributions and k-means of contrib.learn find the clusters there are."""

import numpy as np
import pytest
from stillflow.contrib.factorization.python.ops import gmm_ops

import stillflow as tf

RANDOM = np.random.RandomState(1)
CENTERS = np.float32([[0, 0], [5, 8]])
CLASSES = RANDOM.randint(0, 2, 200)
POINTS = (CENTERS[CLASSES] + RANDOM.normal(size=(200, 2)) * [0.5, 1]).astype(np.float32)
MEANS = np.float32([[1, 1], [4, 4]])


def input_fn():
    return tf.constant(POINTS), None


def step_of(shares, is_full):
    """(weights, means, covariances) of a step by these shares of points."""
    counts = shares.sum(0)
    means = shares.T @ POINTS / counts[:, None]
    covs = [
        (POINTS * shares[:, k : k + 1]).T @ POINTS / counts[k] - np.outer(means[k], means[k]) + 1e-3 * np.eye(2)
        for k in range(2)
    ]
    return counts / counts.sum(), means, np.array([cov if is_full else np.diag(cov) for cov in covs])


def shares_at_first(is_full):
    """The shares of points by the first means and the covariance of all."""
    cov = np.cov(POINTS.T) + 2e-3 * np.eye(2)
    cov = cov if is_full else np.diag(np.diag(cov))
    away = POINTS[:, None] - MEANS
    densities = np.exp(-0.5 * np.einsum("nki,ij,nkj->nk", away, np.linalg.inv(cov), away))
    densities *= 0.5 / (2 * np.pi * np.sqrt(np.linalg.det(cov)))
    return densities


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_a_step_is_one_of_expectation_and_maximization(kind):
    with tf.Graph().as_default(), tf.Session() as session:
        mixture = gmm_ops.GmmAlgorithm([tf.constant(POINTS)], 2, tf.constant(MEANS), covariance_type=kind)
        session.run(tf.global_variables_initializer())
        assert not session.run(mixture.is_initialized())
        session.run(mixture.init_ops())
        assert session.run(mixture.is_initialized())
        likelihood, scores = session.run([mixture.log_likelihood_op(), mixture.scores()])
        session.run(mixture.training_ops())
        found = session.run([mixture.alphas(), mixture.clusters(), mixture.covariances()])
    densities = shares_at_first(kind == "full")
    totals = densities.sum(1)
    np.testing.assert_allclose(likelihood, np.log(totals.sum()), rtol=1e-4)
    np.testing.assert_allclose(scores[:, 0], np.log(totals), rtol=1e-3, atol=1e-3)
    weights, means, covs = step_of(densities / totals[:, None], kind == "full")
    np.testing.assert_allclose(found[0], weights, rtol=1e-4)
    np.testing.assert_allclose(found[1][:, 0], means, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[2], covs, rtol=1e-3, atol=1e-3)


def test_what_is_not_to_be_updated_stays():
    with tf.Graph().as_default(), tf.Session() as session:
        *_, train_op, init_op, _ = gmm_ops.gmm(tf.constant(POINTS), MEANS, 2, 0, params="w")
        session.run(tf.global_variables_initializer())
        session.run([init_op])
        session.run(train_op)
        variables = {variable.op.name: session.run(variable) for variable in tf.global_variables()}
    np.testing.assert_array_equal(variables["clusters"][:, 0], MEANS)
    assert variables["alphas"][0] != 0.5


def test_means_begin_with_points():
    with tf.Graph().as_default(), tf.Session() as session:
        mixture = gmm_ops.GmmAlgorithm([tf.constant(POINTS)], 40, random_seed=3)
        session.run(tf.global_variables_initializer())
        session.run(mixture.init_ops())
        means = session.run(mixture.clusters())[:, 0]
    assert means.shape == (40, 2)
    assert all((mean == POINTS).all(1).any() for mean in means)


def test_a_fit_without_steps_does_one(tmp_path):
    mixture = tf.contrib.factorization.GMM(2, str(tmp_path), covariance_type="diag")
    mixture.fit(input_fn=input_fn, steps=0)
    assert mixture.get_variable_value("global_step") == 1
    assert mixture.covariances().shape == (2, 2)


def test_a_type_of_covariances_is_one_of_two():
    with pytest.raises(Exception, match="Invalid covariance type: round"):
        gmm_ops.gmm(tf.constant(POINTS), MEANS, 2, 0, covariance_type="round")


def test_an_estimator_finds_the_clusters(tmp_path):
    mixture = tf.contrib.factorization.GMM(2, str(tmp_path), initial_clusters=MEANS)
    mixture.fit(input_fn=input_fn, steps=1)
    before = mixture.score(input_fn=input_fn, steps=1)
    mixture.fit(input_fn=input_fn, steps=20)
    assert mixture.score(input_fn=input_fn, steps=1) > before
    np.testing.assert_array_equal(list(mixture.predict_assignments(input_fn=input_fn)), CLASSES)
    means = [POINTS[k == CLASSES].mean(0) for k in range(2)]
    np.testing.assert_allclose(mixture.clusters(), means, atol=0.02)
    np.testing.assert_allclose(mixture.weights(), np.bincount(CLASSES) / 200, atol=0.01)
    assert mixture.covariances().shape == (2, 2, 2)


def test_k_means_of_learn_finds_the_clusters(tmp_path):
    learn = tf.contrib.learn
    clusters = learn.KMeansClustering(2, str(tmp_path), MEANS, use_mini_batch=False, relative_tolerance=1e-6)
    clusters.fit(input_fn=input_fn, steps=50)
    means = np.array([POINTS[k == CLASSES].mean(0) for k in range(2)])
    np.testing.assert_allclose(clusters.clusters(), means, rtol=1e-3, atol=1e-3)
    assert clusters.get_variable_value("global_step") < 50
    np.testing.assert_array_equal(list(clusters.predict_cluster_idx(input_fn)), CLASSES)
    squares = ((POINTS[:, None] - means) ** 2).sum(2)
    np.testing.assert_allclose(clusters.transform(input_fn), squares, rtol=1e-2, atol=1e-2)
    assert clusters.score(input_fn, steps=1) == pytest.approx(squares.min(1).sum(), rel=1e-3)


def test_columns_of_numbers_are_inferred():
    learn = tf.contrib.learn
    (column,) = learn.infer_real_valued_columns_from_input(np.zeros([4, 3], np.float32))
    assert (column.name, column.dimension, column.dtype) == ("", 3, tf.float32)
    (column,) = learn.infer_real_valued_columns_from_input_fn(lambda: ({"x": tf.zeros([2, 5], tf.int64)}, None))
    assert (column.name, column.dimension, column.dtype) == ("x", 5, tf.int64)
    with pytest.raises(ValueError, match="Non integer or non floating"):
        learn.infer_real_valued_columns_from_input(np.array([["a"]]))
    with pytest.raises(ValueError, match="Inputs cannot be tensors"):
        learn.infer_real_valued_columns_from_input(tf.zeros([2]))
