"""Constraints by name, against numpy."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.layers.core import constraints

W = np.array([[3.0, -0.3, 0.0], [4.0, 0.4, 0.0]], np.float32)
NORMS = np.array([5.0, 0.5, 0.0], np.float32)


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (constraints.MaxNorm(1.0), W * np.minimum(NORMS, 1.0) / (NORMS + 1e-7)),
        (constraints.get("nonneg"), np.maximum(W, 0)),
        (constraints.get("unit_norm"), W / (NORMS + 1e-7)),
        (constraints.MinMaxNorm(1.0, 2.0, 0.5), W * (0.5 * np.clip(NORMS, 1, 2) + 0.5 * NORMS) / (NORMS + 1e-7)),
        (
            constraints.get({"class_name": "MaxNorm", "config": {"max_value": 2, "axis": 1}}),
            W * np.minimum(1, 2 / np.linalg.norm(W, axis=1, keepdims=True)),
        ),
    ],
)
def test_values(constraint, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        np.testing.assert_allclose(session.run(constraint(tf.constant(W))), expected, rtol=1e-6, atol=1e-7)


def test_names_are_found_and_configs_go_both_ways():
    assert constraints.get(None) is None
    assert constraints.get(np.abs) is np.abs
    assert constraints.get("max_norm").get_config() == {"max_value": 2, "axis": 0}
    with pytest.raises(ValueError, match="Unknown constraint: other"):
        constraints.get("other")
    with pytest.raises(ValueError, match="Could not interpret constraint identifier: 3"):
        constraints.get(3)


@pytest.mark.parametrize(
    ("size", "rings"),
    [(3, [4, 0, 4]), (5, [18, 12, 6, 12, 18])],  # the middle row, as TensorFlow has it
)
def test_radial_kernels(size, rings):
    radial = tf.keras.constraints.get("radial_constraint")
    kernel = tf.constant(np.arange(size**2, dtype="float32").reshape(size, size, 1, 1))
    with tf.Session() as session:
        value = session.run(radial(kernel))[:, :, 0, 0]
    np.testing.assert_array_equal(value[size // 2], rings)
    np.testing.assert_array_equal(value, value.T)
    assert set(value[0]) == {rings[0]}
    with pytest.raises(ValueError, match="The weight tensor must be of rank 4"):
        radial(tf.ones([3, 3]))
