"""Cross entropies from logits: values, axes, types, gradients, bad arguments."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


def log_softmax(x, axis):
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_softmax_losses_along_any_axis(axis, rng):
    logits, labels = rng.normal(size=(3, 4, 5)), rng.uniform(size=(3, 4, 5))
    for function in (tf.nn.softmax_cross_entropy_with_logits, tf.nn.softmax_cross_entropy_with_logits_v2):
        loss = evaluate(lambda x, z, f=function: f(labels=z, logits=x, axis=axis), logits, labels)
        np.testing.assert_allclose(loss, -(labels * log_softmax(logits, axis)).sum(axis), rtol=1e-10)


@pytest.mark.parametrize("shape", [(5,), (2, 5), (2, 3, 5), (0, 5), (2, 0, 5)])
def test_sparse_losses_of_any_rank(shape, rng):
    logits = rng.normal(size=shape)
    labels = rng.integers(0, 5, shape[:-1])
    loss = evaluate(lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x), logits, labels)
    expected = -np.take_along_axis(log_softmax(logits, -1), np.asarray(labels)[..., None], -1)[..., 0]
    np.testing.assert_allclose(loss, expected, rtol=1e-10)


def test_sparse_losses_of_unknown_shapes(rng):
    logits, labels = rng.normal(size=(2, 3, 5)), rng.integers(0, 5, (2, 3))

    def build(x, z):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=of_unknown_shape(z), logits=of_unknown_shape(x))

    expected = -np.take_along_axis(log_softmax(logits, -1), labels[..., None], -1)[..., 0]
    np.testing.assert_allclose(evaluate(build, logits, labels), expected, rtol=1e-10)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        evaluate(build, logits, labels[:1])


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 88.0, -88.0, 1e4, -1e4])
def test_sigmoid_losses_do_not_overflow(value):
    x = np.full(3, value, np.float32)
    z = np.array([0, 0.5, 1], np.float32)
    loss = evaluate(lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x), x, z)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(
        loss, np.maximum(wide, 0) - wide * z + np.log1p(np.exp(-np.abs(wide))), rtol=1e-6, atol=1e-37
    )


def test_weighted_losses(rng):
    x, z = rng.normal(0, 3, (4, 3)), rng.uniform(size=(4, 3))
    weight = rng.uniform(0.5, 3, 3)
    loss = evaluate(lambda x, z: tf.nn.weighted_cross_entropy_with_logits(z, x, weight), x, z)
    sigmoid = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(loss, -weight * z * np.log(sigmoid) - (1 - z) * np.log(1 - sigmoid), rtol=1e-9)


def test_poisson_losses(rng):
    c, z = rng.normal(size=20), np.arange(20.0)
    plain, full = evaluate(
        lambda c, z: (tf.nn.log_poisson_loss(z, c), tf.nn.log_poisson_loss(z, c, compute_full_loss=True)), c, z
    )
    np.testing.assert_allclose(plain, np.exp(c) - c * z)
    factorials = np.cumsum(np.log(np.maximum(z, 1)))
    np.testing.assert_allclose(full, plain + factorials, rtol=0.05, atol=0.05)
    np.testing.assert_array_equal(full[:2], plain[:2])


def test_gradients(rng):
    x, z = rng.normal(size=(3, 4)), rng.uniform(0.1, 1, (3, 4))
    # The loss is differentiated as that of labels that sum to 1.
    for axis in (0, 1):
        labels = z / z.sum(axis, keepdims=True)
        check_gradient(lambda x, z, a=axis: tf.nn.softmax_cross_entropy_with_logits_v2(z, x, axis=a), x, labels)
    check_gradient(lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x), x, z)
    check_gradient(lambda x, z: tf.nn.weighted_cross_entropy_with_logits(z, x, 2.0), x, z)
    check_gradient(lambda x, z: tf.nn.log_poisson_loss(z, x, True), x, z + 1.5)


def test_no_gradient_flows_into_the_labels_of_the_first_version():
    x, z = tf.constant([[1.0, 2.0]]), tf.constant([[0.5, 0.5]])
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x)
    assert tf.gradients(loss, z) == [None]
    assert tf.gradients(loss, x)[0] is not None


def test_sigmoid_losses_have_a_gradient_at_zero():
    x = np.zeros(2)
    grad = evaluate(
        lambda x: tf.gradients(tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.zeros_like(x), logits=x), x)[0], x
    )
    np.testing.assert_allclose(grad, 0.5)


def test_short_types_are_computed_in_float32(rng):
    x = rng.normal(0, 3, (8, 50)).astype(np.float16)
    z = np.eye(50, dtype=np.float16)[rng.integers(0, 50, 8)]
    expected = -(z * log_softmax(x.astype(np.float64), 1)).sum(1)
    for loss in (
        evaluate(lambda x, z: tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x), x, z),
        evaluate(lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x), x, z.argmax(1)),
    ):
        assert loss.dtype == np.float16
        np.testing.assert_array_equal(loss, expected.astype(np.float16))


@pytest.mark.parametrize(
    "name",
    [
        "softmax_cross_entropy_with_logits",
        "sparse_softmax_cross_entropy_with_logits",
        "sigmoid_cross_entropy_with_logits",
    ],
)
def test_arguments_must_be_named_and_both_given(name):
    function = getattr(tf.nn, name)
    with pytest.raises(ValueError, match=f"Only call `{name}` with named arguments"):
        function([[1.0]], [[1.0]])
    with pytest.raises(ValueError, match="Both labels and logits must be provided."):
        function(labels=[[1.0]])


def test_shapes_that_do_not_fit_are_refused():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match=r"logits and labels must have the same shape \(\(2, 2\) vs \(2,\)\)"):
        tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.constant([1.0, 2.0]), logits=x)
    with pytest.raises(ValueError, match="log_input and targets must have the same shape"):
        tf.nn.log_poisson_loss(tf.constant([1.0]), x)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits
    with pytest.raises(ValueError, match="Logits cannot be scalars"):
        sparse(labels=0, logits=1.0)
    with pytest.raises(
        ValueError, match=r"Rank mismatch: Rank of labels \(received 2\) should equal rank of logits minus 1"
    ):
        sparse(labels=[[0, 1]], logits=x)
    with pytest.raises(ValueError, match="Shape mismatch"):
        sparse(labels=[0, 1, 1], logits=x)


def test_same_bits(rng):
    x, z = (rng.uniform(0, 1, (120, 50)).astype(np.float32) for _ in range(2))
    assert_same_bits(lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x), x, z)
    assert_same_bits(lambda x, z: tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x), x, z)


@pytest.mark.parametrize(
    ("labels", "logits", "is_checked"),
    [(None, None, True), ([None], None, True), ([None, 2], [None, 2, 3], True), ([2], None, True),
     ([2, 2], [2, 2, 3], False), ([None], [None, 3], False), (None, [None, 3], False)],
)  # fmt: skip
def test_shapes_that_are_not_known_are_compared_in_the_run(new_graph, labels, logits, is_checked):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.placeholder(tf.int32, labels), logits=tf.placeholder(tf.float32, logits)
    )
    asserts = [op for op in new_graph.get_operations() if op.type == "Assert"]
    assert len(asserts) == is_checked
    if labels is None and logits is None:
        p, q = (op.outputs[0] for op in new_graph.get_operations() if op.type == "Placeholder")
        with tf.Session() as session:
            assert session.run(losses, {p: 2, q: [1, 2, 3]}).shape == ()
            with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold element-wise"):
                session.run(losses, {p: [2], q: [[1, 2, 3], [1, 2, 3]]})
