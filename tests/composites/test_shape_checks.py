"""assert_shapes and the checks that need no node: what passes and what does not."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import new_session, of_unknown_shape


def test_sizes_that_are_known_are_checked_at_once():
    with new_session():
        x, y = tf.ones([2, 3]), tf.ones([4, 3])
        tf.debugging.assert_shapes({x: ("N", "D"), y: ("M", "D")})
        tf.debugging.assert_shapes([(x, [2, None]), (y, ["*", 3]), (tf.constant(1), [])])
        for shapes, message in (
            ([(x, ("N", "D")), (y, ("N", "D"))], "Specified by tensor ones:0 dimension 0"),
            ([(x, (2, 4))], "Specified explicitly.  Tensor ones:0 dimension 1 must have size 4.  Received size 3"),
            ([(x, (2, 3, 1))], "must have rank 3"),
            ([(x, 5)], "Specified shape must be an iterable"),
            ([(x, (2, ...))], "only allowed as the first entry"),
        ):
            with pytest.raises(ValueError, match=message):
                tf.debugging.assert_shapes(shapes)


def test_sizes_that_are_not_known_are_checked_when_run():
    with new_session() as session:
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None])
        check = tf.debugging.assert_shapes([(x, ("N", 3)), (y, ("N",))], message="together")
        session.run(check, {x: np.ones((2, 3)), y: np.ones(2)})
        with pytest.raises(tf.errors.InvalidArgumentError, match="together"):
            session.run(check, {x: np.ones((2, 3)), y: np.ones(3)})
        z = of_unknown_shape(tf.ones([2, 2]))
        session.run(tf.debugging.assert_shapes([(z, (2, 2))]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have size"):
            session.run(tf.debugging.assert_shapes([(z, (2, 5))]))


def test_iterables_and_types():
    with new_session():
        tf.assert_proper_iterable([1, 2])
        for value in (tf.ones(2), np.ones(2), "text", b"bytes", 5):
            with pytest.raises(TypeError, match="iterable"):
                tf.debugging.assert_proper_iterable(value)
        x = tf.ones(2, tf.float64)
        assert tf.assert_same_float_dtype() == tf.float32
        assert tf.assert_same_float_dtype([None, x]) == tf.float64
        with pytest.raises(ValueError, match="must be of the same type"):
            tf.assert_same_float_dtype([x, tf.ones(2)])
        with pytest.raises(ValueError, match="must be of the same type"):
            tf.debugging.assert_same_float_dtype([x], tf.float32)
        with pytest.raises(ValueError, match="Expected floating point type"):
            tf.assert_same_float_dtype([tf.constant(1)])


def test_numbers_are_checked_in_the_whole_graph():
    with new_session() as session:
        x = tf.placeholder(tf.float32, [])
        y = tf.log(x)
        check = tf.add_check_numerics_ops()
        session.run(check, {x: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{y.name} : Tensor had Inf"):
            session.run(check, {x: 0.0})


def test_numbers_in_loops_are_not_checked():
    with tf.Graph().as_default():
        tf.while_loop(lambda x: x < 3.0, lambda x: x + 1.0, [tf.constant(0.0)])
        with pytest.raises(ValueError, match=r"such as `tf.cond\(\)` or `tf.while_loop\(\)`\.$"):
            tf.add_check_numerics_ops()


def test_a_large_dropout_rate_is_mentioned(caplog, monkeypatch):
    import itertools

    from stillflow.composites import dropout

    monkeypatch.setattr(dropout, "_warnings", itertools.count())
    with new_session(), caplog.at_level("WARNING", "tensorflow"):
        for _ in range(9):
            tf.nn.dropout(tf.ones(3), rate=0.75)
        tf.nn.dropout(tf.ones(3), keep_prob=0.5)
    assert [record.message[:27] for record in caplog.records] == ["Large dropout rate: 0.75 (>"] * 5


def test_formats():
    with new_session() as session:
        x = tf.constant([[1, 2], [3, 4]])
        assert session.run(tf.strings.format("a {} b {}", (x, 5))) == b"a [[1 2]\n [3 4]] b 5"
        with pytest.raises(ValueError, match="1 placeholder"):
            tf.strings.format("{}", [x, x])
        assert session.run(tf.guarantee_const(x)).tolist() == [[1, 2], [3, 4]]


def test_numbers_are_those_of_tensorflows_checks(new_graph):
    assert tf.debugging.is_numeric_tensor(tf.constant(1, tf.int8))
    assert tf.debugging.is_numeric_tensor(tf.constant(1, tf.complex64))
    for dtype in (tf.float16, tf.bfloat16, tf.uint16, tf.uint32, tf.complex128, tf.bool):
        assert not tf.debugging.is_numeric_tensor(tf.zeros([], dtype))
        with pytest.raises(TypeError, match="Expected x to be numeric"):
            tf.is_non_decreasing(tf.zeros([2], dtype))
    assert not tf.debugging.is_numeric_tensor(1.0)


def test_ranks_that_a_run_tells_are_scalars():
    with new_session() as session:
        x, rank = tf.ones([2, 3]), tf.placeholder(tf.int32)
        for check in (tf.assert_rank(x, rank), tf.assert_rank_in(x, (1, rank))):
            session.run(check, {rank: 2})
            with pytest.raises(tf.errors.InvalidArgumentError, match="Rank must be a scalar"):
                session.run(check, {rank: [2]})
