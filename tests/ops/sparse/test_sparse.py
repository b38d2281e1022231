"""Ops on sparse tensors: values and errors of TensorFlow's, gradients, bits, text, large input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, new_session
from stillflow.testing import evaluate as evaluate_built

PLACES = np.array([[0, 1], [1, 0], [1, 2]])


@pytest.mark.parametrize(("case", "expected"), cases("sparse"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected, rtol=1e-6)


def sparse(values, places=PLACES, shape=(2, 3)):
    return tf.SparseTensor(places, values, shape)


def random_places(rng, shape, count):
    """Different places in row-major order."""
    chosen = np.sort(rng.choice(int(np.prod(shape)), count, replace=False))
    return np.stack(np.unravel_index(chosen, shape), axis=1)


@pytest.mark.parametrize(
    "build",
    [
        lambda x, y: tf.sparse_add(sparse(x), sparse(y, [[0, 0], [0, 1], [1, 2]])).values,
        lambda x, y: tf.sparse_add(sparse(x), tf.reshape(tf.tile(y, [2]), [2, 3])),
        lambda x, y: (sparse(x) * tf.reshape(y, [1, 3])).values,
        lambda x, y: (sparse(x) / y).values,
        lambda x, y: tf.sparse_tensor_dense_matmul(sparse(x), tf.reshape(y, [3, 1])),
        lambda x, y: tf.sparse_tensor_dense_matmul(sparse(x), tf.reshape(y[:2], [2, 1]), adjoint_a=True),
        lambda x, y: tf.sparse_tensor_dense_matmul(sparse(x), tf.reshape(y, [1, 3]), adjoint_b=True),
        lambda x, y: tf.sparse_reduce_sum(sparse(x * y), 0),
        lambda x, y: tf.sparse_softmax(sparse(x * y)).values,
        lambda x, y: tf.sparse_slice(sparse(x * y), [0, 1], [2, 2]).values,
        lambda x, y: tf.sparse_fill_empty_rows(sparse(x, PLACES + 1, [4, 4]), y[0])[0].values,
        lambda x, y: tf.sparse_reorder(sparse(x * y, PLACES[::-1])).values,
        lambda x, y: tf.sparse_tensor_to_dense(sparse(x), y[0]),
    ],
)
def test_gradients(build, rng):
    check_gradient(build, rng.uniform(1, 2, 3), rng.uniform(1, 2, 3))


def test_products_are_numpys_at_any_size(rng):
    for m, k, width, count in ((1, 1, 1, 1), (300, 200, 17, 5000), (5, 4000, 130, 3000), (3000, 7, 1, 2500)):
        places = random_places(rng, (m, k), count)
        values, b = rng.normal(size=count), rng.normal(size=(k, width))
        dense = np.zeros((m, k))
        dense[tuple(places.T)] = values
        found = evaluate_built(lambda v, b, p=places, s=(m, k): tf.sparse_tensor_dense_matmul(sparse(v, p, s), b),
                               values, b)  # fmt: skip
        np.testing.assert_allclose(found, dense @ b, atol=1e-11)


def test_same_bits_everywhere(rng):
    places = random_places(rng, (400, 300), 9000)
    values, b = rng.normal(size=9000).astype(np.float32), rng.normal(size=(300, 20)).astype(np.float32)

    def build(values, b):
        x = sparse(values, places, (400, 300))
        return [
            tf.sparse_tensor_dense_matmul(x, b),
            tf.sparse_tensor_dense_matmul(x, tf.transpose(b), adjoint_b=True),
            tf.sparse_reduce_sum(x, 0),
            tf.sparse_softmax(x).values,
            (x * b[:, 0]).values,
        ]

    assert_same_bits(build, values, b)


def test_entries_of_a_row_are_added_in_their_order(rng):
    """So a product with entries out of order is another sum, the same on each run."""
    values = rng.normal(size=1000).astype(np.float32)
    places = np.stack([np.zeros(1000, int), rng.permutation(1000)], axis=1)
    b = rng.normal(size=(1000, 1)).astype(np.float32)
    expected = np.float32(0)
    for value, column in zip(values, places[:, 1], strict=True):
        expected = np.float32(np.float64(value) * np.float64(b[column, 0]) + np.float64(expected))
    found = evaluate_built(lambda v, b: tf.sparse_tensor_dense_matmul(sparse(v, places, (1, 1000)), b), values, b)
    np.testing.assert_allclose(found[0, 0], expected, rtol=1e-6)


def test_text_is_moved():
    with new_session() as session:
        x = sparse(tf.constant(["c", "", "ab"]), PLACES[::-1])
        y = sparse(["d", "e"], [[0, 0], [1, 1]])
        ordered = session.run(tf.sparse_reorder(x))
        assert ordered.values.tolist() == [b"ab", b"", b"c"]
        assert session.run(tf.sparse_concat(1, [x, y])).values.tolist() == [b"ab", b"d", b"", b"c", b"e"]
        assert session.run(tf.sparse_slice(tf.sparse_reorder(x), [1, 0], [1, 3])).values.tolist() == [b"", b"c"]
        filled, is_empty = tf.sparse_fill_empty_rows(sparse(["z"], [[1, 1]], [3, 2]), "none")
        assert session.run(filled).values.tolist() == [b"none", b"z", b"none"]
        assert session.run(is_empty).tolist() == [True, False, True]
        parts = session.run(tf.sparse_split(sp_input=x, num_split=3, axis=1))
        assert [part.values.tolist() for part in parts] == [[b""], [b"ab"], [b"c"]]
        assert session.run(tf.sparse_tensor_to_dense(tf.sparse_reorder(x), "-")).tolist() == [
            [b"-", b"ab", b"-"],
            [b"", b"-", b"c"],
        ]


def test_integers_divided_by_zero_are_refused():
    with new_session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        x = sparse([1, 2, 3])
        session.run(tf.sparse_tensor_to_dense(type(x)(x.indices, tf.floordiv(x.values, 0), x.dense_shape)))


def test_shapes_that_no_tensor_has_are_refused():
    """TensorFlow aborts for most of these."""
    with new_session() as session:

        def unknown(values):
            return tf.placeholder_with_default(tf.constant(values, tf.int64), [None])

        x = tf.SparseTensor(PLACES, [1.0, 2.0, 3.0], unknown([-2, 3]))
        y = tf.SparseTensor(PLACES, [1.0, 2.0, 3.0], unknown([2**40, 2**40]))
        for each in (x, y):
            for build in (
                lambda s: tf.sparse_reshape(s, [3, 2]), lambda s: tf.sparse_reduce_sum(s, 0),
                lambda s: tf.sparse_slice(s, [0, 0], [1, 1]),
                lambda s: tf.sparse_split(sp_input=s, num_split=1, axis=0),
                lambda s: tf.sparse_tensor_to_dense(s), lambda s: s * 2.0,
                lambda s: tf.sparse_concat(0, [s, s]), tf.sparse_softmax,
            ):  # fmt: skip
                with pytest.raises(tf.errors.OpError):
                    session.run(build(each))
        z = tf.SparseTensor(PLACES, [1.0, 2.0, 3.0], [2, 3])
        with pytest.raises(tf.errors.InvalidArgumentError, match="must not be negative"):
            session.run(tf.sparse_slice(z, [0, 0], [-1, 1]))
        outside = tf.SparseTensor(PLACES + 4, [1.0, 2.0, 3.0], [2, 3])
        for build in (lambda s: tf.sparse_split(sp_input=s, num_split=2, axis=0), tf.sparse_reduce_sum):
            with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
                session.run(build(outside))
