"""The model: skip-gram with noise-contrastive estimation, as a TensorFlow 1 graph.

(Mikolov et al., "Efficient estimation of word representations in vector space", 2013; Gutmann and Hyvarinen,
"Noise-contrastive estimation", 2010.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import stillflow as tf


class Model(NamedTuple):
    inputs: tf.Tensor  # int32[batch]
    labels: tf.Tensor  # int64[batch, 1]
    learning_rate: tf.Tensor  # float32[]
    loss: tf.Tensor  # float32[], of a pair on average
    train: tf.Operation
    embeddings: tf.Variable  # float32[words, dim]


def log_expected_counts(word_count, negatives):
    """log of how often each word is among the negatives: what a bias starts from, so that NCE's correction does
    not first have to be learnt. float32[words], most frequent first, as log_uniform_candidate_sampler draws."""
    ranks = np.arange(word_count)
    probability = np.log((ranks + 2) / (ranks + 1)) / np.log(word_count + 1)
    return np.log(-np.expm1(negatives * np.log1p(-probability))).astype(np.float32)


def build(word_count, dim, batch, negatives, seed) -> Model:
    """Adds the model to the default graph."""
    tf.set_random_seed(seed)
    negatives = min(negatives, word_count)
    inputs = tf.placeholder(tf.int32, [batch], name="inputs")
    labels = tf.placeholder(tf.int64, [batch, 1], name="labels")
    learning_rate = tf.placeholder(tf.float32, [], name="learning_rate")
    embeddings = tf.Variable(tf.random_uniform([word_count, dim], -0.5 / dim, 0.5 / dim), name="embeddings")
    weights = tf.Variable(tf.zeros([word_count, dim]), name="nce_weights")
    biases = tf.Variable(log_expected_counts(word_count, negatives), name="nce_biases")
    embedded = tf.nn.embedding_lookup(embeddings, inputs)
    losses = tf.nn.nce_loss(weights, biases, labels, embedded, negatives, word_count)
    total = tf.reduce_sum(losses)
    train = tf.train.GradientDescentOptimizer(learning_rate).minimize(total)
    return Model(inputs, labels, learning_rate, total / float(batch), train, embeddings)
