"""TensorShape and Dimension."""

import pickle

import pytest

import stillflow as tf
from stillflow.graph.shape import as_shape


def test_shapes_print_as_in_tensorflow():
    assert str(tf.TensorShape([None, 3])) == "(?, 3)"
    assert str(tf.TensorShape([2])) == "(2,)"
    assert str(tf.TensorShape(None)) == "<unknown>"
    assert repr(tf.TensorShape([2, None])) == "TensorShape([Dimension(2), Dimension(None)])"


def test_what_shapes_are_made_of():
    assert tf.TensorShape(3).as_list() == [3]
    assert tf.TensorShape([tf.Dimension(2), None, 4]).as_list() == [2, None, 4]
    assert tf.TensorShape(tf.TensorShape([2]).as_proto()).as_list() == [2]
    assert tf.TensorShape(tf.TensorShape(None).as_proto()).rank is None
    assert pickle.loads(pickle.dumps(tf.TensorShape([1, None]))) == [1, None]
    for wrong in ([-1], [1.5]):
        with pytest.raises((ValueError, TypeError)):
            tf.TensorShape(wrong)


def test_unknown_shapes():
    unknown = tf.TensorShape(None)
    with pytest.raises(ValueError, match="not defined on an unknown TensorShape"):
        unknown.as_list()
    with pytest.raises(ValueError, match="Cannot take the length of shape with unknown rank"):
        len(unknown)
    assert not unknown and unknown[0].value is None and unknown[:2].as_list() == [None, None]
    assert unknown.num_elements() is None


def test_merging():
    assert tf.TensorShape([None, 3]).merge_with([2, None]) == [2, 3]
    with pytest.raises(ValueError, match="are not compatible"):
        tf.TensorShape([2]).merge_with([3])
    assert tf.TensorShape([2, None]).is_compatible_with([2, 5])
    assert not tf.TensorShape([2]).is_compatible_with([2, 1])
    assert (as_shape([1]) + [2, None]).as_list() == [1, 2, None]
    with pytest.raises(ValueError, match="must have rank 3"):
        tf.TensorShape([1, 2]).with_rank(3)


def test_dimensions():
    two, unknown = tf.Dimension(2), tf.Dimension(None)
    assert two == 2 and (two == unknown) is None and (two + 3).value == 5 and (2 * unknown).value is None
    assert (7 // two).value == 3 and (two < 3) is True and int(two) == 2
    with pytest.raises(TypeError, match="use // instead"):
        two / 2


def test_sizes_can_be_plain_as_in_tensorflow_2():
    shape, unknown = tf.TensorShape([2, None]), tf.TensorShape(None)
    tf.enable_v2_tensorshape()
    try:
        assert (list(shape), shape[0], shape[1], unknown[0]) == ([2, None], 2, None, None)
        assert (repr(shape), str(shape)) == ("TensorShape([2, None])", "(2, None)")
        assert (str(tf.TensorShape([None])), str(tf.TensorShape([])), str(unknown)) == ("(None,)", "()", "<unknown>")
        assert shape[:1] == tf.TensorShape([2])
        assert isinstance(tf.dimension_at_index(shape, 0), tf.Dimension)
        assert isinstance(shape.dims[0], tf.Dimension)
    finally:
        tf.disable_v2_tensorshape()
    assert isinstance(shape[0], tf.Dimension)
    assert str(shape) == "(2, ?)"
