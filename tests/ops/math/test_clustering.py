"""NearestNeighbors, KmeansPlusPlusInitialization, KMC2ChainInitialization: values, bad input, same bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate


def run(op, *inputs):
    """What an op gives; floats are float32, integers int64."""
    arrays = [np.asarray(value) for value in inputs]
    return evaluate(op, *[array.astype({"f": "f", "i": "q"}.get(array.dtype.kind, array.dtype)) for array in arrays])


@pytest.mark.parametrize("k", [1, 2, 7, 12, 0])
def test_neighbors_are_the_nearest(k, rng):
    points, centers = rng.standard_normal((40, 5)).astype("f"), rng.standard_normal((7, 5)).astype("f")
    indices, distances = run(ops.nearest_neighbors, points, centers, k)
    expected = ((points[:, None].astype(float) - centers) ** 2).sum(2)
    np.testing.assert_array_equal(indices, expected.argsort(axis=1)[:, :k])
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :k], rtol=1e-4, atol=1e-5)


def test_of_centers_equally_far_the_first_counts():
    for k in (1, 2):
        indices, _ = run(ops.nearest_neighbors, np.zeros((3, 2), "f"), np.ones((4, 2), "f"), k)
        assert indices[:, 0].tolist() == [0, 0, 0]


@pytest.mark.parametrize("value", [0.0, 1.0, np.nan, np.inf])
def test_points_that_cannot_be_told_apart_still_give_centers(value):
    points = np.full((5, 2), value, "f")
    assert run(ops.kmeans_plus_plus_initialization, points, 5, 1, 2).shape == (5, 2)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (
            "nearest_neighbors",
            (np.ones((2, 3)), np.ones((2, 2)), 1),
            "point_dimensions == center_dimensions: 3 vs 2.",
        ),
        ("nearest_neighbors", (np.ones(2), np.ones((2, 2)), 1), "Input points should be a matrix."),
        ("nearest_neighbors", (np.ones((2, 2)), np.ones((2, 2)), -1), "must be >= 0"),
        ("nearest_neighbors", (np.full((2, 2), np.nan), np.ones((2, 2)), 2), "not numbers"),
        ("kmeans_plus_plus_initialization", (np.ones((2, 2)), 3, 1, 1), r"num_to_sample <= points.rows\(\). 3 vs 2."),
        ("kmeans_plus_plus_initialization", (np.ones((2, 2)), 0, 1, 1), "Expected num_to_sample > 0."),
        ("kmeans_plus_plus_initialization", (np.ones((2, 2)), 1, [1], 1), "Input seed should be a scalar."),
        ("kmc2_chain_initialization", (np.ones((2, 2)), 1), "Input distances should be a vector."),
        ("kmc2_chain_initialization", (np.ones(0), 1), r"Expected distances_tensor.size\(\) > 0."),
    ],
)
def test_bad_input_is_refused(op, inputs, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(getattr(ops, op), *inputs)


def test_same_bits_everywhere(rng):
    points = rng.standard_normal((700, 30)).astype("f")
    assert_same_bits(lambda x: ops.nearest_neighbors(x, points[:150], 3)[1], points)
    assert_same_bits(lambda x: ops.kmeans_plus_plus_initialization(x, 9, 3, 2), points)
