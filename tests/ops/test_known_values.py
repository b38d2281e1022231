"""Shapes that are computed from constants are known while the graph is built, as they are in TensorFlow."""

import pytest

import stillflow as tf

CASES = {
    "add": (lambda: tf.constant([1, 2]) + [3, 4], [4, 6]),
    "add_n": (lambda: tf.add_n([[1, 2, 2], [1, 1, 2]]), [2, 3, 4]),
    "argmax": (lambda: tf.argmax([[0, 7], [1, 3]], 0) + 1, [2, 1]),
    "argmin": (lambda: tf.argmin([[3, 4], [5, 1]], 1, output_type=tf.int32), [0, 1]),
    "cast": (lambda: tf.cast([2.9, 3.1], tf.int32), [2, 3]),
    "ceil_of_half": (lambda: tf.cast([tf.ceil(tf.constant(7.0) / 2)], tf.int32), [4]),
    "cumprod": (lambda: tf.cumprod([2, 3, 1]), [2, 6, 6]),
    "cumsum": (lambda: tf.cumsum([2, 1, 1]), [2, 3, 4]),
    "floor_of_product": (lambda: tf.cast(tf.floor(tf.cast([3, 5], tf.float32) * 0.7), tf.int32), [2, 3]),
    "lengths_of_parts": (lambda: [tf.size(part) for part in tf.dynamic_partition([5, 6, 7], [0, 1, 0], 2)], [2, 1]),
    "minimum": (lambda: tf.minimum([3, 4], 3), [3, 3]),
    "pad": (lambda: tf.pad([3, 4], [[1, 0]], constant_values=2), [2, 3, 4]),
    "pow": (lambda: tf.pow([2, 3], 2), [4, 9]),
    "reduce_max": (lambda: [tf.reduce_max([2, 5])], [5]),
    "reduce_min": (lambda: tf.reduce_min([[2, 3], [4, 1]], 1), [2, 1]),
    "reduce_sum": (lambda: tf.reduce_sum([[1, 1, 1], [1, 2, 3]], axis=0), [2, 3, 4]),
    "reverse": (lambda: tf.reverse([[4, 3], [2, 1]], [1])[0], [3, 4]),
    "round": (lambda: tf.cast(tf.round([2.5, 3.5]), tf.int32), [2, 4]),
    "sign": (lambda: tf.sign([2, 9]) * [3, 4], [3, 4]),
    "sqrt": (lambda: tf.cast(tf.sqrt([4.0, 37.0]), tf.int64), [2, 6]),
    "square": (lambda: tf.square([2, 3]), [4, 9]),
    "subtract": (lambda: tf.cast(tf.constant([2.5, 3.5]) - 1.25, tf.int32), [1, 2]),
    "size_of_unique": (lambda: [tf.size(tf.unique([3, 2, 3])[0])], [2]),
    "unique": (lambda: tf.unique([3, 2, 3, 1, 2])[0], [3, 2, 1]),
    "unique_places": (lambda: tf.unique([3, 2, 3, 1, 2])[1], [0, 1, 0, 2, 1]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_computed_shape_is_known(name, new_graph):
    build, expected = CASES[name]
    assert tf.zeros(build()).shape.as_list() == expected


def test_what_has_no_value_leaves_the_shape_open(new_graph):
    for sizes in (tf.pow([2, 3], -1), tf.cumsum([1, 2], axis=5)):
        assert tf.zeros(sizes).shape.as_list() == [None, None]


def test_casts_of_sizes_that_are_known_in_part(new_graph):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    assert tf.zeros(tf.shape(x)).shape.as_list() == [None, 3, 4]
    assert tf.zeros(tf.cast(tf.shape(x), tf.int64)).shape.as_list() == [None] * 3  # TensorFlow does not look through
    (grad,) = tf.gradients(tf.gather(x, [0, 1]), x)
    assert grad.values.shape.as_list() == [2, None, None]


def test_sizes_joined_with_some_of_which_only_the_number_is_known(new_graph):
    some, any_number = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [None])
    assert tf.zeros(tf.concat([[2], some, [3]], 0)).shape.as_list() == [2, None, None, 3]
    assert tf.zeros(tf.concat([[2], any_number], 0)).shape.rank is None


def test_reshapes_of_what_is_empty_whatever_else_is_unknown(new_graph):
    assert tf.reshape(tf.placeholder(tf.float32, [None, 0]), [-1, 3]).shape.as_list() == [0, 3]
