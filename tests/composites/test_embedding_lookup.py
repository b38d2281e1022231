"""embedding_lookup: whole tables and tables in parts, both strategies, clipping, gradients, bad ids."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


def parts_of(table, count, strategy):
    if strategy == "mod":
        return [table[i::count] for i in range(count)]
    return np.array_split(table, count)


@pytest.mark.parametrize("id_type", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0,), (2, 3), (2, 0)])
def test_rows_of_a_whole_table(shape, id_type, rng):
    table = rng.normal(size=(7, 3)).astype(np.float32)
    ids = rng.integers(0, 7, shape).astype(id_type)
    np.testing.assert_array_equal(evaluate(tf.nn.embedding_lookup, table, np.asarray(ids)), table[ids])


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("shape", [(20,), (4, 5), (0,), ()])
def test_rows_of_tables_in_parts(shape, count, strategy, rng):
    table = rng.normal(size=(17, 3)).astype(np.float32)
    ids = np.asarray(rng.integers(0, 17, shape))
    for hide in (lambda part: part, of_unknown_shape):
        rows = evaluate(
            lambda ids, *parts, h=hide: tf.nn.embedding_lookup([h(part) for part in parts], ids, strategy),
            ids,
            *parts_of(table, count, strategy),
        )
        np.testing.assert_array_equal(rows, table[ids])


def test_rows_of_any_rank(rng):
    table = rng.normal(size=(6, 2, 3)).astype(np.float32)
    ids = np.array([[5, 0], [3, 3]])
    rows = evaluate(lambda ids, *parts: tf.nn.embedding_lookup(list(parts), ids), ids, table[::2], table[1::2])
    np.testing.assert_array_equal(rows, table[ids])


def test_long_rows_are_scaled_down(rng):
    table = rng.normal(size=(8, 4))
    ids = np.array([[1, 2], [7, 0]])
    norms = np.sqrt((table[ids] ** 2).sum(-1, keepdims=True))
    expected = table[ids] * np.minimum(1, 1.5 / norms)
    for count in (1, 2):
        rows = evaluate(
            lambda ids, *parts: tf.nn.embedding_lookup(list(parts), ids, max_norm=1.5),
            ids,
            *parts_of(table, count, "mod"),
        )
        np.testing.assert_allclose(rows, expected, rtol=1e-12)


def test_a_partitioned_variable_is_a_table_in_parts():
    table = tf.get_variable("table", initializer=tf.range(10.0), partitioner=tf.fixed_size_partitioner(3))
    rows = tf.nn.embedding_lookup(table, [9, 0, 4], "div")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(rows), [9, 0, 4])


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_gradients(strategy, rng):
    table = rng.normal(size=(5, 3))
    ids = np.array([4, 0, 4, 2])
    check_gradient(lambda table: tf.nn.embedding_lookup(table, ids), table)
    check_gradient(lambda table: tf.nn.embedding_lookup(table, ids, max_norm=1.0), table)
    check_gradient(lambda *parts: tf.nn.embedding_lookup(list(parts), ids, strategy), *parts_of(table, 2, strategy))


def test_gradients_are_of_the_rows_alone():
    table = tf.Variable(tf.ones([1000, 2]))
    (grad,) = tf.gradients(tf.nn.embedding_lookup(table, [3, 5]), table)
    assert isinstance(grad, tf.IndexedSlices)


@pytest.mark.parametrize("bad", [-1, 5])
def test_ids_that_are_not_there_are_named(bad):
    table = np.ones((5, 2), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[1\] = {bad} is not in \[0, 5\)"):
        evaluate(tf.nn.embedding_lookup, table, np.array([0, bad]))


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="params must be specified"):
        tf.nn.embedding_lookup(None, [0])
    with pytest.raises(ValueError, match="Need at least one param"):
        tf.nn.embedding_lookup([], [0])
    with pytest.raises(ValueError, match="Unrecognized partition strategy: other"):
        tf.nn.embedding_lookup([[1.0], [2.0]], [0], "other")


def test_same_bits(rng):
    table, ids = rng.normal(size=(300, 17)).astype(np.float32), rng.integers(0, 300, 5000)
    assert_same_bits(lambda t, ids: tf.nn.embedding_lookup(t, ids, max_norm=2.0), table, ids)
    assert_same_bits(lambda ids, *parts: tf.nn.embedding_lookup(list(parts), ids), ids, *parts_of(table, 3, "mod"))


@pytest.mark.parametrize("ids", [None, [None], [None, None], [3]])
def test_the_gradient_of_a_table_knows_how_wide_its_rows_are(ids):
    with tf.Graph().as_default():
        table = tf.Variable(tf.zeros([7, 5, 2]))
        (gradient,) = tf.gradients(tf.nn.embedding_lookup(table, tf.placeholder(tf.int32, ids)), table)
        count = 3 if ids == [3] else None
        assert gradient.values.shape.as_list() == [count, 5, 2]
        assert gradient.indices.shape.as_list() == [count]
