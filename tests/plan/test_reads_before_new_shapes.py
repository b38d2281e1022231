"""A value that was read of a variable stays when an assignment gives the variable another shape, as in TensorFlow."""

import numpy as np

import stillflow as tf


def test_what_an_assignment_waits_for_outlives_it():
    variable = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], validate_shape=False, use_resource=False)
    old = variable.value()
    with tf.control_dependencies([old]):
        assigned = tf.assign(variable, tf.zeros([5]), validate_shape=False)
    with tf.control_dependencies([assigned]):
        kept = old[:2] + 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(kept), [1, 2])
        np.testing.assert_array_equal(session.run(variable), np.zeros(5))
