"""Cross entropies whose scores come first, and sampled softmaxes: of one class, and of classes that compete."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.candidate_sampler import learned_unigram_candidate_sampler
from stillflow.composites.cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.sampled_losses import sampled_logits, sampled_softmax_loss
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("contrib.nn.deprecated_flipped_softmax_cross_entropy_with_logits")
def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


@public("contrib.nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits")
def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@public("contrib.nn.deprecated_flipped_sigmoid_cross_entropy_with_logits")
def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits with the order of arguments before TensorFlow 1.0."""
    return sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


@public(
    "contrib.nn.sampled_sparse_softmax_loss",
    "contrib.nn.python.ops.sampling_ops.sampled_sparse_softmax_loss",
)
def sampled_sparse_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    sampled_values=None,
    remove_accidental_hits=True,
    partition_strategy="mod",
    name="sampled_sparse_softmax_loss",
):
    """tf.nn.sampled_softmax_loss of one true class each, by way of the sparse cross entropy.

    `labels` are int64 [batch, 1]. Returns a tensor [batch].
    """
    logits, _ = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, 1, sampled_values, True,
        remove_accidental_hits, partition_strategy, name,
    )  # fmt: skip
    # The true class stands first.
    labels = ops.zeros([ops.shape(logits)[0], 1], dtype=dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=ops.squeeze(labels), logits=logits)


def _best_of_sampled(weights, biases, inputs, sampled_values, count, temperature, partition_strategy):
    """Of sampled classes those that the inputs together rate highest, with the expected counts of their sampler."""
    sampled, true_expected, expected = (ops.stop_gradient(each) for each in sampled_values)
    sampled = ops.cast(sampled, dtypes.int64)
    cooled = inputs / temperature
    rows = embedding_lookup(weights, sampled, partition_strategy)
    ratings = reduce_logsumexp(ops.matmul(rows, cooled, transpose_b=True), axis=1, keepdims=False)
    ratings += ops.reshape(embedding_lookup(biases, sampled, partition_strategy), [-1]) / temperature
    _, best = ops.top_k(ratings, k=count, sorted=False)
    return ops.gather(sampled, indices=best), true_expected, ops.gather(expected, indices=best)


@public(
    "contrib.nn.rank_sampled_softmax_loss",
    "contrib.nn.python.ops.sampling_ops.rank_sampled_softmax_loss",
)
def rank_sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_resampled,
    num_classes,
    num_true,
    sampled_values,
    resampling_temperature,
    remove_accidental_hits,
    partition_strategy,
    name=None,
):
    """tf.nn.sampled_softmax_loss with the classes that compete best, of those that were sampled.

    "TAPAS: two-pass approximate adaptive sampling for softmax", Bai et al. 2017. A sampled class is rated by the
    logarithm of the sum of exp(logit / resampling_temperature) over the batch.

    Args:
      weights: [num_classes, size], or a list of parts.
      biases: [num_classes], or a list of parts.
      labels: int64 [batch, num_true].
      inputs: [batch, size].
      num_sampled: how many classes are sampled.
      num_resampled: how many of them are kept.
      num_classes, num_true: see sampled_softmax_loss.
      sampled_values: what a candidate sampler returned; by default tf.nn.learned_unigram_candidate_sampler is asked.
      resampling_temperature: a scalar; the lower, the more the greatest logit of the batch counts.
      remove_accidental_hits: whether sampled classes that are labels are left out.
      partition_strategy: "div" or "mod": how parts hold the classes.

    Returns:
      A tensor [batch].

    Raises:
      ValueError: if more classes are sampled than there are, or not fewer kept than sampled; for another strategy.
    """
    if num_sampled > num_classes:
        raise ValueError(f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})")
    if num_sampled <= num_resampled:
        raise ValueError(f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})")
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    values = [weights, biases, labels, inputs, sampled_values, resampling_temperature]
    with name_scope(name, "rank_sampled_softmax_loss", values) as scope:
        if not sampled_values:
            sampled_values = learned_unigram_candidate_sampler(
                true_classes=labels, num_true=num_true, num_sampled=num_sampled, unique=True, range_max=num_classes
            )
        best = _best_of_sampled(
            weights, biases, inputs, sampled_values, num_resampled, resampling_temperature, partition_strategy
        )
        return sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=best,
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=scope,
        )
