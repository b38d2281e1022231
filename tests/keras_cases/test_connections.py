"""Which inputs a convolution's outputs are computed from."""

import numpy as np
import pytest
from stillflow.python.keras.utils import conv_utils

import stillflow as tf


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize(
    ("sizes", "kernel", "strides"), [((5,), (2,), (1,)), ((4, 5), (3, 2), (2, 1)), ((0, 3), 1, 1)]
)
def test_connections_agree_with_each_other(sizes, kernel, strides, padding):
    mask = conv_utils.conv_kernel_mask(sizes, kernel, strides, padding)
    kernel, strides = ((each,) * len(sizes) if isinstance(each, int) else each for each in (kernel, strides))
    counts = conv_utils.conv_output_shape(sizes, kernel, strides, padding)
    assert mask.shape == (*sizes, *counts)
    for place in np.ndindex(*counts):
        expected = np.zeros(sizes, bool)
        window = conv_utils.conv_connected_inputs(sizes, kernel, place, strides, padding)
        expected[np.ix_(*window)] = True
        np.testing.assert_array_equal(mask[(..., *place)], expected)
    pairs = list(conv_utils.conv_kernel_idxs(sizes, kernel, strides, padding, 1, 1, "channels_last"))
    assert len(pairs) == mask.sum()
    flat = mask.reshape(np.prod(sizes, dtype=int), np.prod(counts, dtype=int))
    assert all(flat[source, output] for output, source in pairs)


def test_connections_are_those_of_the_op():
    kernel = tf.ones([3, 2, 1, 1])
    image = tf.placeholder(tf.float32, [1, 4, 5, 1])
    output = tf.nn.conv2d(image, kernel, [1, 2, 1, 1], "VALID")
    mask = conv_utils.conv_kernel_mask((4, 5), (3, 2), (2, 1), "valid")
    with tf.Session() as session:
        for place in [(0, 0), (3, 2)]:
            fed = np.zeros((1, 4, 5, 1))
            fed[0, place[0], place[1], 0] = 1
            np.testing.assert_array_equal(session.run(output, {image: fed})[0, ..., 0] > 0, mask[place])


def test_indices_of_channels():
    found = list(conv_utils.conv_kernel_idxs((2, 2), (2, 1), (1, 1), "valid", 1, 1, "channels_last"))
    assert found == [(0, 0), (0, 2), (1, 1), (1, 3)]
    found = list(conv_utils.conv_kernel_idxs((2,), (1,), (1,), "same", 2, 1, "channels_first"))
    assert found == [(0, 0), (0, 2), (1, 1), (1, 3)]


def test_refusals():
    with pytest.raises(NotImplementedError, match="Padding type full not supported"):
        conv_utils.conv_kernel_mask((3,), 1, 1, "full")
    with pytest.raises(ValueError, match="must all match"):
        conv_utils.conv_kernel_mask((3,), (1, 1), 1, "same")
    with pytest.raises(ValueError, match="Data format x"):
        next(conv_utils.conv_kernel_idxs((3,), 1, 1, "same", 1, 1, "x"))
