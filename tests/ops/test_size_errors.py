"""What TensorFlow 1.15.5 says when sizes do not fit, and what its rules knew by then (recorded)."""

import pytest

import stillflow as tf

_BLOCKS = [[0, 1], [0, 1]]
_ERRORS = {
    "rank of a spelled shape": (
        lambda: tf.nn.conv2d_backprop_filter(
            tf.ones([1, 2, 2, 1]), [2, 2, 1], tf.ones([1, 2, 2, 1]), [1] * 4, "SAME"
        ),
        "Shape must be rank 4 but is rank 3 for 'Conv2DBackpropFilter' (op: 'Conv2DBackpropFilter') with input "
        "shapes: [1,2,2,1], [3], [1,2,2,1].",
    ),
    "strides are asked for before bounds": (
        lambda: tf.strided_slice(tf.ones([2, 3]), [0, 0], [1, 1], [1, 0]),
        "strides[1] must be non-zero for 'StridedSlice' (op: 'StridedSlice') with input shapes: [2,3], [2], [2], [2] "
        "and with computed input tensors: input[3] = <1 0>.",
    ),
    "spelled sizes": (
        lambda: tf.broadcast_to(tf.ones([2, 3]), [4, 5]),
        "Dimensions must be equal, but are 3 and 5 for 'BroadcastTo' (op: 'BroadcastTo') with input shapes: "
        "[2,3], [2] and with input tensors computed as partial shapes: input[1] = [4,5].",
    ),
    "rank before sizes": (
        lambda: tf.broadcast_to(tf.ones([2, 3]), [3]),
        "Shape must be at most rank 1 but is rank 2 for 'BroadcastTo' (op: 'BroadcastTo') with input shapes: [2,3], "
        "[1].",
    ),
    "no shape: reshape": (lambda: tf.reshape(tf.ones([2, 3]), [4, -5]), "Invalid value in tensor used for shape: -5"),
    "no shape: fill": (lambda: tf.fill([-2], 3.0), "Invalid value in tensor used for shape: -2"),
    "no shape: random": (lambda: tf.random.uniform([2, -3]), "Invalid value in tensor used for shape: -3"),
    "no size: resize": (lambda: tf.image.resize_area(tf.ones([4, 3, 5, 1]), [2, -3]), "Dimension -3 must be >= 0"),
    "two sizes: resize": (
        lambda: tf.image.resize_area(tf.ones([4, 3, 5, 1]), [2]),
        "Dimension must be 2 but is 1 for 'ResizeArea' (op: 'ResizeArea') with input shapes: [4,3,5,1], [1].",
    ),
    "rank of blocks": (
        lambda: tf.space_to_batch_nd(tf.ones([4, 3, 5, 1]), tf.placeholder(tf.int32), _BLOCKS),
        "block_shape must have rank 1. for 'SpaceToBatchND' (op: 'SpaceToBatchND') with input shapes: [4,3,5,1], ?, "
        "[2,2].",
    ),
    "blocks": (
        lambda: tf.batch_to_space_nd(tf.placeholder(tf.float32), [0, 2], _BLOCKS),
        "block_shape must be positive for 'BatchToSpaceND' (op: 'BatchToSpaceND') with input shapes: ?, [2], "
        "[2,2] and with computed input tensors: input[1] = <0 2>, input[2] = <[0 1][0 1]>.",
    ),
    "whole blocks": (
        lambda: tf.space_to_batch_nd(tf.ones([2, 3, 3, 1]), [2, 2], [[0, 0], [0, 0]]),
        "Dimension size must be evenly divisible by 2 but is 3 for 'SpaceToBatchND' (op: 'SpaceToBatchND') with "
        "input shapes: [2,3,3,1], [2], [2,2] and with computed input tensors: input[1] = <2 2>, "
        "input[2] = <[0 0][0 0]>.",
    ),
    "paddings": (
        lambda: tf.space_to_batch_nd(tf.ones([4, 3, 5, 1]), tf.placeholder(tf.int32, [2]), [[0, -1], [0, 1]]),
        "paddings cannot be negative for 'SpaceToBatchND' (op: 'SpaceToBatchND') with input shapes: [4,3,5,1], [2], "
        "[2,2] and with computed input tensors: input[2] = <[0 -1][0 1]>.",
    ),
    "crops": (
        lambda: tf.batch_to_space_nd(tf.ones([4, 3, 5, 1]), [2, 2], [[6, 1], [0, 0]]),
        "Negative dimension size caused by subtracting 1 from 0 for 'BatchToSpaceND' (op: 'BatchToSpaceND') "
        "with input shapes: [4,3,5,1], [2], [2,2] and with computed input tensors: input[1] = <2 2>, "
        "input[2] = <[6 1][0 0]>.",
    ),
}


@pytest.mark.parametrize("name", _ERRORS)
def test_an_error_says_what_was_known_when_it_was_met(name):
    build, message = _ERRORS[name]
    with tf.Graph().as_default(), pytest.raises(ValueError) as raised:
        build()
    assert str(raised.value) == message


def test_lists_are_asked_for_by_functions_of_python():
    for build, name, op in (
        (lambda x: tf.raw_ops.Conv2D(input=x, filter=x, strides=3, padding="SAME"), "strides", "conv2d"),
        (lambda x: tf.nn.max_pool_with_argmax(x, 3, 2, "SAME"), "ksize", "max_pool_with_argmax"),
        (lambda x: tf.raw_ops.MaxPool3D(input=x, ksize=3, strides=[1] * 5, padding="SAME"), "ksize", "max_pool3d"),
    ):
        with tf.Graph().as_default(), pytest.raises(TypeError) as raised:
            build(tf.ones([1, 1, 1, 1]))
        assert str(raised.value) == f"Expected list for '{name}' argument to '{op}' Op, not 3."


def test_gradients_of_other_shapes_are_told_by_operation():
    images, filters = tf.ones([2, 3, 4, 3]), tf.ones([3, 2, 5, 3])
    enlarged = tf.nn.conv2d_transpose(images, filters, [2, 7, 8, 5], 2)
    with pytest.raises(ValueError) as raised:
        tf.gradients(enlarged, images)
    assert str(raised.value) == (
        "Incompatible shapes between op input and calculated input gradient.  Forward operation: conv2d_transpose.  "
        "Input index: 2. Original input shape: (2, 3, 4, 3).  Calculated input gradient shape: (2, 4, 4, 3)"
    )
