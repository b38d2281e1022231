"""nce_loss and sampled_softmax_loss: values for given samples, accidental hits, gradients, bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.composites.sampled_losses import sampled_logits
from stillflow.testing import assert_same_bits, check_gradient, evaluate

CLASSES, DIM, BATCH = 30, 4, 6


def arguments(rng, num_true=1, dtype=np.float64):
    weights = rng.normal(size=(CLASSES, DIM)).astype(dtype)
    biases = rng.normal(size=CLASSES).astype(dtype)
    labels = rng.integers(0, CLASSES, (BATCH, num_true))
    return weights, biases, labels, rng.normal(size=(BATCH, DIM)).astype(dtype)


def samples(rng, num_true=1, dtype=np.float64):
    """What a sampler might return, of which all numbers matter: (classes, expected counts)."""
    sampled = rng.choice(CLASSES, 8, replace=False)
    return sampled, rng.uniform(0.1, 1, (BATCH, num_true)).astype(dtype), rng.uniform(0.1, 1, 8).astype(dtype)


def expected_logits(weights, biases, labels, inputs, values, removes_hits=False):
    sampled, true_counts, sampled_counts = values
    true = np.einsum("bd,btd->bt", inputs, weights[labels]) + biases[labels] - np.log(true_counts)
    others = inputs @ weights[sampled].T + biases[sampled] - np.log(sampled_counts)
    if removes_hits:
        others = np.where((sampled[None, None] == labels[..., None]).any(1), -np.inf, others)
    return np.concatenate([true, others], 1)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def constants(values):
    return tuple(tf.constant(value) for value in values)


@pytest.mark.parametrize("removes_hits", [False, True])
@pytest.mark.parametrize("num_true", [1, 3])
def test_nce_losses_match_numpy(num_true, removes_hits, rng):
    inputs, values = arguments(rng, num_true), samples(rng, num_true)
    loss = evaluate(
        lambda *args: tf.nn.nce_loss(
            *args, 8, CLASSES, num_true, constants(values), remove_accidental_hits=removes_hits
        ),
        *inputs,
    )
    logits = expected_logits(*inputs, values, removes_hits)
    true, others = logits[:, :num_true], logits[:, num_true:]
    expected = (softplus(true) - true / num_true).sum(1) + softplus(others).sum(1)
    np.testing.assert_allclose(loss, expected, rtol=1e-9)


@pytest.mark.parametrize("removes_hits", [False, True])
@pytest.mark.parametrize("num_true", [1, 3])
def test_sampled_softmax_losses_match_numpy(num_true, removes_hits, rng):
    inputs, values = arguments(rng, num_true), samples(rng, num_true)
    loss = evaluate(
        lambda *args: tf.nn.sampled_softmax_loss(
            *args, 8, CLASSES, num_true, constants(values), remove_accidental_hits=removes_hits
        ),
        *inputs,
    )
    logits = expected_logits(*inputs, values, removes_hits)
    log_sums = np.log(np.exp(logits).sum(1))
    np.testing.assert_allclose(loss, log_sums - logits[:, :num_true].mean(1), rtol=1e-9)


def test_labels_share_their_probability(rng):
    inputs, values = arguments(rng, 2), samples(rng, 2)
    _, labels = evaluate(lambda *args: sampled_logits(*args, 8, CLASSES, 2, constants(values)), *inputs)
    np.testing.assert_array_equal(labels, [[0.5, 0.5] + [0.0] * 8] * BATCH)


def test_the_true_class_alone_can_be_sampled():
    """With one class in all, every sample is a hit; removed, only the true class is left."""
    weights, biases = np.ones((1, 2)), np.zeros(1)
    loss = evaluate(
        lambda w, b, x: tf.nn.sampled_softmax_loss(
            w, b, tf.constant([[0]], tf.int64), x, 1, 1,
            sampled_values=constants((np.zeros(1, np.int64), np.ones((1, 1)), np.ones(1))),
        ),
        weights, biases, np.ones((1, 2)),
    )  # fmt: skip
    np.testing.assert_allclose(loss, 0, atol=1e-12)


def test_gradients(rng):
    weights, biases, labels, inputs = arguments(rng, 2)
    values = samples(rng, 2)
    for loss in (tf.nn.nce_loss, tf.nn.sampled_softmax_loss):
        check_gradient(
            lambda w, b, x, f=loss: f(
                w, b, tf.constant(labels), x, 8, CLASSES, 2, constants(values), remove_accidental_hits=False
            ),
            weights, biases, inputs,
        )  # fmt: skip


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_weights_may_be_in_parts(strategy, rng):
    weights, biases, labels, inputs = arguments(rng)
    values = samples(rng)
    parts = [weights[i::4] for i in range(4)] if strategy == "mod" else np.array_split(weights, 4)

    def loss(w, b, labels, inputs):
        return tf.nn.nce_loss(
            w, b, labels, inputs, 8, CLASSES, sampled_values=constants(values), partition_strategy=strategy
        )

    whole = evaluate(loss, weights, biases, labels, inputs)
    in_parts = evaluate(lambda b, labels, x, *w: loss(list(w), b, labels, x), biases, labels, inputs, *parts)
    np.testing.assert_array_equal(in_parts, whole)


def test_a_label_that_is_no_class_is_refused(rng):
    weights, biases, labels, inputs = arguments(rng)
    labels[2] = CLASSES
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[2\] = {CLASSES} is not in \[0, {CLASSES}\)"):
        evaluate(
            lambda *args: tf.nn.nce_loss(*args, 8, CLASSES, sampled_values=constants(samples(rng))),
            weights, biases, labels, inputs,
        )  # fmt: skip


def test_the_same_seed_gives_the_same_samples(rng):
    inputs = arguments(rng, dtype=np.float32)

    def run(seed):
        return evaluate(lambda *args: tf.nn.sampled_softmax_loss(*args, 8, CLASSES, seed=seed), *inputs)

    np.testing.assert_array_equal(run(4), run(4))
    assert np.any(run(4) != run(5))


def test_same_bits(rng):
    inputs = arguments(rng, dtype=np.float32)

    def loss_and_gradients(function):
        def build(w, b, labels, x):
            tf.set_random_seed(3)
            loss = function(w, b, labels, x, 8, CLASSES)
            return [loss, *(tf.convert_to_tensor(getattr(g, "values", g)) for g in tf.gradients(loss, [w, b, x]))]

        return build

    assert_same_bits(loss_and_gradients(tf.nn.nce_loss), *inputs)
    assert_same_bits(loss_and_gradients(tf.nn.sampled_softmax_loss), *inputs)
