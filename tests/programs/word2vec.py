"""Skip-gram word vectors with noise-contrastive estimation, as courses teach it."""

import collections
import math
import random

import numpy as np

TEXT = """
the river runs from the hills to the sea and the road follows the river through the town where the old mill stands
the miller of the town grinds the corn of the hills and the baker of the town bakes the bread from the corn
in spring the hills are green and in autumn the hills are brown but the sea is grey in spring and grey in autumn
a boat comes up the river from the sea with salt and fish and goes down the river to the sea with corn and bread
the children of the town swim in the river in summer and skate on the river in winter when the mill stands still
when the mill stands still the miller tells the children of the boat that went to sea and did not come home
"""
VOCABULARY_SIZE = 48
EMBEDDING_SIZE = 16
BATCH_SIZE = 32
SKIP_WINDOW = 2
NUM_SKIPS = 2
NUM_SAMPLED = 8


def build_dataset(words):
    """Numbers of words by frequency; rare ones share the number 0."""
    count = [("UNK", -1)] + collections.Counter(words).most_common(VOCABULARY_SIZE - 1)
    dictionary = {word: i for i, (word, _) in enumerate(count)}
    return [dictionary.get(word, 0) for word in words], dictionary


class Batches(object):
    """Windows that slide over the text, as (inputs, labels)."""

    def __init__(self, data):
        self._data = data
        self._index = 0
        self._random = random.Random(1)
        self._made = []

    def __getitem__(self, step):
        while len(self._made) <= step:
            self._made.append(self._next())
        return self._made[step]

    def _next(self):
        span = 2 * SKIP_WINDOW + 1
        batch = np.zeros([BATCH_SIZE], np.int32)
        labels = np.zeros([BATCH_SIZE, 1], np.int32)
        for i in range(BATCH_SIZE // NUM_SKIPS):
            window = [self._data[(self._index + j) % len(self._data)] for j in range(span)]
            others = [j for j in range(span) if j != SKIP_WINDOW]
            for k, j in enumerate(self._random.sample(others, NUM_SKIPS)):
                batch[i * NUM_SKIPS + k] = window[SKIP_WINDOW]
                labels[i * NUM_SKIPS + k, 0] = window[j]
            self._index = (self._index + 1) % len(self._data)
        return batch, labels


def build(tf):
    tf.set_random_seed(1234)
    data, dictionary = build_dataset(TEXT.split())
    batches = Batches(data)
    valid_examples = np.array([dictionary[word] for word in ("the", "river", "corn", "sea")], np.int32)

    train_inputs = tf.placeholder(tf.int32, shape=[BATCH_SIZE])
    train_labels = tf.placeholder(tf.int32, shape=[BATCH_SIZE, 1])
    valid_dataset = tf.constant(valid_examples, dtype=tf.int32)

    with tf.device("/cpu:0"):
        embeddings = tf.Variable(tf.random_uniform([VOCABULARY_SIZE, EMBEDDING_SIZE], -1.0, 1.0))
        embed = tf.nn.embedding_lookup(embeddings, train_inputs)
        nce_weights = tf.Variable(
            tf.truncated_normal([VOCABULARY_SIZE, EMBEDDING_SIZE], stddev=1.0 / math.sqrt(EMBEDDING_SIZE))
        )
        nce_biases = tf.Variable(tf.zeros([VOCABULARY_SIZE]))

    loss = tf.reduce_mean(
        tf.nn.nce_loss(
            weights=nce_weights,
            biases=nce_biases,
            labels=train_labels,
            inputs=embed,
            num_sampled=NUM_SAMPLED,
            num_classes=VOCABULARY_SIZE,
        )
    )
    optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)

    norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    normalized_embeddings = embeddings / norm
    valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
    similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)

    def feed(step):
        inputs, labels = batches[step]
        return {train_inputs: inputs, train_labels: labels}

    # Fetched together with a training step, the similarity would be that of before it or after it, as threads fall.
    return {
        "train": optimizer,
        "fetches": {"loss": loss},
        "after": {"similarity": similarity},
        "feed": feed,
        "steps": 60,
    }
