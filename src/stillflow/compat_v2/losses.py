"""Cross entropies, and embeddings and sampled losses over parts that are dealt out in blocks, as in TensorFlow 2."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """tf.nn.embedding_lookup, with parts dealt out in blocks."""
    return tf.nn.embedding_lookup(params=params, ids=ids, max_norm=max_norm, name=name, partition_strategy="div")


@public("compat.v2.nn.embedding_lookup_sparse")
def embedding_lookup_sparse(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None):
    """tf.nn.embedding_lookup_sparse, with parts dealt out in blocks."""
    return tf.nn.embedding_lookup_sparse(
        params=params,
        sp_ids=sp_ids,
        sp_weights=sp_weights,
        combiner=combiner,
        max_norm=max_norm,
        name=name,
        partition_strategy="div",
    )


@public("compat.v2.nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None, max_norm=None, name=None
):
    """tf.nn.safe_embedding_lookup_sparse, with parts dealt out in blocks."""
    return tf.nn.safe_embedding_lookup_sparse(
        embedding_weights=embedding_weights,
        sparse_ids=sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner,
        default_id=default_id,
        max_norm=max_norm,
        name=name,
        partition_strategy="div",
    )


@public("compat.v2.nn.nce_loss")
def nce_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=False,
    name="nce_loss",
):
    """tf.nn.nce_loss, with parts dealt out in blocks."""
    return tf.nn.nce_loss(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        name=name,
        partition_strategy="div",
    )


@public("compat.v2.nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights,
    biases,
    labels,
    inputs,
    num_sampled,
    num_classes,
    num_true=1,
    sampled_values=None,
    remove_accidental_hits=True,
    seed=None,
    name="sampled_softmax_loss",
):
    """tf.nn.sampled_softmax_loss, with parts dealt out in blocks."""
    return tf.nn.sampled_softmax_loss(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        seed=seed,
        name=name,
        partition_strategy="div",
    )


@public("compat.v2.nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@public("compat.v2.nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits_v2."""
    return tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=axis, name=name)


@public("compat.v2.nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


@public("compat.v2.nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """tf.nn.weighted_cross_entropy_with_logits."""
    return tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, pos_weight=pos_weight, name=name)
