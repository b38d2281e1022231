"""tf.nn: losses, and the samplers of classes that some of them use."""

from __future__ import annotations

from stillflow.composites import candidate_sampler, cross_entropy, sampled_losses
from stillflow.facade.arguments import renamed

__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler",
    "log_poisson_loss",
    "log_uniform_candidate_sampler",
    "nce_loss",
    "sampled_softmax_loss",
    "sigmoid_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "sparse_softmax_cross_entropy_with_logits",
    "uniform_candidate_sampler",
    "weighted_cross_entropy_with_logits",
]


def _check_named(function, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """-sum(labels * log(softmax(logits))) along `axis`.

    Args:
      labels: a tensor of probabilities that sum to 1 along the axis.
      logits: a floating-point tensor of the same shape.
      axis: the axis of the classes, -1 by default.

    Returns:
      A tensor of the type of `logits` and its shape without the axis. Gradients flow into both arguments.

    Raises:
      InvalidArgumentError: when run, if the shapes cannot be broadcast against each other.
    """
    axis = renamed("axis", axis, "dim", dim)
    return cross_entropy.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """Like softmax_cross_entropy_with_logits_v2, but no gradient flows into `labels`. Takes named arguments only."""
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    dim = dim if axis is None else axis
    return cross_entropy.softmax_cross_entropy_without_label_gradient(labels, logits, dim, name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """-log(softmax(logits)[label]) along the last axis. Takes named arguments only.

    Args:
      labels: an int32 or int64 tensor of class numbers, of the shape of `logits` without the last axis.
      logits: a floating-point tensor [..., classes].

    Returns:
      A tensor of the type of `logits` and the shape of `labels`.

    Raises:
      ValueError: if the shapes do not fit.
      InvalidArgumentError: when run, if a label is not in [0, classes).
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return cross_entropy.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """-z * log(sigmoid(x)) - (1 - z) * log(1 - sigmoid(x)), elementwise. Takes named arguments only.

    Args:
      labels: z, a tensor of the type and shape of `logits`.
      logits: x, a floating-point tensor.

    Raises:
      ValueError: if the shapes differ.
    """
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return cross_entropy.sigmoid_cross_entropy_with_logits(labels, logits, name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """-q * z * log(sigmoid(x)) - (1 - z) * log(1 - sigmoid(x)), elementwise.

    Args:
      labels: z, a tensor of the type and shape of `logits`.
      logits: x, a floating-point tensor.
      pos_weight: q, what positive labels count, a number or a tensor that broadcasts.
      targets: the old name of `labels`.

    Raises:
      ValueError: if the shapes differ.
    """
    labels = renamed("labels", labels, "targets", targets)
    return cross_entropy.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """-log of the Poisson probability of `targets` where log_input is the logarithm of the expected value.

    Args:
      targets: a tensor of counts, of the type and shape of `log_input`.
      log_input: a floating-point tensor.
      compute_full_loss: whether to add an approximation of log(targets!), which does not depend on `log_input`.

    Raises:
      ValueError: if the shapes differ.
    """
    return cross_entropy.log_poisson_loss(targets, log_input, compute_full_loss, name)


def nce_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=False, partition_strategy="mod", name="nce_loss",
):  # fmt: skip
    """The noise-contrastive loss: true classes told from sampled ones, by a logistic regression each.

    Args:
      weights: a tensor [num_classes, dim], or a list of its parts.
      biases: a tensor [num_classes].
      labels: int64 [batch, num_true], the true classes.
      inputs: floating-point [batch, dim].
      num_sampled: how many classes to sample for the whole batch.
      num_classes: how many there are.
      num_true: how many true classes each row has.
      sampled_values: what a *_candidate_sampler returned; by default log_uniform_candidate_sampler's.
      remove_accidental_hits: whether sampled classes do not count where they are true ones.
      partition_strategy: "mod" or "div": how classes are dealt out to parts; see `embedding_lookup`.

    Returns:
      A tensor [batch] of the type of `inputs`.
    """
    return sampled_losses.nce_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        partition_strategy, name,
    )  # fmt: skip


def sampled_softmax_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None,
):  # fmt: skip
    """The softmax loss over the true classes and sampled ones, for training. Arguments as of `nce_loss`.

    `seed` is the sampler's. Returns a tensor [batch] of the type of `inputs`.
    """
    return sampled_losses.sampled_softmax_loss(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, remove_accidental_hits,
        partition_strategy, name, seed,
    )  # fmt: skip


# ---- Samplers -----------------------------------------------------------------------------------------------


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes sampled from [0, range_max), all equally likely.

    Args:
      true_classes: int64 [batch, num_true].
      num_true: how many true classes each row has.
      num_sampled: how many classes to sample.
      unique: whether they must all be different.
      range_max: how many classes there are.
      seed: an integer; with it or a graph-level seed the samples are the same in every session.

    Returns:
      (int64 [num_sampled] sampled classes, float32 [batch, num_true] how often each true class is expected among
      the samples, float32 [num_sampled] the same of the sampled ones).
    """
    return candidate_sampler.uniform_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, seed=seed, name=name
    )


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Like uniform_candidate_sampler, but class c has the probability log((c + 2) / (c + 1)) / log(range_max + 1)."""
    return candidate_sampler.log_uniform_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, seed=seed, name=name
    )


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Like uniform_candidate_sampler, but classes are as likely as they have been among the true classes so far."""
    return candidate_sampler.learned_unigram_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, seed=seed, name=name
    )


def fixed_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0, num_reserved_ids=0,
    num_shards=1, shard=0, unigrams=(), seed=None, name=None,
):  # fmt: skip
    """Like uniform_candidate_sampler, but classes are as likely as a file or list says.

    Args:
      vocab_file: a file with a line per class; the number after the last comma is its weight.
      distortion: the power that weights are raised to.
      num_reserved_ids: so many classes before the given ones are never sampled.
      num_shards, shard: the sampler takes only each num_shards-th class, from `shard` on.
      unigrams: weights, instead of a file.
    """
    return candidate_sampler.fixed_unigram_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, vocab_file=vocab_file, distortion=distortion,
        num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard, unigrams=unigrams, seed=seed,
        name=name,
    )  # fmt: skip


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All of [0, num_sampled), in the form of what the other samplers return."""
    return candidate_sampler.all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=seed, name=name)


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where sampled classes are true ones.

    Args:
      true_classes: int64 [batch, num_true].
      sampled_candidates: int64 [num_sampled].
      num_true: how many true classes each row has.

    Returns:
      (int32 [hits] rows, int64 [hits] positions among the candidates, float32 [hits], all the lowest number).
    """
    return candidate_sampler.compute_accidental_hits(true_classes, sampled_candidates, num_true, seed, name)
