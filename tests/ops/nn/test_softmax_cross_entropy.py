"""The kernels of cross entropies: losses and their gradients, types, shapes that are broadcast, bad labels, bits."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, of_unknown_shape


def dense(logits, labels):
    loss, backprop = ops.softmax_cross_entropy_op(logits, labels)
    return loss, backprop


def sparse(logits, labels):
    loss, backprop = ops.sparse_softmax_cross_entropy_op(logits, labels)
    return loss, backprop


def expected_of(logits, labels):
    logits, labels = np.broadcast_arrays(logits.astype(np.float64), labels.astype(np.float64))
    shifted = logits - logits.max(1, keepdims=True)
    log_softmax = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -(labels * log_softmax).sum(1), np.exp(log_softmax) - labels


def distributions(rng, shape):
    values = rng.uniform(0, 1, shape)
    return values / values.sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 15), (2, 16), (2, 17), (64, 10), (3, 5000)])
def test_dense_losses_match_numpy(shape, rng):
    logits = rng.normal(0, 3, shape).astype(np.float32)
    labels = distributions(rng, shape).astype(np.float32)
    loss, backprop = evaluate(dense, logits, labels)
    expected_loss, expected_backprop = expected_of(logits, labels)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backprop, expected_backprop, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("a", "b"), [((4, 3), (1, 3)), ((1, 3), (4, 3)), ((4, 1), (4, 3)), ((1, 1), (2, 5))])
def test_dense_shapes_are_broadcast(a, b, rng):
    logits = rng.normal(0, 1, a).astype(np.float32)
    labels = rng.uniform(0, 1, b).astype(np.float32)
    loss, backprop = evaluate(dense, logits, labels)
    expected_loss, expected_backprop = expected_of(logits, labels)
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backprop, expected_backprop, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("label_type", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (64, 10), (3, 5000)])
def test_sparse_losses_are_those_of_one_hot_labels(shape, label_type, rng):
    logits = rng.normal(0, 3, shape).astype(np.float32)
    labels = rng.integers(0, shape[1], shape[0]).astype(label_type)
    loss, backprop = evaluate(sparse, logits, labels)
    expected_loss, expected_backprop = expected_of(logits, np.eye(shape[1])[labels])
    np.testing.assert_allclose(loss, expected_loss, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(backprop, expected_backprop, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-13), ("float16", 4e-3), ("bfloat16", 3e-2)])
def test_every_type(dtype, tolerance, rng):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    logits = rng.normal(0, 2, (6, 21)).astype(dtype)
    labels = rng.integers(0, 21, 6)
    one_hot = np.eye(21, dtype=np.float32)[labels].astype(dtype)
    expected_loss, expected_backprop = expected_of(logits, one_hot)
    for loss, backprop in (evaluate(dense, logits, one_hot), evaluate(sparse, logits, labels)):
        assert loss.dtype == backprop.dtype == dtype
        np.testing.assert_allclose(loss.astype(np.float64), expected_loss, rtol=tolerance)
        np.testing.assert_allclose(backprop.astype(np.float64), expected_backprop, atol=tolerance)


def test_empty_batches():
    logits, labels = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)
    for loss, backprop in (evaluate(dense, logits, labels), evaluate(sparse, logits, np.zeros(0, np.int32))):
        assert loss.shape == (0,)
        assert backprop.shape == (0, 3)


def test_no_classes():
    loss, backprop = evaluate(dense, np.zeros((2, 0), np.float32), np.zeros((2, 0), np.float32))
    np.testing.assert_array_equal(loss, [0, 0])
    assert backprop.shape == (2, 0)
    with pytest.raises(errors.InvalidArgumentError, match="Must have at least one class, but got logits shape"):
        evaluate(sparse, np.zeros((2, 0), np.float32), np.zeros(2, np.int32))


def test_certain_predictions_have_no_loss():
    logits = np.array([[1000, 0, -1000], [-1000, 1000, 0]], np.float32)
    loss, backprop = evaluate(sparse, logits, np.array([0, 1]))
    np.testing.assert_array_equal(loss, [0, 0])
    np.testing.assert_array_equal(backprop, 0)
    loss, _ = evaluate(sparse, logits, np.array([2, 1]))
    np.testing.assert_array_equal(loss, [2000, 0])


@pytest.mark.parametrize("label", [-1, 3, 2**31 - 1, -(2**31)])
def test_a_label_out_of_range_is_named(label):
    message = (
        rf"Received a label value of {label} which is outside the valid range of \[0, 3\).  Label values: 1 {label}"
    )
    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(sparse, np.zeros((2, 3), np.float32), np.array([1, label], np.int32))


def test_shapes_that_do_not_fit_are_refused():
    logits = ops.constant([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        ops.softmax_cross_entropy_op(logits, ops.constant([[1.0, 2.0, 3.0]]))
    with pytest.raises(ValueError, match="Shape must be rank 2 but is rank 1"):
        ops.softmax_cross_entropy_op(logits, ops.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        ops.sparse_softmax_cross_entropy_op(logits, ops.constant([1, 0, 1]))


def test_shapes_that_turn_out_not_to_fit_are_refused():
    def unknown(function):
        return lambda *inputs: function(*(of_unknown_shape(x) for x in inputs))

    logits = np.zeros((2, 3), np.float32)
    with pytest.raises(
        errors.InvalidArgumentError, match=r"must be broadcastable: logits_size=\[2,3\] labels_size=\[2,2\]"
    ):
        evaluate(unknown(dense), logits, np.zeros((2, 2), np.float32))
    with pytest.raises(errors.InvalidArgumentError, match="must be broadcastable"):
        evaluate(unknown(dense), logits, np.zeros(3, np.float32))
    with pytest.raises(errors.InvalidArgumentError, match="logits and labels must have the same first dimension"):
        evaluate(unknown(sparse), logits, np.zeros(3, np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="labels must be 1-D"):
        evaluate(unknown(sparse), logits, np.zeros((2, 1), np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="logits must be 2-D"):
        evaluate(unknown(sparse), np.zeros(3, np.float32), np.zeros(3, np.int32))


def test_gradients(rng):
    logits = rng.normal(0, 1, (4, 5)).astype(np.float32)
    labels = distributions(rng, (4, 5)).astype(np.float32)
    check_gradient(lambda x, y: dense(x, y)[0], logits, labels)
    check_gradient(lambda x: dense(x, ops.constant(labels.astype(np.float64)))[1], logits)
    check_gradient(lambda x: sparse(x, ops.constant([0, 4, 2, 1]))[0], logits)


def test_the_second_gradient_of_the_sparse_loss_is_refused(rng):
    from stillflow.autodiff.reverse import gradients

    x = ops.constant(rng.normal(0, 1, (2, 3)))
    first = gradients(sparse(x, ops.constant([0, 2]))[0], x)
    with pytest.raises(LookupError, match="second derivative of sparse_softmax_cross_entropy_with_logits"):
        gradients(first, x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_same_bits(dtype, rng):
    logits = rng.normal(0, 3, (200, 77)).astype(dtype)
    labels = distributions(rng, (200, 77)).astype(dtype)
    assert_same_bits(dense, logits, labels)
    assert_same_bits(sparse, logits, rng.integers(0, 77, 200))
