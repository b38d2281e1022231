"""Skip-gram with noise-contrastive estimation, written as an ordinary TensorFlow 1 program.

    python examples/word2vec.py text.txt

Change the import to `import tensorflow as tf`, and TensorFlow 1.15 runs it too.
"""

import collections
import random
import sys

import numpy as np

import stillflow as tf

VOCABULARY = 10000
DIM = 100
WINDOW = 5
BATCH = 256
NEGATIVES = 64
EPOCHS = 3
LEARNING_RATE = 0.05
SUBSAMPLE = 1e-4  # words with a larger share of the text are dropped at random
BLOCKS = 200  # places in the text from which a batch takes its pairs, so that they have little to do with each other


def read_words(path):
    with open(path, encoding="utf-8") as file:
        words = "".join(c if c.isalpha() else " " for c in file.read().lower()).split()
    if len(words) < 2 * WINDOW:
        sys.exit("%s is too short to learn from" % path)
    counts = collections.Counter(words).most_common(VOCABULARY)
    index = {word: i for i, (word, _) in enumerate(counts)}
    return [index[word] for word in words if word in index], counts


def pairs(text, begin, end, keep):
    """(word, neighbour) of text[begin:end], for ever."""
    while True:
        kept = [word for word in text[begin:end] if random.random() < keep[word]]
        for i, word in enumerate(kept):
            reach = random.randint(1, WINDOW)
            for neighbour in kept[max(i - reach, 0) : i] + kept[i + 1 : i + 1 + reach]:
                yield word, neighbour
        if not kept:
            yield text[begin], text[begin]


def batches(text, counts):
    shares = np.array([count for _, count in counts], np.float64) / len(text)
    keep = np.sqrt(SUBSAMPLE / shares)
    size = max(len(text) // BLOCKS, WINDOW)
    readers = [pairs(text, begin, begin + size, keep) for begin in range(0, len(text) - size + 1, size)]
    while True:
        random.shuffle(readers)
        batch = [next(readers[i % len(readers)]) for i in range(BATCH)]
        yield np.array([a for a, _ in batch], np.int32), np.array([[b] for _, b in batch], np.int64)


def pair_count(text, counts):
    """About how many pairs an epoch has."""
    kept = sum(count * min(1.0, np.sqrt(SUBSAMPLE * len(text) / count)) for _, count in counts)
    return int(kept * (WINDOW + 1))


def main(path):
    random.seed(1)
    tf.set_random_seed(1)
    text, counts = read_words(path)
    size = len(counts)
    steps = max(EPOCHS * pair_count(text, counts) // BATCH, 1)

    inputs = tf.placeholder(tf.int32, [BATCH])
    labels = tf.placeholder(tf.int64, [BATCH, 1])
    step = tf.placeholder(tf.float32, [])
    embeddings = tf.Variable(tf.random_uniform([size, DIM], -0.5 / DIM, 0.5 / DIM))
    weights = tf.Variable(tf.zeros([size, DIM]))
    # A bias begins at the log of how often its word is among the negatives, which nce_loss subtracts.
    ranks = np.arange(size)
    shares = np.log((ranks + 2.0) / (ranks + 1.0)) / np.log(size + 1.0)
    negatives = min(NEGATIVES, size)
    biases = tf.Variable(np.log(1 - (1 - shares) ** negatives).astype(np.float32))

    embedded = tf.nn.embedding_lookup(embeddings, inputs)
    loss = tf.nn.nce_loss(weights, biases, labels, embedded, num_sampled=negatives, num_classes=size)
    rate = LEARNING_RATE * tf.maximum(1.0 - step / steps, 1e-4)
    train = tf.train.GradientDescentOptimizer(rate).minimize(tf.reduce_sum(loss))
    mean_loss = tf.reduce_mean(loss)

    unit = embeddings / tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
    word = tf.placeholder(tf.int32, [])
    similarity = tf.squeeze(tf.matmul(unit, tf.gather(unit, [word]), transpose_b=True), [1])

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i, (words, neighbours) in zip(range(steps), batches(text, counts)):
            feed = {inputs: words, labels: neighbours, step: i}
            if i % max(steps // 10, 1) == 0:
                print("step %d of %d, loss %.4f" % (i, steps, session.run([train, mean_loss], feed)[1]), flush=True)
            else:
                session.run(train, feed)
        for query in range(50, min(size, 450), 50):
            near = np.argsort(-session.run(similarity, {word: query}))[1:6]
            print("%s: %s" % (counts[query][0], ", ".join(counts[i][0] for i in near)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
