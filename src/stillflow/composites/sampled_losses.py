"""nce_loss and sampled_softmax_loss: losses over many classes that sample a few of them."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import candidate_sampler
from stillflow.composites.cross_entropy import sigmoid_cross_entropy, softmax_cross_entropy_with_logits_v2
from stillflow.composites.embedding_lookup import as_parts, embedding_lookup
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public


@public("nn.nce_loss")
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
    logits, labels = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name,
    )  # fmt: skip
    return _row_sums(sigmoid_cross_entropy(labels, logits, name="sampled_losses"))


@public("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, partition_strategy="mod", name="sampled_softmax_loss", seed=None,
):  # fmt: skip
    """The softmax loss over the true classes and sampled ones, for training. Arguments as of `nce_loss`.

    `seed` is the sampler's. Returns a tensor [batch] of the type of `inputs`.
    """
    logits, labels = sampled_logits(
        weights, biases, labels, inputs, num_sampled, num_classes, num_true, sampled_values, True,
        remove_accidental_hits, partition_strategy, name, seed,
    )  # fmt: skip
    labels = ops.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels, logits)


@public("python.ops.nn_impl._compute_sampled_logits")
def sampled_logits(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None, subtract_log_q=True,
    remove_accidental_hits=False, partition_strategy="mod", name=None, seed=None,
):  # fmt: skip
    """Scores of the true classes and of sampled ones, less the logarithms of how often each is expected.

    Args:
      subtract_log_q: whether the logarithms are subtracted. The other arguments are those of tf.nn.nce_loss.

    Returns:
      (logits, labels), both [batch, num_true + num_sampled]; labels are 1 / num_true for true classes, else 0.
    """
    weights = as_parts(weights)
    with name_scope(name, "compute_sampled_logits", [*weights, biases, inputs, labels]):
        if labels.dtype != dtypes.int64:
            labels = ops.cast(labels, dtypes.int64)
        flat_labels = ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = candidate_sampler.log_uniform_candidate_sampler(
                labels, num_true, num_sampled, True, num_classes, seed=seed
            )
        sampled, true_counts, sampled_counts = (ops.stop_gradient(value) for value in sampled_values)
        sampled = ops.cast(sampled, dtypes.int64)
        ids = ops.concat([flat_labels, sampled], 0)
        # One lookup for all classes; the rows of the true ones come first.
        rows = _like(embedding_lookup(weights, ids, partition_strategy), inputs)
        true_rows = ops.slice(rows, [0, 0], ops.stack([ops.shape(flat_labels)[0], -1]))
        sampled_rows = ops.slice(rows, ops.stack([ops.shape(flat_labels)[0], 0]), [-1, -1])
        sampled_scores = ops.matmul(inputs, sampled_rows, transpose_b=True)
        offsets = _like(embedding_lookup(biases, ids, partition_strategy), inputs)
        true_offsets = ops.slice(offsets, [0], ops.shape(flat_labels))
        sampled_offsets = ops.slice(offsets, ops.shape(flat_labels), [-1])
        true_scores = _true_scores(inputs, true_rows, num_true)
        true_offsets = ops.reshape(true_offsets, [-1, num_true])
        true_scores += true_offsets
        sampled_scores += sampled_offsets
        if remove_accidental_hits:
            sampled_scores += _hit_penalties(labels, sampled, num_true, num_sampled, sampled_scores.dtype)
        if subtract_log_q:
            true_scores -= ops.log(true_counts)
            sampled_scores -= ops.log(sampled_counts)
        logits = ops.concat([true_scores, sampled_scores], 1)
        true_labels = ops.ones_like(true_scores) / num_true
        return logits, ops.concat([true_labels, ops.zeros_like(sampled_scores)], 1)


def _like(values, inputs):
    return values if values.dtype == inputs.dtype else ops.cast(values, inputs.dtype)


def _true_scores(inputs, true_rows, num_true):
    """Products of each input with the rows of its own classes. [batch, num_true]"""
    width = ops.shape(true_rows)[1:2]
    shape = ops.concat([[-1, num_true], width], 0)
    products = ops.mul(ops.expand_dims(inputs, 1), ops.reshape(true_rows, shape))
    as_rows = ops.reshape(products, ops.concat([[-1], width], 0))
    return ops.reshape(_row_sums(as_rows), [-1, num_true])


def _hit_penalties(labels, sampled, num_true, num_sampled, dtype):
    """A number that rules a candidate out where it is one of the row's true classes, and 0 elsewhere."""
    rows, columns, weights = candidate_sampler.compute_accidental_hits(labels, sampled, num_true)
    rows = ops.reshape(rows, [-1, 1])
    columns = ops.reshape(ops.cast(columns, dtypes.int32), [-1, 1])
    places = ops.concat([rows, columns], 1, "sparse_indices")
    shape = ops.concat([ops.shape(labels)[:1], ops.expand_dims(num_sampled, 0)], 0)
    if dtype != weights.dtype:
        weights = ops.cast(weights, dtype)
    return ops.sparse_to_dense(places, shape, weights, default_value=0.0, validate_indices=False)


def _row_sums(x):
    """The sums of a matrix's rows, as a product with ones."""
    columns = ops.shape(x)[1]
    ones = ops.ones(ops.stack([columns, 1]), x.dtype)
    return ops.reshape(ops.matmul(x, ones), [-1])
