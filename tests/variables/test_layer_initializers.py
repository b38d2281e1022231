"""Initializers of tf.contrib.layers. Their numbers and nodes are those of the programs of test_seeds.py."""

import numpy as np
import pytest

import stillflow as tf

layers = tf.contrib.layers


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(("mode", "count"), [("FAN_IN", 3 * 5 * 8), ("FAN_OUT", 3 * 5 * 24), ("FAN_AVG", 3 * 5 * 16)])
def test_the_variance_is_that_of_the_units_that_are_counted(mode, count, uniform):
    initializer = layers.variance_scaling_initializer(3.0, mode, uniform, seed=1)
    with tf.Session() as session:
        values = session.run(initializer([3, 5, 8, 24]))
    assert values.dtype == np.float32
    assert values.var() == pytest.approx(3.0 / count, rel=0.1)


def test_vectors_and_scalars_have_as_many_inputs_as_outputs():
    with tf.Session() as session:
        for shape, limit in (([10], np.sqrt(3 / 10)), ([], np.sqrt(3))):
            values = session.run([layers.xavier_initializer(seed=seed)(shape) for seed in range(50)])
            assert limit * 0.8 < np.abs(values).max() <= limit


def test_the_type_of_a_variable_is_that_of_its_values():
    v = tf.get_variable("v", [2, 3], tf.float64, initializer=layers.xavier_initializer_conv2d())
    assert v.dtype.base_dtype == tf.float64


def test_types_and_modes_that_do_not_exist_are_refused():
    with pytest.raises(TypeError, match=r"Cannot create initializer for non-floating point type\."):
        layers.xavier_initializer(dtype=tf.int32)
    with pytest.raises(TypeError, match=r"Cannot create initializer for non-floating point type\."):
        layers.xavier_initializer()([2, 2], dtype=tf.int32)
    with pytest.raises(TypeError, match=r"Unknown mode FAN \[FAN_IN, FAN_OUT, FAN_AVG\]"):
        layers.variance_scaling_initializer(mode="FAN")
