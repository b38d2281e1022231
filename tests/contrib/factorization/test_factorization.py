"""k-means and WALS of contrib.factorization make TensorFlow's graphs and find what it finds."""

import json
from pathlib import Path

import numpy as np
import pytest
from contrib.factorization import factorization_scenarios as scenarios

import stillflow as tf

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "factorization.json").read_text())


def agrees(found, expected):
    """Whether both are the same, but for the rounding of numbers."""
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-3, abs=2e-4)
    return found == expected


def as_json(found):
    return json.loads(json.dumps(found))


@pytest.mark.parametrize("name", sorted(scenarios.scenarios()))
def test_a_program_does_what_it_does_in_tensorflow(name):
    found = as_json(scenarios.outcome(tf, scenarios.scenarios()[name]))
    assert len(found) == len(RECORDED[name])
    for ours, theirs in zip(found, RECORDED[name], strict=True):
        assert agrees(ours, theirs), f"{ours}\n{theirs}"


def test_a_mini_batch_moves_centers_by_the_share_of_its_points():
    points = tf.placeholder(tf.float32, [None, 3])
    graph = tf.contrib.factorization.KMeans(
        points, 4, initial_clusters=scenarios.CENTERS, use_mini_batch=True
    ).training_graph()
    centers, counts = scenarios.CENTERS.astype(float), np.ones(4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(graph[4])
        for batch in np.split(scenarios.POINTS, 3):
            session.run(graph[5], {points: batch})
            nearest = ((batch[:, None] - centers) ** 2).sum(2).argmin(1)
            for i in set(nearest):
                own = batch[nearest == i]
                counts[i] += len(own)
                centers[i] += (own.sum(0) - len(own) * centers[i]) / counts[i]
            np.testing.assert_allclose(session.run("clusters:0"), centers, rtol=1e-5, atol=1e-6)


def test_chains_add_points_until_there_are_enough_centers():
    points = tf.placeholder(tf.float32, [None, 3])
    graph = tf.contrib.factorization.KMeans(points, 4, initial_clusters="kmc2", kmc2_chain_length=10).training_graph()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while not session.run(graph[3]):
            session.run(graph[4], {points: scenarios.POINTS})
        centers = session.run("clusters:0")
        assert len({tuple(center) for center in centers} & {tuple(point) for point in scenarios.POINTS}) == 4
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(tf.global_variables_initializer())
            session.run(tf.assign(tf.global_variables()[0], np.ones([5, 3]), validate_shape=False))
            session.run(graph[4], {points: scenarios.POINTS})


def test_settings_are_checked():
    with pytest.raises(ValueError, match="Unsupported initialization algorithm 'best'"):
        tf.contrib.factorization.KMeans([[1.0]], 1, initial_clusters="best")
    with pytest.raises(ValueError, match="Unsupported distance metric 'city'"):
        tf.estimator.experimental.KMeans(2, distance_metric="city")
    with pytest.raises(ValueError, match="Invalid weight initialization"):
        tf.contrib.factorization.WALSModel(2, 2, 1, row_weights=-1)
