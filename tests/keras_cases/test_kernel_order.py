"""convert_all_kernels_in_model turns kernels around, and twice is nothing."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.keras.engine.kernel_order import convert_kernel


def test_kernels_are_turned_around():
    layers = tf.keras.layers
    with tf.Graph().as_default():
        model = tf.keras.Sequential(
            [layers.Conv2D(3, (2, 3), input_shape=(5, 5, 2)), layers.Conv2DTranspose(2, 2), layers.Flatten()]
        )
        model.add(layers.Dense(2))
        before = model.get_weights()
        tf.keras.utils.convert_all_kernels_in_model(model)
        after = model.get_weights()
        for index in (0, 2):
            np.testing.assert_array_equal(after[index], before[index][::-1, ::-1])
        for index in (1, 3, 4, 5):
            np.testing.assert_array_equal(after[index], before[index])
        tf.keras.utils.convert_all_kernels_in_model(model)
        np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_matrix_is_no_kernel():
    with pytest.raises(ValueError, match="Invalid kernel shape"):
        convert_kernel(np.zeros((2, 2)))
